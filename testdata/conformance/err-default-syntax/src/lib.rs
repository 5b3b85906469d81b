//! Twin of the Go types of the case.
//! +groupName=bad.conformance.dev
//! +versionName=v1

use std::collections::BTreeMap;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kubesmith_runtime::{Resource, Schema};
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Default, PartialEq, Resource)]
pub struct Bad {
    pub metadata: ObjectMeta,
    #[serde(default)]
    pub spec: BadSpec,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
pub struct BadSpec {
    /// +default=bare
    #[serde(default)]
    pub a: String,
    /// +kubebuilder:default="open
    #[serde(default)]
    pub b: String,
    /// +kubebuilder:default={a: 1
    #[serde(default)]
    pub c: BTreeMap<String, i32>,
    /// +kubebuilder:default={1,"two"}
    #[serde(default)]
    pub d: Vec<String>,
}
