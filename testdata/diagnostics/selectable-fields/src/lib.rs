use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kubesmith_runtime::{Resource, Schema};
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Default, Resource)]
#[resource(group = "example.com", version = "v1",
    selectable_field(json_path = ".spec.nested"),
    selectable_field(json_path = ".spec.nested.name"),
    selectable_field(json_path = ".spec.list"),
    selectable_field(json_path = ".spec.map.key"))]
pub struct Widget {
    pub metadata: ObjectMeta,
    pub spec: WidgetSpec,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize, Schema)]
#[serde(rename_all = "camelCase")]
pub struct WidgetSpec {
    /// An object.
    pub nested: Nested,
    /// A list.
    pub list: Vec<String>,
    /// A map.
    pub map: std::collections::BTreeMap<String, String>,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize, Schema)]
#[serde(rename_all = "camelCase")]
pub struct Nested {
    pub name: String,
}
