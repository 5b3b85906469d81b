//! Twin of the Go types of the case.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kubesmith_runtime::{Resource, Schema};
use serde::{Deserialize, Serialize};

/// EcsBinding ties a node to a cloud machine.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "hopegi.com", version = "v1", plural = "ecsbinding", singular = "ecsbinding", scope = "Cluster", short_name = "ecsb", print_column(name = "Age", type = "date", json_path = ".metadata.creationTimestamp"), print_column(name = "NodeName", type = "string", json_path = ".spec.nodename"), print_column(name = "InnerIp", type = "string", json_path = ".spec.innerip"))]
#[genclient(non_namespaced)]
pub struct EcsBinding {
    pub metadata: ObjectMeta,
    #[serde(default)]
    pub spec: EcsBindingSpec,
    #[serde(default)]
    pub status: EcsBindingStatus,
}

/// EcsBindingSpec names the machine.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
#[serde(rename_all = "camelCase")]
pub struct EcsBindingSpec {
    pub id: String,
    pub name: String,
    pub nodename: String,
    pub innerip: String,
}

/// EcsBindingStatus has no members yet.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
#[serde(rename_all = "camelCase")]
pub struct EcsBindingStatus {
}
