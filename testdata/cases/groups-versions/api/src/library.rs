//! The library's group.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kubesmith_runtime::{Resource, Schema};
use serde::{Deserialize, Serialize};

/// Book can be borrowed.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "library.example.com", version = "v1beta1")]
#[genclient]
pub struct Book {
    /// Standard metadata.
    pub metadata: ObjectMeta,
    /// What is wanted.
    pub spec: BookSpec,
}

/// What is wanted of a Book.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
pub struct BookSpec {
    /// Its size.
    #[serde(default)]
    pub size: i32,
}
