//! Twin of the Go types of the case.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kubesmith_runtime::{Resource, Schema};
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "shapes.conformance.dev", version = "v1")]
pub struct Amalgam {
    pub metadata: ObjectMeta,
    #[serde(default)]
    pub spec: AmalgamSpec,
}

/// AmalgamSpec is made of parts.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
#[serde(rename_all = "camelCase")]
pub struct AmalgamSpec {
    #[serde(flatten)]
    pub base: Base,
    #[serde(flatten)]
    pub extra: Extra,
    /// Named parts nest.
    pub nested: Nested,
    #[serde(flatten)]
    pub no_name: NoName,
    #[serde(default)]
    pub field: Base,
    #[serde(flatten)]
    pub inline_field: Tail,
    pub own: String,
}

/// Base is shared.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
#[serde(rename_all = "camelCase")]
#[validation(rule(rule = "self.a.size() > 0"))]
pub struct Base {
    /// A of the base.
    pub a: String,
    #[serde(default)]
    pub b: i32,
}

/// Extra adds.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
#[serde(rename_all = "camelCase")]
pub struct Extra {
    #[validation(minimum = 3)]
    pub c: i64,
    #[serde(flatten)]
    pub deeper: Deeper,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
#[serde(rename_all = "camelCase")]
pub struct Deeper {
    #[serde(default)]
    #[schema(list_type = "set")]
    pub d: Vec<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
#[serde(rename_all = "camelCase")]
pub struct Nested {
    pub e: bool,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
#[serde(rename_all = "camelCase")]
pub struct NoName {
    #[serde(default)]
    pub f: String,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
#[serde(rename_all = "camelCase")]
pub struct Tail {
    pub g: String,
}
