//! Twin of the Go types of the case.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kubesmith_runtime::{Resource, Schema};
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "shapes.conformance.dev", version = "v1")]
pub struct Tree {
    pub metadata: ObjectMeta,
    #[serde(default)]
    pub spec: TreeSpec,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
#[serde(rename_all = "camelCase")]
pub struct TreeSpec {
    pub left: Option<TreeSpec>,
    pub value: i32,
}
