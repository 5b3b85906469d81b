//! Twin of the Go types of the case.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kubesmith_runtime::{Resource, Schema};
use serde::{Deserialize, Serialize};

/// Fleet scales.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "res.conformance.dev", version = "v1", status, scale(spec_path = ".spec.replicas", status_path = ".status.replicas", selector_path = ".status.selector"))]
pub struct Fleet {
    pub metadata: ObjectMeta,
    #[serde(default)]
    pub spec: FleetSpec,
    #[serde(default)]
    pub status: FleetStatus,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
#[serde(rename_all = "camelCase")]
pub struct FleetSpec {
    #[validation(minimum = 0)]
    #[schema(default = 1)]
    pub replicas: Option<i32>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
#[serde(rename_all = "camelCase")]
pub struct FleetStatus {
    pub replicas: i32,
    #[serde(default)]
    pub selector: String,
}

/// Squad scales without a selector.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "res.conformance.dev", version = "v1", scale(spec_path = ".spec.size", status_path = ".status.size"))]
pub struct Squad {
    pub metadata: ObjectMeta,
    #[serde(default)]
    pub spec: SquadSpec,
    #[serde(default)]
    pub status: SquadStatus,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
#[serde(rename_all = "camelCase")]
pub struct SquadSpec {
    #[serde(default)]
    pub size: i32,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
#[serde(rename_all = "camelCase")]
pub struct SquadStatus {
    #[serde(default)]
    pub size: i32,
}
