//! Twin of the Go types of the case.

use std::collections::BTreeMap;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kubesmith_runtime::{Resource, Schema};
use serde::{Deserialize, Serialize};
use serde_json::Value;

#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "loose.conformance.dev", version = "v1")]
pub struct Blob {
    pub metadata: ObjectMeta,
    #[serde(default)]
    pub spec: BlobSpec,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
#[serde(rename_all = "camelCase")]
pub struct BlobSpec {
    #[serde(default)]
    #[schema(schemaless)]
    pub bare: BTreeMap<String, i32>,
    #[serde(default)]
    #[validation(type = "array", max_items = 3)]
    #[schema(schemaless, preserve_unknown_fields)]
    pub hand_list: Vec<Value>,
}
