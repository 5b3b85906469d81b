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
    #[schema(list_type = "map", list_map_key = "nmae")]
    pub ports: Vec<Port>,
    #[schema(list_type = "map", list_map_key = "title")]
    pub optional: Vec<Port>,
    #[schema(list_type = "map", list_map_key = "x")]
    pub scalars: Vec<String>,
    #[schema(list_type = "map", list_map_key = "name", list_map_key = "port")]
    pub second: Vec<Port>,
    #[schema(list_type = "map", list_map_key = "name", list_map_key = "title")]
    pub second_optional: Vec<Port>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
pub struct Port {
    pub name: String,
    pub title: Option<String>,
}
