//! Twin of the Go types of the case.

use std::collections::BTreeMap;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::MicroTime;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use kube::core::Duration;
use kubesmith_runtime::{Resource, Schema};
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "known.conformance.dev", version = "v1")]
pub struct Timer {
    pub metadata: ObjectMeta,
    #[serde(default)]
    pub spec: TimerSpec,
    #[serde(default)]
    pub status: TimerStatus,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
#[serde(rename_all = "camelCase")]
pub struct TimerSpec {
    pub start: Time,
    /// End of it.
    pub end: Option<Time>,
    #[serde(default)]
    #[schema(nullable)]
    pub tick: MicroTime,
    #[serde(default)]
    #[schema(default = "30s")]
    pub every: Duration,
    #[validation(pattern = "^([0-9]+(s|m|h))+$", type = "string")]
    pub grace: Option<Duration>,
    #[serde(default)]
    pub laps: Vec<Time>,
    #[serde(default)]
    pub waits: BTreeMap<String, Duration>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
#[serde(rename_all = "camelCase")]
pub struct TimerStatus {
    pub last_tick: Option<MicroTime>,
}
