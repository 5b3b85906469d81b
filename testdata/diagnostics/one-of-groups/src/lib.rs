//! Groups of fields that cannot be chosen from.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kubesmith_runtime::{Resource, Schema};
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "example.com", version = "v1")]
pub struct Widget {
    pub metadata: ObjectMeta,
    pub spec: WidgetSpec,
}

#[validation(exactly_one_of("left", "right", "left"), at_most_one_of("inner.a", "up"), at_least_one_of("down", "both"))]
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
pub struct WidgetSpec {
    pub left: Option<i32>,
    #[serde(rename = "rihgt")]
    pub right: Option<i32>,
    pub inner: Option<Inner>,
    pub both: i32,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
pub struct Inner {
    #[validation(at_most_one_of("a"))]
    pub a: i32,
    pub mode: Mode,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Schema)]
#[validation(exactly_one_of("Fast", "Slow"))]
pub enum Mode {
    Fast,
    Slow,
}
