//! Version `v1` of group `shop.example.com`.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kubesmith_runtime::{Resource, Schema};
use serde::{Deserialize, Serialize};

/// Order of a shop.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "shop.example.com", version = "v1", storage_version)]
#[genclient]
#[deepcopy]
pub struct Order {
    /// Standard object metadata.
    pub metadata: ObjectMeta,
    pub spec: OrderSpec,
}

/// OrderSpec is what a shop wants.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
pub struct OrderSpec {
    /// Shelves is how many are filled.
    pub shelves: i32,
}
