//! Twin of the Go types of the case.

use std::collections::BTreeMap;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use kubesmith_runtime::{Resource, Schema};
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "nulls.conformance.dev", version = "v1")]
pub struct Socket {
    pub metadata: ObjectMeta,
    #[serde(default)]
    pub spec: SocketSpec,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
#[serde(rename_all = "camelCase")]
pub struct SocketSpec {
    #[schema(nullable, required)]
    pub note: Option<String>,
    #[schema(nullable, optional)]
    pub pins: Vec<i32>,
    #[serde(default)]
    #[schema(nullable)]
    pub labels: BTreeMap<String, String>,
    #[schema(nullable)]
    pub plug: Option<Plug>,
    #[schema(nullable)]
    pub same: Plug,
    #[schema(nullable, default = "n/a")]
    pub text: Option<String>,
    #[schema(nullable)]
    pub when: Option<Time>,
}

/// Plug fits.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
#[serde(rename_all = "camelCase")]
pub struct Plug {
    #[schema(nullable)]
    pub fuse: Option<i32>,
}
