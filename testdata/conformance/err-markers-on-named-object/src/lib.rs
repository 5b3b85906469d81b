//! Twin of the Go types of the case.
//! +groupName=bad.conformance.dev
//! +versionName=v1

use std::collections::BTreeMap;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{ObjectMeta, Time};
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
    /// +kubebuilder:validation:MinProperties=1
    pub a: Thing,
    /// +kubebuilder:validation:MaxItems=3
    pub b: Things,
    /// +mapType=atomic
    pub c: Index,
    /// +kubebuilder:validation:items:MinProperties=1
    pub d: Vec<Thing>,
    /// +listType=atomic
    pub e: Things,
    /// +kubebuilder:validation:MaxLength=3
    pub f: Option<Time>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
pub struct Thing {
    pub n: i32,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
pub struct Things(pub Vec<Thing>);

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
pub struct Index(pub BTreeMap<String, String>);
