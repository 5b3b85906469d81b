//! Twin of the Go types of the case.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kubesmith_runtime::{Resource, Schema};
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "defaults.conformance.dev", version = "v1")]
pub struct Kettle {
    pub metadata: ObjectMeta,
    #[serde(default)]
    pub spec: KettleSpec,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
#[serde(rename_all = "camelCase")]
pub struct KettleSpec {
    #[serde(default)]
    #[schema(default = "green")]
    pub bare: String,
    #[serde(default)]
    #[schema(default = "two words")]
    pub quoted: String,
    #[serde(default)]
    #[schema(default = r#"raw "inner" text"#)]
    pub raw: String,
    #[serde(default)]
    #[schema(default = "")]
    pub empty: String,
    #[serde(default)]
    #[schema(default = "42")]
    pub digits: String,
    #[serde(default)]
    #[schema(default = "false")]
    pub falsy: String,
    #[serde(default)]
    #[schema(default = 42)]
    pub num: i32,
    #[schema(default = -7)]
    pub neg: Option<i64>,
    #[schema(default = true)]
    pub flag: Option<bool>,
    #[serde(default)]
    #[schema(default = "bare words stay whole")]
    pub words: String,
    #[serde(default)]
    #[schema(default = "line\nbreak\tand é")]
    pub escaped: String,
    /// A default on a required field.
    #[schema(default = 1)]
    pub must: i32,
}
