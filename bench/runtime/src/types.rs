//! The kinds that are listed and watched. Both contenders use the same types.

use k8s_openapi::api::core::v1::Pod;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, ObjectMeta};
use kubesmith_runtime::{Resource, Schema};
use serde::{Deserialize, Serialize};

use crate::shapes::STAMP;

/// A small custom resource.
#[derive(Clone, Debug, Resource)]
#[resource(group = "bench.example.com", version = "v1", kind = "Claim", status)]
pub struct Claim {
    pub metadata: ObjectMeta,
    pub spec: ClaimSpec,
    #[serde(default)]
    pub status: ClaimStatus,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize, Schema)]
#[serde(rename_all = "camelCase")]
pub struct ClaimSpec {
    pub instance: String,
    pub region: String,
    pub node_name: String,
    #[serde(default)]
    pub addresses: Vec<String>,
    pub weight: i32,
    #[serde(default)]
    pub paused: bool,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize, Schema)]
#[serde(rename_all = "camelCase")]
pub struct ClaimStatus {
    pub phase: Option<String>,
    pub observed_generation: Option<i64>,
    #[serde(default)]
    pub conditions: Vec<Condition>,
}

/// A kind that the server has.
pub trait Kind:
    kube::Resource<DynamicType = (), Scope = k8s_openapi::NamespaceResourceScope>
    + Clone
    + std::fmt::Debug
    + Serialize
    + serde::de::DeserializeOwned
    + Send
    + Sync
    + 'static
{
}

impl Kind for Claim {}

impl Kind for Pod {}

/// Returns the time when the server sent the event, in nanoseconds since the epoch; 0 in the first list.
pub fn stamp(meta: &ObjectMeta) -> u64 {
    let annotations = meta.annotations.as_ref();
    annotations.and_then(|all| all.get(STAMP)).and_then(|text| text.parse().ok()).unwrap_or(0)
}
