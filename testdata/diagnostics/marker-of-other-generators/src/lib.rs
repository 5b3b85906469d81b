//! Markers whose generators are planned.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kubesmith_runtime::{Resource, Schema};
use serde::{Deserialize, Serialize};

/// +kubebuilder:ac:generate=true
/// +genclient:method=Scale,verb=update
/// +k8s:conversion-gen=false
/// +resourceName=widgets
/// +k8s:prerelease-lifecycle-gen:introduced=1.1
/// +k8s:defaulter-gen=TypeMeta
/// +k8s:validation-gen=*
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
