//! Markers that cannot be read.

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
    /// +kubebuilder:default="open
    pub a: String,
    /// +kubebuilder:default={a: 1
    pub b: serde_json::Value,
    /// +kubebuilder:default={1,"two"}
    pub c: Vec<String>,
    /// +kubebuilder:validation:Pattern=^[a-z]{1,3}$
    pub d: String,
    /// +kubebuilder:validation:Enum={a,b
    pub e: String,
    /// +kubebuilder:default="\q"
    pub f: String,
    /// +kubebuilder:validation:Minimum=1 2
    pub g: i32,
    /// +kubebuilder:default=`raw
    pub h: String,
    /// +kubebuilder:default={"a": 1, "a": 2}
    pub i: serde_json::Value,
}
