//! Keys that are given twice.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kubesmith_runtime::{Resource, Schema};
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "example.com", version = "v1", status, status, short_name = "w", short_name = "w")]
pub struct Widget {
    pub metadata: ObjectMeta,
    pub spec: WidgetSpec,
    pub status: WidgetSpec,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
pub struct WidgetSpec {
    #[validation(minimum = 1)]
    #[validation(minimum = 2)]
    pub a: i32,
    #[schema(default = {"x": 1, "x": 2})]
    pub b: serde_json::Value,
    #[validation(optional)]
    #[schema(optional)]
    pub c: Option<i32>,
    #[schema(list_type = "map", list_map_key = "size", list_map_key = "size")]
    pub d: Vec<Item>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
pub struct Item {
    pub size: i32,
}
