use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kubesmith_runtime::{Resource, Schema};
use serde::{Deserialize, Serialize};

/// The status can be written by everybody.
#[derive(Clone, Debug, Default, Resource)]
#[resource(group = "example.com", version = "v1")]
pub struct Open {
    pub metadata: ObjectMeta,
    pub spec: Spec,
    pub status: Option<Status>,
}

/// No object can be created.
#[derive(Clone, Debug, Default, Resource)]
#[resource(group = "example.com", version = "v1", status)]
pub struct Stuck {
    pub metadata: ObjectMeta,
    pub spec: Spec,
    pub status: Status,
}

/// As it should be.
#[derive(Clone, Debug, Default, Resource)]
#[resource(group = "example.com", version = "v1", status)]
pub struct Good {
    pub metadata: ObjectMeta,
    pub spec: Spec,
    #[serde(default)]
    pub status: Status,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize, Schema)]
pub struct Spec {}

#[derive(Clone, Debug, Default, Serialize, Deserialize, Schema)]
pub struct Status {
    #[validation(max_items = 8)]
    pub conditions: Vec<Condition>,
    pub merged: Merged,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize, Schema)]
pub struct Merged {
    #[schema(list_type = "map", list_map_key = "type")]
    #[validation(max_items = 8)]
    pub conditions: Vec<Condition>,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize, Schema)]
pub struct Condition {
    #[serde(rename = "type")]
    #[validation(max_length = 63)]
    pub type_: String,
    #[validation(max_length = 10)]
    pub status: String,
}
