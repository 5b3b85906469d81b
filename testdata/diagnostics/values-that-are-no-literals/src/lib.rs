//! Values that would have to be computed.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kubesmith_runtime::{Resource, Schema};
use serde::{Deserialize, Serialize};

const LEAST: i32 = 3;

#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "example.com", version = "v1")]
pub struct Widget {
    pub metadata: ObjectMeta,
    pub spec: WidgetSpec,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
pub struct WidgetSpec {
    #[validation(minimum = LEAST)]
    pub a: i32,
    #[validation(maximum = 3u8)]
    pub b: i32,
    #[schema(default = i32::MAX)]
    pub c: i32,
    #[schema(default = {"a": LEAST})]
    pub d: serde_json::Value,
    #[validation(pattern = concat!("a", "b"))]
    pub e: String,
}
