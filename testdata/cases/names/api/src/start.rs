//! A group named like a method of the factory.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kubesmith_runtime::{Resource, Schema};
use serde::{Deserialize, Serialize};

/// Builder has the name of a method.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "start.example.com", version = "v1")]
#[genclient]
pub struct Builder {
    /// Standard metadata.
    pub metadata: ObjectMeta,
    /// What is wanted.
    pub spec: BuilderSpec,
}

/// What is wanted of a Builder.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
pub struct BuilderSpec {
    /// Its size.
    #[serde(default)]
    pub size: i32,
}
