//! serde attributes that its derive macros refuse.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kubesmith_runtime::{Resource, Schema};
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "example.com", version = "v1")]
#[serde(rename_al = "camelCase")]
pub struct Widget {
    pub metadata: ObjectMeta,
    pub spec: Spec,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
#[serde(rename_all = "camel")]
pub struct Spec {
    #[serde(skip_serialising_if = "Option::is_none")]
    pub size: Option<i32>,
    pub mode: Mode,
    pub plain: Plain,
    #[serde(default = 3)]
    pub number: i32,
    #[serde(rename = "a")]
    #[serde(rename = "b")]
    pub twice: i32,
    #[serde]
    pub bare: i32,
    pub shape: Shape,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
pub enum Mode {
    #[default]
    #[serde(renam = "fast")]
    Fast,
}

/// A type without a derive of ours.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "Camel")]
pub struct Plain {
    pub first_name: String,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
#[serde(tag = "kind", untagged)]
pub enum Shape {
    #[default]
    Round,
}
