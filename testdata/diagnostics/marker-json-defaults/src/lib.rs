//! Defaults that are not JSON.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kubesmith_runtime::{Resource, Schema};
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "example.com", version = "v1")]
pub struct Widget {
    pub metadata: ObjectMeta,
    pub spec: WidgetSpec,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
pub struct WidgetSpec {
    /// +default=bare
    pub a: String,
    /// +default=ref(SomeConstant)
    pub b: String,
    /// +default={a: 1}
    pub c: serde_json::Value,
    /// +default=18446744073709551615
    pub d: i64,
    /// +default
    pub e: i32,
    /// +default={"list": ["a", "b"]}
    pub f: serde_json::Value,
    /// +kubebuilder:default={list: ["a", "b"]}
    pub g: serde_json::Value,
}
