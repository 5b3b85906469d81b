//! Values that are none of those a key takes.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kubesmith_runtime::{Resource, Schema};
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "example.com", version = "v1", scope = "Clustered", print_column(name = "A", type = "int", json_path = ".spec.size"))]
#[genclient(only_verbs("get", "fetch"))]
pub struct Widget {
    pub metadata: ObjectMeta,
    pub spec: WidgetSpec,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
pub struct WidgetSpec {
    #[validation(type = "text")]
    pub a: String,
    #[schema(list_type = "bag")]
    pub b: Vec<String>,
    #[validation(rule(rule = "self > 1", reason = "Whatever"))]
    pub size: i32,
}
