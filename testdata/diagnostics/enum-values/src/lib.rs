//! Allowed values that are the same, or of another type.

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
    #[validation(enum("a", "b", "a"))]
    pub a: String,
    #[validation(enum("1", 2))]
    pub b: i32,
    #[validation(items(enum(1)))]
    pub c: Vec<String>,
}
