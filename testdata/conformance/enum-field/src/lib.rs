//! Twin of the Go types of the case.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kubesmith_runtime::{Resource, Schema};
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "enums.conformance.dev", version = "v1")]
pub struct Lamp {
    pub metadata: ObjectMeta,
    #[serde(default)]
    pub spec: LampSpec,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
#[serde(rename_all = "camelCase")]
pub struct LampSpec {
    #[validation(enum("Off", "Low", "High"))]
    pub mode: String,
    #[serde(default)]
    #[validation(enum("warm", "cold"))]
    pub tint: String,
    #[serde(default)]
    #[validation(enum(1, 2, 4, 8))]
    pub bits: i32,
    /// Spaces, quotes and an empty string.
    #[serde(default)]
    #[validation(enum("a b", "c,d", "", "it's"))]
    pub odd: String,
    /// Values that look like other YAML types.
    #[serde(default)]
    #[validation(enum("yes", "no", "on", "off", "true", "null", "~", "1.0", "0x1F", "1e3", "2024-01-15"))]
    pub trap: String,
    #[validation(enum("lower", "UPPER", "Mixed-Case"))]
    pub style: Option<String>,
    /// A single value.
    #[serde(default)]
    #[validation(enum("only"))]
    pub one: String,
}
