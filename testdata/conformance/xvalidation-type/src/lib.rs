//! Twin of the Go types of the case.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kubesmith_runtime::{Resource, Schema};
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "cel.conformance.dev", version = "v1")]
pub struct Scaler {
    pub metadata: ObjectMeta,
    #[serde(default)]
    pub spec: ScalerSpec,
}

/// ScalerSpec bounds replicas.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
#[serde(rename_all = "camelCase")]
#[validation(rule(rule = "self.min <= self.max", message = "min must not exceed max"), rule(rule = "self.min <= self.start && self.start <= self.max"))]
pub struct ScalerSpec {
    pub min: i32,
    pub max: i32,
    pub start: i32,
    #[serde(default)]
    pub window: Window,
    pub again: Option<Window>,
}

/// Window is half open.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
#[serde(rename_all = "camelCase")]
#[validation(rule(rule = "!has(self.end) || self.begin < self.end", message = "end must come after begin"))]
pub struct Window {
    pub begin: i64,
    pub end: Option<i64>,
}
