//! A package of its own, with its CRDs.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kubesmith_runtime::{Resource, Schema};
use serde::{Deserialize, Serialize};

/// Cart holds what a customer wants.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "shop.example.com", version = "v1", status)]
#[genclient]
pub struct Cart {
    /// Standard metadata.
    pub metadata: ObjectMeta,
    /// What is wanted.
    pub spec: CartSpec,
    /// What was seen.
    #[serde(default)]
    pub status: CartStatus,
}

/// What is wanted of a Cart.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
pub struct CartSpec {
    /// Its size.
    #[serde(default)]
    pub size: i32,
}

/// What was seen of a Cart.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
pub struct CartStatus {
    /// Phase in a word.
    #[serde(default)]
    pub phase: String,
}
