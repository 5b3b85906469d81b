//! Twin of the Go types of the case.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kubesmith_runtime::{Resource, Schema};
use serde::{Deserialize, Serialize};

/// Courier delivers.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "res.conformance.dev", version = "v1", print_column(name = "Phase", type = "string", json_path = ".status.phase"), print_column(name = "Stops", type = "integer", json_path = ".spec.stops", description = "How many stops", format = "int32", priority = 1), print_column(name = "Fast", type = "boolean", json_path = ".spec.fast"), print_column(name = "Ready", type = "string", json_path = r#".status.conditions[?(@.type=="Ready")].status"#, description = "Is it ready: yes or no"), print_column(json_path = r".metadata.annotations['example\.org/owner']", name = "Owner", type = "string"), print_column(name = "Load %", type = "number", json_path = ".status.load", format = "double", priority = 10), print_column(name = "Age", type = "date", json_path = ".metadata.creationTimestamp"))]
pub struct Courier {
    pub metadata: ObjectMeta,
    #[serde(default)]
    pub spec: CourierSpec,
    #[serde(default)]
    pub status: CourierStatus,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
#[serde(rename_all = "camelCase")]
pub struct CourierSpec {
    #[serde(default)]
    pub stops: i32,
    #[serde(default)]
    pub fast: bool,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
#[serde(rename_all = "camelCase")]
pub struct CourierStatus {
    #[serde(default)]
    pub phase: String,
    #[serde(default)]
    pub load: String,
    #[serde(default)]
    #[schema(list_type = "map", list_map_key = "type")]
    pub conditions: Vec<Condition>,
}
