use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kubesmith_runtime::{Resource, Schema};
use serde::{Deserialize, Serialize};

/// Most likely misspelt.
#[derive(Clone, Debug, Default, Resource)]
#[resource(group = "example.com", version = "v1aplha1")]
pub struct Misspelt {
    pub metadata: ObjectMeta,
    pub spec: Spec,
}

/// A name of its own.
#[derive(Clone, Debug, Default, Resource)]
#[resource(group = "example.com", version = "v0")]
pub struct Early {
    pub metadata: ObjectMeta,
    pub spec: Spec,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize, Schema)]
pub struct Spec {
    #[validation(minimum = 0)]
    pub size: i32,
}
