//! Arguments that markers do not have, or lack.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kubesmith_runtime::{Resource, Schema};
use serde::{Deserialize, Serialize};

/// +kubebuilder:printcolumn:name=A,jsonPath=.spec.size
/// +kubebuilder:printcolumn:name=B
/// +kubebuilder:printcolumn
/// +kubebuilder:subresource:scale:specpath=.spec.size
/// +kubebuilder:resource:shortname=w
/// +kubebuilder:resource=widgets
/// +kubebuilder:deprecatedversion:text="use v2"
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "example.com", version = "v1")]
pub struct Widget {
    pub metadata: ObjectMeta,
    pub spec: WidgetSpec,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
pub struct WidgetSpec {
    /// +kubebuilder:validation:XValidation:message="no"
    pub size: i32,
    /// +kubebuilder:externalDocs:url=https://example.com,descr=x
    pub b: i32,
    /// +kubebuilder:validation:XValidation:rule="self > 1" message="no"
    pub c: i32,
    /// +kubebuilder:validation:XValidation:rule
    pub d: i32,
}
