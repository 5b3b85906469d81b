//! Values of markers that are of the wrong kind.

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
    /// +kubebuilder:validation:Minimum=one
    pub a: i32,
    /// +kubebuilder:validation:MinLength=1.5
    pub b: String,
    /// +kubebuilder:validation:MinLength=-1
    pub c: String,
    /// +kubebuilder:validation:UniqueItems=maybe
    pub d: Vec<String>,
    /// +kubebuilder:validation:UniqueItems=false
    pub e: Vec<String>,
    /// +kubebuilder:validation:Type=text
    pub f: String,
    /// +kubebuilder:validation:Maximum
    pub g: i32,
    /// +nullable=yes
    pub h: Option<i32>,
    /// +kubebuilder:title=5
    pub i: i32,
    /// +listType=bag
    pub j: Vec<String>,
    /// +mapType=loose
    pub k: serde_json::Value,
}
