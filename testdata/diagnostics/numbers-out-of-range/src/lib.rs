//! Numbers that do not fit.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kubesmith_runtime::{Resource, Schema};
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "example.com", version = "v1", print_column(name = "A", json_path = ".spec.size", priority = 3000000000))]
pub struct Widget {
    pub metadata: ObjectMeta,
    pub spec: WidgetSpec,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
pub struct WidgetSpec {
    #[validation(min_length = -1)]
    pub a: String,
    #[schema(default = 99999999999999999999)]
    pub b: i64,
    pub size: i32,
}
