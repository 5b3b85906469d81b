//! Values of the wrong kind.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kubesmith_runtime::{Resource, Schema};
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = 1, version = "v1", status = "yes", plural = ["widgets"])]
pub struct Widget {
    pub metadata: ObjectMeta,
    pub spec: WidgetSpec,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
pub struct WidgetSpec {
    #[validation(minimum = "1")]
    pub a: i32,
    #[validation(max_length = 1.5)]
    pub b: String,
    #[validation(pattern = true)]
    pub c: String,
    #[validation(unique_items = false)]
    pub d: Vec<String>,
    #[validation(enum = "a")]
    pub e: String,
    #[validation(rule = "self > 1")]
    pub f: i32,
    #[schema(nullable = 1)]
    pub g: Option<i32>,
}
