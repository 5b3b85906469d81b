//! Twin of the Go types of the case.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kubesmith_runtime::{Resource, Schema};
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "defaults.conformance.dev", version = "v1")]
pub struct Fridge {
    pub metadata: ObjectMeta,
    #[serde(default)]
    pub spec: FridgeSpec,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
#[serde(rename_all = "camelCase")]
pub struct FridgeSpec {
    /// A bare number as the default of a string.
    #[serde(default)]
    #[schema(default = 42)]
    pub model: String,
    /// So is this one.
    #[serde(default)]
    #[schema(default = "1e3")]
    pub exp: String,
    #[serde(default)]
    #[validation(enum("a", "b"))]
    #[schema(default = "c")]
    pub pick: String,
    #[serde(default)]
    #[validation(maximum = 5)]
    #[schema(default = 9)]
    pub shelf: i32,
}
