//! Twin of the Go types of the case.

use std::collections::BTreeMap;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kubesmith_runtime::{Resource, Schema};
use serde::{Deserialize, Serialize};
use serde_json::Value;

#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "loose.conformance.dev", version = "v1")]
pub struct Sack {
    pub metadata: ObjectMeta,
    #[serde(default)]
    pub spec: SackSpec,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
#[serde(rename_all = "camelCase")]
pub struct SackSpec {
    #[serde(default)]
    #[schema(preserve_unknown_fields)]
    pub partly: Partly,
    #[serde(default)]
    pub whole: Whole,
    #[serde(default)]
    #[validation(x_preserve_unknown_fields)]
    pub map: BTreeMap<String, String>,
    #[serde(default)]
    #[schema(schemaless, preserve_unknown_fields)]
    pub any: Partly,
    /// Typed by hand.
    #[serde(default)]
    #[validation(type = "object")]
    #[schema(schemaless, preserve_unknown_fields)]
    pub hand: Value,
    #[serde(default)]
    #[schema(optional)]
    pub list: Vec<Whole>,
}

/// Partly has one known field.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
#[serde(rename_all = "camelCase")]
pub struct Partly {
    #[serde(default)]
    pub known: String,
}

/// Whole keeps everything.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
#[serde(rename_all = "camelCase")]
#[schema(preserve_unknown_fields)]
pub struct Whole {
    #[serde(default)]
    pub known: i32,
}
