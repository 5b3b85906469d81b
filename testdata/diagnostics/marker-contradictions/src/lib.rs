//! Markers that say opposite things.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kubesmith_runtime::{Resource, Schema};
use serde::{Deserialize, Serialize};

/// +kubebuilder:skipversion
/// +kubebuilder:storageversion
/// +genclient
/// +genclient:nonNamespaced
/// +genclient:readonly
/// +genclient:noVerbs
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "example.com", version = "v1")]
pub struct Widget {
    pub metadata: ObjectMeta,
    pub spec: WidgetSpec,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
pub struct WidgetSpec {
    /// +required
    /// +optional
    pub a: i32,
    /// +kubebuilder:validation:Required
    #[schema(optional)]
    pub b: i32,
    /// +kubebuilder:validation:Minimum=3
    /// +kubebuilder:validation:Maximum=1
    pub c: i32,
    /// +kubebuilder:validation:ExclusiveMinimum=true
    pub d: i32,
}
