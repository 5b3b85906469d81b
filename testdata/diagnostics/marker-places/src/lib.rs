//! Markers that stand where they mean nothing.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kubesmith_runtime::{Resource, Schema};
use serde::{Deserialize, Serialize};

/// +optional
/// +nullable
/// +kubebuilder:default=1
/// +kubebuilder:skip
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "example.com", version = "v1")]
pub struct Widget {
    pub metadata: ObjectMeta,
    pub spec: WidgetSpec,
}

/// +groupName=example.com
/// +kubebuilder:resource:scope=Cluster
/// +genclient
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
pub struct WidgetSpec {
    /// +kubebuilder:printcolumn:name=A,JSONPath=.spec.size
    pub a: i32,
    /// +kubebuilder:validation:AtMostOneOf=a;b
    pub b: Option<i32>,
    /// +kubebuilder:subresource:status
    pub c: i32,
    pub mode: Mode,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Schema)]
pub enum Mode {
    /// +kubebuilder:validation:MinLength=1
    Fast,
    /// +optional
    Slow,
}
