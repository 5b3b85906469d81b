use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kubesmith_runtime::{Resource, Schema};
use serde::{Deserialize, Serialize};
use serde_json::Value;

#[derive(Clone, Debug, Default, Resource)]
#[resource(group = "example.com", version = "v1")]
pub struct Widget {
    pub metadata: ObjectMeta,
    pub spec: WidgetSpec,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize, Schema)]
#[validation(
    rule(rule = "self.namespace == 'a'"),
    rule(rule = "self.anything == 1"),
    rule(rule = "self.lots.size() > 1"),
    rule(rule = "self.size > 1"),
    rule(rule = "self.my-field == 1"),
    rule(rule = "self.limits.my__dash__feild == 1"),
    rule(rule = "self.__namespace__ == 'a' && self.limits.my__dash__field == 1")
)]
// Of two rules with the same text the second is wrong.
#[validation(rule(rule = "self.limits.size > 1"))]
#[validation(rule(rule = "self.limits.size > 1", field_path = ".limit"))]
pub struct WidgetSpec {
    /// A word of the language.
    pub namespace: String,
    /// Without a type.
    pub anything: Value,
    pub lots: Vec<Value>,
    pub limits: Limits,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize, Schema)]
pub struct Limits {
    #[serde(rename = "my-field")]
    pub my_field: i32,
    pub size: i32,
    /// A number has no fields.
    #[validation(rule(rule = "self.count < 3"))]
    pub count: i32,
    /// Neither has a list.
    #[validation(rule(rule = "self.name != ''"))]
    pub names: Vec<String>,
}
