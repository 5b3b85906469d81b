//! Groups of fields in markers.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kubesmith_runtime::{Resource, Schema};
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "example.com", version = "v1")]
pub struct Widget {
    pub metadata: ObjectMeta,
    pub spec: WidgetSpec,
}

/// +kubebuilder:validation:AtLeastOneOf=a;inner.b
/// +kubebuilder:validation:ExactlyOneOf=a;c
/// +kubebuilder:validation:AtMostOneOf=a;d
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
pub struct WidgetSpec {
    pub a: Option<i32>,
    pub inner: Option<Inner>,
    pub d: i32,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
pub struct Inner {
    pub b: i32,
}
