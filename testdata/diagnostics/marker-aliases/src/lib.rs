//! Markers on type aliases, which no macro sees.

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
    pub a: A,
    pub b: B<String>,
    pub c: C,
}

/// +kubebuilder:validation:Nonsense=1
/// +kubebuilder:subresource:status
/// +kubebuilder:default=a
/// +kubebuilder:validation:Maximum=1
pub type A = String;

/// +kubebuilder:validation:MinLength=1
pub type B<T> = Vec<T>;

/// +kubebuilder:validation:Minimum=x
pub type C = i32;

/// +genclient
/// +kubebuilder:validation:AtMostOneOf=a;b
pub type Unused = WidgetSpec;
