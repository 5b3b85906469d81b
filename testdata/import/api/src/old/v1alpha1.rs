//! Version `v1alpha1` of group `old.example.com`.

use std::collections::BTreeMap;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kubesmith_runtime::{Resource, Schema};
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(
    group = "old.example.com",
    version = "v1alpha1",
    status,
    print_column(name = "Size", type = "string", json_path = ".spec.size")
)]
#[resource(standard_fields = {"apiVersion": null, "kind": null, "metadata": null})]
#[genclient]
#[deepcopy]
pub struct Old {
    /// Standard object metadata.
    pub metadata: ObjectMeta,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spec: Option<OldSpec>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<serde_json::Map<String, serde_json::Value>>,
    /// Fields that the schema does not name.
    #[serde(flatten)]
    pub other_fields: BTreeMap<String, serde_json::Value>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
pub struct OldSpec {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<String>,
    /// Fields that the schema does not name.
    #[serde(flatten)]
    pub other_fields: BTreeMap<String, serde_json::Value>,
}
