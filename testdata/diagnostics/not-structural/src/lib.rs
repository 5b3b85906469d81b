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
    /// Says nothing.
    #[schema(schemaless)]
    pub bare: String,
    /// Says nothing of the items.
    #[schema(schemaless)]
    #[validation(type = "array")]
    pub list: String,
    /// Compared one by one.
    #[validation(unique_items)]
    pub tickets: Vec<String>,
    /// Items of a set are compared as a whole.
    #[schema(list_type = "set")]
    pub set: Vec<Item>,
    /// Without fields.
    #[schema(schemaless, embedded_resource)]
    #[validation(type = "object")]
    pub embedded: std::collections::BTreeMap<String, String>,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize, Schema)]
#[serde(rename_all = "camelCase")]
pub struct Item {
    pub name: String,
}
