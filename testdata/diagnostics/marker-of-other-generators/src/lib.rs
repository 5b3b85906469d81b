//! Markers of generators that Rust types do not need, and one that nobody knows.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kubesmith_runtime::{Resource, Schema};
use serde::{Deserialize, Serialize};

/// +kubebuilder:ac:generate=true
/// +k8s:conversion-gen=false
/// +k8s:prerelease-lifecycle-gen:introduced=1.1
/// +k8s:defaulter-gen=TypeMeta
/// +k8s:validation-gen=*
/// +k8s:proxy-gen=true
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "example.com", version = "v1")]
pub struct Widget {
    pub metadata: ObjectMeta,
    pub spec: WidgetSpec,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
pub struct WidgetSpec {
    pub size: i32,
}
