//! Twin of the Go types of the case.

use std::collections::BTreeMap;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kubesmith_runtime::{Resource, Schema};
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "defaults.conformance.dev", version = "v1")]
pub struct Oven {
    pub metadata: ObjectMeta,
    #[serde(default)]
    pub spec: OvenSpec,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
#[serde(rename_all = "camelCase")]
pub struct OvenSpec {
    #[schema(default = {})]
    pub timer: Timer,
    #[schema(default = {"minutes": 5, "label": "quick"})]
    pub quick: Option<Timer>,
    #[serde(default)]
    #[schema(default = {"minutes": 90})]
    pub slow: Timer,
    #[serde(default)]
    #[schema(default = {"a": "x", "b": "y"})]
    pub labels: BTreeMap<String, String>,
    #[serde(default)]
    #[schema(default = {})]
    pub empty: BTreeMap<String, String>,
    #[serde(default)]
    #[schema(default = {"inner": {"minutes": 1, "tags": ["fast", "hot"]}, "on": true})]
    pub deep: Deep,
}

/// Timer counts down.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
#[serde(rename_all = "camelCase")]
pub struct Timer {
    #[serde(default)]
    #[schema(default = 30)]
    pub minutes: i32,
    #[serde(default)]
    #[schema(default = "std")]
    pub label: String,
    #[serde(default)]
    pub tags: Vec<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
#[serde(rename_all = "camelCase")]
pub struct Deep {
    #[serde(default)]
    pub inner: Timer,
    #[serde(default)]
    pub on: bool,
}
