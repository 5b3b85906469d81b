//! Kind `IPPool`. Run `make generate` after an edit.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, ObjectMeta};
use kubesmith_runtime::{Resource, Schema};
use serde::{Deserialize, Serialize};

/// Annotation of a pod: the pool that its address is from.
pub const POOL_ANNOTATION: &str = "tsi.tiduyun.com/ippool";

/// Annotation of a pod: its address in the pool, where that is not the one in its status.
pub const ADDRESS_ANNOTATION: &str = "tsi.tiduyun.com/address";

/// IPPool is a range of addresses that pods get theirs from.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(
    group = "tsi.tiduyun.com",
    version = "v1alpha1",
    kind = "IPPool",
    scope = "Cluster",
    status,
    print_column(name = "CIDR", json_path = ".spec.cidr"),
    print_column(name = "Allocated", json_path = ".status.allocated"),
    print_column(name = "Free", json_path = ".status.free"),
    print_column(
        name = "Ready",
        type = "string",
        json_path = ".status.conditions[?(@.type=='Ready')].status"
    ),
    print_column(name = "Age", json_path = ".metadata.creationTimestamp")
)]
#[genclient(non_namespaced)]
pub struct IPPool {
    /// Standard object metadata.
    pub metadata: ObjectMeta,
    /// The desired state.
    pub spec: IPPoolSpec,
    /// The observed state.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<IPPoolStatus>,
}

/// IPPoolSpec says which addresses a pool has.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, Schema)]
#[validation(
    rule(
        rule = "!has(self.gateway) || cidr(self.cidr).containsIP(self.gateway)",
        message = "the gateway has to lie in the pool",
        field_path = ".gateway"
    ),
    rule(
        rule = "self.blockSize >= cidr(self.cidr).prefixLength()",
        message = "a block cannot be larger than the pool",
        field_path = ".blockSize"
    )
)]
#[serde(rename_all = "camelCase")]
pub struct IPPoolSpec {
    /// The pool's addresses, such as 10.1.0.0/16 or fd00:1::/64.
    #[schema(example = "10.1.0.0/16")]
    #[validation(max_length = 43, rule(rule = "isCIDR(self)", message = "write it like 10.1.0.0/16"))]
    #[validation(rule(rule = "self == oldSelf", message = "the addresses of a pool do not change"))]
    pub cidr: String,
    /// The address of the router, which no pod gets.
    #[schema(example = "10.1.0.1")]
    #[validation(max_length = 39, rule(rule = "isIP(self)", message = "write it like 10.1.0.1"))]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gateway: Option<String>,
    /// Addresses and ranges, such as 10.1.0.7 or 10.1.2.0/24, that no pod gets.
    #[schema(list_type = "set")]
    #[validation(
        max_items = 64,
        items(
            max_length = 43,
            rule(rule = "isIP(self) || isCIDR(self)", message = "is neither an address nor a range")
        )
    )]
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub excluded_addresses: Vec<String>,
    /// Prefix length of the blocks in which nodes take addresses: 26 makes blocks of 64 IPv4 addresses.
    #[schema(example = 26)]
    #[validation(minimum = 1, maximum = 128)]
    pub block_size: i32,
}

/// IPPoolStatus counts addresses.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
#[serde(rename_all = "camelCase")]
pub struct IPPoolStatus {
    /// Addresses that pods have.
    #[serde(default)]
    pub allocated: i64,
    /// Addresses that pods may still get; at most 2^63 - 1.
    #[serde(default)]
    pub free: i64,
    /// Blocks in which a pod has an address.
    #[serde(default)]
    pub blocks: i64,
    /// The generation of the object that the controller has seen last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,
    /// The latest observations of the state, one for each type: `Ready`, `Available`.
    #[schema(list_type = "map", list_map_key = "type")]
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub conditions: Vec<Condition>,
}
