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
    /// +listType=bag
    pub a: Vec<String>,
    /// +listMapKey=name
    pub b: Vec<Item>,
    /// +listType=set
    /// +listMapKey=name
    pub c: Vec<Item>,
    /// +listType=set
    pub d: String,
    /// +mapType=loose
    pub e: BTreeMap<String, String>,
    /// +mapType=atomic
    pub f: Vec<String>,
    /// +structType=solid
    pub g: Item,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
pub struct Item {
    pub name: String,
}
