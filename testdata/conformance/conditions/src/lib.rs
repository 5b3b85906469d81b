//! Twin of the Go types of the case.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kubesmith_runtime::{Resource, Schema};
use serde::{Deserialize, Serialize};

/// Watcher reports.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "known.conformance.dev", version = "v1", status)]
pub struct Watcher {
    pub metadata: ObjectMeta,
    #[serde(default)]
    pub spec: WatcherSpec,
    #[serde(default)]
    pub status: WatcherStatus,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
#[serde(rename_all = "camelCase")]
pub struct WatcherSpec {
}

/// WatcherStatus is observed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
#[serde(rename_all = "camelCase")]
pub struct WatcherStatus {
    #[serde(default)]
    #[schema(optional)]
    pub observed_generation: i64,
    /// Conditions of the watcher.
    #[serde(default)]
    #[schema(optional, list_type = "map", list_map_key = "type")]
    pub conditions: Vec<Condition>,
    /// Plain list.
    #[serde(default)]
    pub past: Vec<Condition>,
}
