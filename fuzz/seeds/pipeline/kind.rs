use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, ObjectMeta};
use kubesmith_runtime::{Resource, Schema};
use serde::{Deserialize, Serialize};

/// Widget is a kind.
#[derive(Clone, Debug, PartialEq, Resource)]
#[resource(group = "example.com", version = "v1", status, print_column(name = "A", type = "string", json_path = ".spec.a"))]
#[genclient]
pub struct Widget {
    pub metadata: ObjectMeta,
    pub spec: WidgetSpec,
    #[serde(default)]
    pub status: WidgetStatus,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Schema)]
#[serde(rename_all = "camelCase")]
#[validation(rule(rule = "self.a != 'x' || size(self.parts) > 0", message = "x needs parts"))]
pub struct WidgetSpec {
    /// A is a name.
    #[validation(min_length = 1, max_length = 63, pattern = "^[a-z]+$")]
    pub a: String,
    /// +kubebuilder:validation:Minimum=1
    /// +kubebuilder:default=3
    #[serde(default)]
    pub count: Option<i32>,
    #[schema(list_type = "map", list_map_key = "name")]
    #[validation(max_items = 4)]
    #[serde(default)]
    pub parts: Vec<Part<String>>,
    pub mode: Mode,
    pub source: Source,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Schema)]
pub struct Part<T> {
    #[validation(max_length = 9)]
    pub name: String,
    pub value: Option<T>,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, Schema)]
pub enum Mode {
    Fast,
    #[serde(rename = "safe-mode")]
    Safe,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Schema)]
#[serde(rename_all = "camelCase", tag = "kind")]
pub enum Source {
    None,
    File { path: String },
    Other(Part<i64>),
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
#[serde(rename_all = "camelCase")]
pub struct WidgetStatus {
    pub conditions: Vec<Condition>,
    #[serde(flatten)]
    pub more: std::collections::BTreeMap<String, serde_json::Value>,
}
