//! Twin of the Go types of the case.

use std::collections::BTreeMap;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kubesmith_runtime::Resource;

/// Dictionary keeps its data at the top level.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "shapes.conformance.dev", version = "v1")]
pub struct Dictionary {
    pub metadata: ObjectMeta,
    /// Data by key.
    #[serde(default)]
    pub data: BTreeMap<String, String>,
    #[schema(default = true)]
    pub sorted: Option<bool>,
    pub language: String,
}
