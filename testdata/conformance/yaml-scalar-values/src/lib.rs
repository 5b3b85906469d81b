//! Twin of the Go types of the case.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kubesmith_runtime::{Resource, Schema};
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "docs.conformance.dev", version = "v1")]
pub struct Scalar {
    pub metadata: ObjectMeta,
    #[serde(default)]
    pub spec: ScalarSpec,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
#[serde(rename_all = "camelCase")]
pub struct ScalarSpec {
    #[serde(default)]
    #[schema(default = "y")]
    pub y: String,
    #[serde(default)]
    #[schema(default = "No")]
    pub no: String,
    #[serde(default)]
    #[schema(default = "null")]
    pub null: String,
    #[serde(default)]
    #[schema(default = "012")]
    pub octal: String,
    #[serde(default)]
    #[schema(default = "1_000")]
    pub underscore: String,
    #[serde(default)]
    #[schema(default = "12:30:45")]
    pub sexagesimal: String,
    #[serde(default)]
    #[schema(default = ".5")]
    pub dot: String,
    #[serde(default)]
    #[schema(default = "+1")]
    pub plus: String,
    #[serde(default)]
    #[schema(default = ".inf")]
    pub inf: String,
    #[serde(default)]
    #[schema(default = "-")]
    pub dash: String,
    #[serde(default)]
    #[schema(default = "---")]
    pub dashes: String,
    #[serde(default)]
    #[schema(default = " padded ")]
    pub padded: String,
    #[serde(default)]
    #[schema(default = "a: b")]
    pub map: String,
    #[serde(default)]
    #[schema(default = "[x]")]
    pub seq: String,
    #[serde(default)]
    #[schema(default = "=")]
    pub eq: String,
    #[serde(default)]
    #[schema(default = "<<")]
    pub merge: String,
    #[serde(default)]
    #[schema(default = "é☃🚀")]
    pub uni: String,
    #[serde(default)]
    #[schema(default = "two\nlines\n")]
    pub lines: String,
    #[serde(default)]
    #[schema(default = r#"quote"s and 'single'"#)]
    pub quotes: String,
    #[serde(default)]
    #[schema(default = 1000000)]
    pub million: i64,
    #[serde(default)]
    #[schema(default = 123456789012345678)]
    pub huge: i64,
    #[serde(default)]
    #[validation(pattern = "^#.*: 'x'$")]
    pub pattern: String,
}
