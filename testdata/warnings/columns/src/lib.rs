//! Paths of columns that API servers take and cannot read, or read as something else.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kubesmith_runtime::{Resource, Schema};
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "example.com", version = "v1",
    print_column(name = "Unclosed", type = "string", json_path = ".spec[size"),
    print_column(name = "Empty", type = "string", json_path = ".spec.tags[].name"),
    print_column(name = "Dots", type = "string", json_path = "..."),
    print_column(name = "Quotes", type = "integer", json_path = ".spec[\"size\"]"),
    print_column(name = "Dotted", type = "string", json_path = ".metadata.labels['example.com/name']"),
    print_column(name = "And", type = "string", json_path = ".spec.tags[?(@.name=='a'&&@.name!='b')].name"),
    print_column(name = "Unquoted", type = "string", json_path = ".spec.tags[?(@.name==a)].name"),
    print_column(name = "Deep", type = "integer", json_path = "..size"))]
pub struct Widget {
    pub metadata: ObjectMeta,
    pub spec: WidgetSpec,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
pub struct WidgetSpec {
    pub size: i32,
    pub tags: Vec<Tag>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
pub struct Tag {
    pub name: String,
}
