//! What is said twice, as markers or as a marker and an attribute.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kubesmith_runtime::{Resource, Schema};
use serde::{Deserialize, Serialize};

/// +kubebuilder:resource:scope=Cluster
/// +kubebuilder:resource:scope=Cluster
/// +kubebuilder:storageversion
/// +kubebuilder:storageversion
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "example.com", version = "v1")]
pub struct Widget {
    pub metadata: ObjectMeta,
    pub spec: WidgetSpec,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
pub struct WidgetSpec {
    /// +kubebuilder:validation:Minimum=1
    #[validation(minimum = 1)]
    pub a: i32,
    /// +kubebuilder:validation:Minimum=1
    #[validation(minimum = 2)]
    pub b: i32,
    /// +kubebuilder:validation:MaxLength=3
    /// +kubebuilder:validation:MaxLength=4
    pub c: String,
    /// +kubebuilder:default=1
    /// +kubebuilder:default=1
    pub d: i32,
    /// +kubebuilder:validation:items:MinLength=1
    #[validation(items(min_length = 1))]
    pub e: Vec<String>,
    /// +required
    /// +required
    pub f: i32,
    /// +listType=set
    /// +k8s:listType=atomic
    pub g: Vec<String>,
    /// +k8s:required
    #[schema(required)]
    pub h: i32,
    /// +kubebuilder:validation:Required
    #[schema(required)]
    pub i: i32,
}
