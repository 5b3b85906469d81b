//! Keys of lists that are no maps, and maps without keys.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kubesmith_runtime::{Resource, Schema};
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "example.com", version = "v1")]
pub struct Widget {
    pub metadata: ObjectMeta,
    pub spec: WidgetSpec,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
pub struct WidgetSpec {
    #[schema(list_map_key = "name")]
    pub a: Vec<Item>,
    #[schema(list_type = "set", list_map_key = "name")]
    pub b: Vec<Item>,
    #[schema(list_type = "map")]
    pub c: Vec<Item>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
pub struct Item {
    pub name: String,
}
