//! Twin of the Go types of the case.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kubesmith_runtime::{Resource, Schema};
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "syntax.conformance.dev", version = "v1")]
pub struct Tagged {
    pub metadata: ObjectMeta,
    #[serde(default)]
    pub spec: TaggedSpec,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
#[serde(rename_all = "camelCase")]
pub struct TaggedSpec {
    #[serde(skip)]
    pub hidden: String,
    #[serde(rename = "-")]
    pub dash: String,
    #[serde(rename = "kebab-name")]
    pub kebab: String,
    #[serde(rename = "dotted.name", default)]
    pub dotted: String,
    #[serde(rename = "UPPER")]
    pub upper: String,
    #[serde(rename = "under_score", default)]
    pub under: String,
    #[serde(rename = "123")]
    pub num: String,
    #[serde(default)]
    pub yes: String,
    #[serde(default)]
    pub r#true: bool,
    #[serde(default)]
    pub null: String,
    pub str: i32,
    #[serde(default)]
    pub both: String,
    #[serde(default)]
    pub api_version_name: String,
}
