//! Twin of the Go types of the case.

use std::collections::BTreeMap;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kubesmith_runtime::{Resource, Schema};
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "shapes.conformance.dev", version = "v1")]
pub struct Lattice {
    pub metadata: ObjectMeta,
    #[serde(default)]
    pub spec: LatticeSpec,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
#[serde(rename_all = "camelCase")]
pub struct LatticeSpec {
    #[schema(required)]
    pub node: Option<Node>,
    pub pp: Option<i32>,
    #[serde(default)]
    pub nodes: Vec<Node>,
    #[serde(default)]
    pub cube: Vec<Vec<Vec<i32>>>,
    #[serde(default)]
    pub list_of_maps: Vec<BTreeMap<String, Node>>,
    #[serde(default)]
    pub map_of_lists: BTreeMap<String, Vec<Node>>,
    pub ptr_list: Option<Vec<Node>>,
    #[serde(default)]
    pub map_map_list: BTreeMap<String, BTreeMap<String, Vec<String>>>,
}

/// Node is a point.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
#[serde(rename_all = "camelCase")]
pub struct Node {
    /// X of the node.
    pub x: i32,
    pub y: Option<i32>,
}
