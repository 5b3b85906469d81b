//! Twin of the Go types of the case: constants are variants.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kubesmith_runtime::{Resource, Schema};
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "enums.conformance.dev", version = "v1")]
pub struct Pump {
    pub metadata: ObjectMeta,
    #[serde(default)]
    pub spec: PumpSpec,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
pub struct PumpSpec {
    /// Phase it starts in.
    pub phase: Phase,
    #[serde(default)]
    pub next: Vec<Phase>,
    pub kind: Option<PumpKind>,
}

/// Phase is discovered from constants.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
pub enum Phase {
    Broken,
    Idle,
    /// PhaseRunning comes first in Go.
    #[default]
    Running,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Schema)]
#[serde(rename_all = "camelCase")]
pub enum PumpKind {
    Air,
    Water,
}
