//! Twin of the Go types of the case.

use std::collections::BTreeMap;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kubesmith_runtime::{Resource, Schema};
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "flags.conformance.dev", version = "v1")]
pub struct Switch {
    pub metadata: ObjectMeta,
    #[serde(default)]
    pub spec: SwitchSpec,
}

/// SwitchSpec is a panel of toggles.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
#[serde(rename_all = "camelCase")]
pub struct SwitchSpec {
    pub on: bool,
    #[serde(default)]
    #[schema(default = true)]
    pub glow: bool,
    #[schema(default = false, optional)]
    pub buzz: Option<bool>,
    #[schema(example = true, nullable)]
    pub maybe: Option<bool>,
    /// Locked can only ever be true.
    #[serde(default)]
    #[validation(enum(true))]
    pub locked: bool,
    #[serde(default)]
    pub each: BTreeMap<String, bool>,
    #[serde(default)]
    pub row: Vec<bool>,
}
