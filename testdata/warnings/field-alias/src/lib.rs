use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kubesmith_runtime::{Resource, Schema};
use serde::{Deserialize, Serialize};

/// Widget is a kind.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "example.com", version = "v1")]
pub struct Widget {
    pub metadata: ObjectMeta,
    pub spec: WidgetSpec,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
pub struct WidgetSpec {
    #[serde(alias = "count")]
    pub replicas: i32,
    pub mode: Mode,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub enum Mode {
    #[default]
    #[serde(alias = "automatic")]
    Auto,
}
