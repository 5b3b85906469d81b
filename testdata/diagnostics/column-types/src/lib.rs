//! Columns whose type does not follow from a field.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kubesmith_runtime::{Resource, Schema};
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "example.com", version = "v1",
    print_column(name = "Size", json_path = ".spec.size"),
    print_column(name = "Spec", json_path = ".spec"),
    print_column(name = "Tags", json_path = ".spec.tags"),
    print_column(name = "Any", json_path = ".spec.any.thing"),
    print_column(name = "Nothing", json_path = ".spec.nothing"))]
pub struct Widget {
    pub metadata: ObjectMeta,
    pub spec: WidgetSpec,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
pub struct WidgetSpec {
    pub size: i32,
    pub tags: Vec<String>,
    pub any: serde_json::Value,
}
