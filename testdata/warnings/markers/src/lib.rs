use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kubesmith_runtime::{Resource, Schema};
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Default, Resource)]
#[resource(group = "example.com", version = "v1")]
pub struct Widget {
    pub metadata: ObjectMeta,
    pub spec: WidgetSpec,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize, Schema)]
#[serde(rename_all = "camelCase")]
pub struct WidgetSpec {
    // +kubebuilder:validation:Minimum=1
    pub size: i32,
    /// How wide.
    /// +protobuf
    pub width: i32,
    /// +default=2
    /// +kubebuilder:default=1
    pub depth: i32,
}
