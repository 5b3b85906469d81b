//! What may not stand on a kind that has the status subresource.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kubesmith_runtime::{Resource, Schema};
use serde::{Deserialize, Serialize};

/// +kubebuilder:validation:MinProperties=2
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "example.com", version = "v1", status)]
pub struct Widget {
    pub metadata: ObjectMeta,
    pub spec: Spec,
    pub status: Option<Spec>,
}

#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "example.com", version = "v1", status)]
#[schema(struct_type = "atomic")]
pub struct Gadget {
    pub metadata: ObjectMeta,
    pub spec: Spec,
    pub status: Option<Spec>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
pub struct Spec {
    pub size: i32,
}
