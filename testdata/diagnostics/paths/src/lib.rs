use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kubesmith_runtime::{Resource, Schema};
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "example.com", version = "v1",
    print_column(name = "Size", type = "integer", json_path = ".spec.sise"),
    selectable_field(json_path = ".spec.colour"),
    scale(spec_path = ".spec.replicas", status_path = ".status.replicas"))]
pub struct Widget {
    pub metadata: ObjectMeta,
    pub spec: WidgetSpec,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
pub struct WidgetSpec {
    pub size: i32,
    pub color: String,
}
