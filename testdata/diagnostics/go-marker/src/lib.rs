//! Markers that say nothing.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kubesmith_runtime::{Resource, Schema};
use serde::{Deserialize, Serialize};

/// A marker of a field, of the wrong name, of nothing, and with an argument too many.
/// +kubebuilder:validation:Required
/// +kubebuilder:subresources:status
/// +kubebuilder:object:generate=true
/// +kubebuilder:printcolumn:name=Id,JSONPath=.spec.id,width=3
#[derive(Clone, Debug, Default, Resource)]
#[resource(group = "example.com", version = "v1")]
pub struct Foo {
    pub metadata: ObjectMeta,
    pub spec: FooSpec,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize, Schema)]
pub struct FooSpec {
    /// +kubebuilder:validation:Minimum=a
    /// +kubebuilder:resource:path=foos
    pub id: i32,
    // +kubebuilder:validation:MinLength=1
    pub name: String,
    /// +kubebuilder:validation:Pattern=^a{1,2}$
    pub text: String,
}
