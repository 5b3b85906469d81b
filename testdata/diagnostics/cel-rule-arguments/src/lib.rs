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
    /// The message is no text.
    #[validation(rule(rule = "self < 10", message_expression = "self + 1"))]
    pub count: i32,
    /// The message does not compile.
    #[validation(rule(rule = "self < 10", message_expression = "'too large: ' + sefl"))]
    pub other: i32,
    /// There is no such field.
    #[validation(rule(rule = "self.min <= self.max", field_path = ".mx"))]
    pub range: Range,
    /// The old value is not used.
    #[validation(rule(rule = "self.size() > 1", optional_old_self))]
    pub name: String,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize, Schema)]
#[serde(rename_all = "camelCase")]
pub struct Range {
    pub min: i32,
    pub max: i32,
}
