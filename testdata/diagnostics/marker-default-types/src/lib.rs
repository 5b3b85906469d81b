//! Defaults of another type than the field, or that it refuses.

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
    /// +kubebuilder:default=many
    pub a: i32,
    /// +kubebuilder:default=1
    pub b: String,
    /// +kubebuilder:default={a,1}
    pub c: Vec<String>,
    /// +kubebuilder:default=3
    /// +kubebuilder:validation:Maximum=2
    pub d: i32,
    /// +kubebuilder:validation:Enum=a;b
    /// +kubebuilder:default=c
    pub e: String,
    /// +kubebuilder:validation:Enum=a;1
    pub f: i32,
}
