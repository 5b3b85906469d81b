//! Paths that cannot be read, or name more than one field.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kubesmith_runtime::{Resource, Schema};
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "example.com", version = "v1",
    print_column(name = "A", type = "string", json_path = "spec.size"),
    print_column(name = "B", type = "string", json_path = "{.spec.size}"),
    print_column(name = "C", type = "string", json_path = "$.spec.size"),
    selectable_field(json_path = ".spec.tags[0]"),
    selectable_field(json_path = ".metadata.name"),
    scale(spec_path = ".status.size", status_path = ".status.size"))]
pub struct Widget {
    pub metadata: ObjectMeta,
    pub spec: WidgetSpec,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
pub struct WidgetSpec {
    pub size: i32,
    pub tags: Vec<String>,
}
