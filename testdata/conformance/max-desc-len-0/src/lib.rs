//! Twin of the Go types of the case.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use kubesmith_runtime::{Resource, Schema};
use serde::{Deserialize, Serialize};

/// Silent has no text.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "docs.conformance.dev", version = "v1", status)]
pub struct Silent {
    pub metadata: ObjectMeta,
    #[serde(default)]
    pub spec: SilentSpec,
    #[serde(default)]
    pub status: SilentStatus,
}

/// SilentSpec is dropped.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
#[serde(rename_all = "camelCase")]
pub struct SilentSpec {
    /// Dropped too.
    #[serde(default)]
    #[schema(title = "Kept title")]
    pub a: String,
    pub when: Option<Time>,
}

/// SilentStatus is dropped.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
#[serde(rename_all = "camelCase")]
pub struct SilentStatus {
    #[serde(default)]
    #[schema(list_type = "map", list_map_key = "type")]
    pub conditions: Vec<Condition>,
}
