//! Twin of the Go types of the case.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kubesmith_runtime::{Resource, Schema};
use serde::{Deserialize, Serialize};

/// IPPool hands out addresses.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "tsi.tiduyun.com", version = "v1alpha1", scope = "Cluster", status)]
pub struct IPPool {
    pub metadata: ObjectMeta,
    #[serde(default)]
    pub spec: IPPoolSpec,
    #[serde(default)]
    pub status: IPPoolStatus,
}

/// IPPoolSpec is a range of addresses.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
#[serde(rename_all = "camelCase")]
pub struct IPPoolSpec {
    /// CIDR of the pool, for example 10.0.0.0/16.
    #[validation(pattern = r"^([0-9]{1,3}\.){3}[0-9]{1,3}/[0-9]{1,2}$")]
    pub cidr: String,
    /// Gateway of the range.
    #[serde(default)]
    #[schema(optional)]
    pub gateway: String,
    /// ExcludeIPs are never handed out.
    #[serde(default)]
    #[schema(optional, list_type = "set")]
    pub exclude_i_ps: Vec<String>,
    /// BlockSize is the prefix length of one block.
    #[serde(default)]
    #[validation(minimum = 24, maximum = 32)]
    #[schema(default = 26)]
    pub block_size: i32,
}

/// IPPoolStatus counts addresses.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
#[serde(rename_all = "camelCase")]
pub struct IPPoolStatus {
    #[serde(default)]
    pub allocated: i32,
    #[serde(default)]
    pub free: i32,
    #[serde(default)]
    #[schema(list_type = "map", list_map_key = "type", optional)]
    pub conditions: Vec<Condition>,
}
