use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kubesmith_runtime::{Resource, Schema};
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Default, Resource)]
#[resource(group = "example.com", version = "v1")]
pub struct Widget {
    pub metadata: ObjectMeta,
    pub spec: WidgetSpec,
}

/// The words of other languages, and the root's view.
#[derive(Clone, Debug, Default, Serialize, Deserialize, Schema)]
#[serde(rename_all = "camelCase")]
#[validation(
    rule(rule = "self.low != null"),
    rule(rule = "self.low == null || self.low > 1"),
    rule(rule = "self.spec.low > 1"),
    rule(rule = "self.low > 1 and self.high > 1"),
    rule(rule = "self.low > 1 or self.high > 1"),
    rule(rule = "not self.fast"),
    rule(rule = "not(self.fast)"),
    rule(rule = "self.low = 1"),
    rule(rule = "self.low > 1 & self.high > 1"),
    rule(rule = "self.name == 'a and b' | self.fast")
)]
pub struct WidgetSpec {
    pub low: i32,
    pub high: i32,
    pub fast: bool,
    #[validation(rule(rule = "!self.is_empty()"), rule(rule = "self.starts_with('a')"), rule(rule = "self != null"))]
    pub name: String,
    pub inner: Inner,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize, Schema)]
#[validation(rule(rule = "self.spec.fast"), rule(rule = "has(self.and) && self.and = 1"))]
pub struct Inner {
    pub and: i32,
}
