use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kubesmith_runtime::{Resource, Schema};
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Default, Resource)]
#[resource(group = "example.com", version = "v1")]
pub struct Widget {
    pub metadata: ObjectMeta,
    pub spec: WidgetSpec,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize, Schema)]
#[serde(rename_all = "camelCase")]
pub struct WidgetSpec {
    /// A misspelt field.
    #[validation(rule(rule = "self.maximun > 1"))]
    pub size: Size,
    /// Assignment for comparison.
    #[validation(rule(rule = r#"self.matches("^a") && self = "b""#))]
    pub name: String,
    /// Neither true nor false.
    #[validation(rule(rule = "self.size()"))]
    pub title: String,
    /// Another type.
    #[validation(items(rule(rule = "self > '1'")))]
    pub counts: Vec<i32>,
    /// The rule stands on the type.
    pub limits: Limits,
    /// Behind an escape.
    #[validation(rule(rule = "self != \"\u{e9}\" || self.nope"))]
    pub escaped: String,
    /// With a default, which is not checked by a rule that cannot be run.
    #[schema(default = "x")]
    #[validation(rule(rule = "self.nope == 1"))]
    pub defaulted: String,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize, Schema)]
#[serde(rename_all = "camelCase")]
pub struct Size {
    pub maximum: i32,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize, Schema)]
#[serde(rename_all = "camelCase")]
#[validation(rule(rule = "self.low <= self.high"), rule(rule = "self.low < self.hihg"))]
pub struct Limits {
    pub low: i32,
    pub high: i32,
}
