//! Twin of the Go types of the case.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kubesmith_runtime::{Resource, Schema};
use serde::{Deserialize, Serialize};

/// Probe looks.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "res.conformance.dev", version = "v1", status)]
pub struct Probe {
    pub metadata: ObjectMeta,
    #[serde(default)]
    pub spec: ProbeSpec,
    #[serde(default)]
    pub status: ProbeStatus,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
#[serde(rename_all = "camelCase")]
pub struct ProbeSpec {
    pub target: String,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
#[serde(rename_all = "camelCase")]
pub struct ProbeStatus {
    #[serde(default)]
    pub hits: i64,
}
