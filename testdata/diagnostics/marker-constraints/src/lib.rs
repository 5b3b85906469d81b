//! Constraints that do not fit their type.

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
    /// +kubebuilder:validation:MinLength=3
    pub a: i32,
    /// +kubebuilder:validation:MaxLength=3
    pub b: Vec<String>,
    /// +kubebuilder:validation:Pattern=x
    pub c: bool,
    /// +kubebuilder:validation:Maximum=3
    pub d: String,
    /// +kubebuilder:validation:items:MinLength=3
    pub e: String,
    /// +kubebuilder:validation:Minimum=1.5
    pub f: i32,
    /// +kubebuilder:validation:MinProperties=1
    pub g: Vec<i32>,
    /// +listType=set
    pub h: String,
    /// +mapType=atomic
    pub i: Vec<String>,
    /// +listMapKey=name
    pub j: Vec<String>,
    /// +kubebuilder:validation:Pattern=`[`
    pub k: String,
    /// +kubebuilder:validation:MultipleOf=0
    pub l: i32,
}
