//! Markers that are not known.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kubesmith_runtime::{Resource, Schema};
use serde::{Deserialize, Serialize};

/// +kubebuilder:subresources:status
/// +kubebuilder:print-column:name=A,JSONPath=.spec.size
/// +genclient:nonnamespaced2
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "example.com", version = "v1")]
pub struct Widget {
    pub metadata: ObjectMeta,
    pub spec: WidgetSpec,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
pub struct WidgetSpec {
    /// +kubebuilder:validation:minimum=1
    pub a: i32,
    /// +kubebuilder:validation:Minimun=1
    pub b: i32,
    /// +optionally
    pub c: Option<i32>,
    /// +listtype=map
    pub d: Vec<String>,
    /// +somebody:else:entirely=1
    pub e: i32,
    /// +optional this text belongs on a line of its own
    pub f: Option<i32>,
    /// +k8s:minimum=1
    pub g: i32,
}
