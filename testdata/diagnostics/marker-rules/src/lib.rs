//! Rules that an API server refuses.

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
    /// +kubebuilder:validation:XValidation:rule="true",reason=Whatever
    pub a: i32,
    /// +kubebuilder:validation:XValidation:rule="self >"
    pub b: i32,
    /// +kubebuilder:validation:XValidation:rule="self > 1",message="two\nlines"
    pub c: i32,
    /// +kubebuilder:validation:XValidation:rule="self > 1",fieldPath="x y"
    pub d: i32,
    /// +kubebuilder:validation:XValidation:rule=""
    pub e: i32,
}
