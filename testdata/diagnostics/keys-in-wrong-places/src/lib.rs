//! Keys that stand where they mean nothing.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kubesmith_runtime::{Resource, Schema};
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "example.com", version = "v1")]
pub struct Widget {
    pub metadata: ObjectMeta,
    pub spec: WidgetSpec,
}

#[schema(default = 1)]
#[validation(required)]
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
pub struct WidgetSpec {
    #[resource(group = "example.com", version = "v1")]
    pub a: i32,
    #[validation(exactly_one_of("a", "b"))]
    pub b: Option<i32>,
    pub mode: Mode,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Schema)]
pub enum Mode {
    #[validation(min_length = 1)]
    Fast,
    #[schema(title = "slow")]
    Slow,
}
