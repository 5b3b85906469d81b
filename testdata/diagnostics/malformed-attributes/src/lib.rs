//! Attributes that cannot be read.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kubesmith_runtime::{Resource, Schema};
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "example.com" version = "v1", kind: "Widget")]
pub struct Widget {
    pub metadata: ObjectMeta,
    pub spec: WidgetSpec,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
pub struct WidgetSpec {
    #[validation]
    pub a: i32,
    #[validation()]
    pub b: i32,
    #[schema = "x"]
    pub c: i32,
    #[validation(minimum = )]
    pub d: i32,
    #[validation(, minimum = 1)]
    pub e: i32,
    #[validation(1)]
    pub f: i32,
}
