use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kubesmith_runtime::{Resource, Schema};
use serde::{Deserialize, Serialize};

use std::collections::BTreeMap;

#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "example.com", version = "v1")]
pub struct Widget {
    pub metadata: ObjectMeta,
    pub spec: WidgetSpec,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
pub struct WidgetSpec {
    pub by_list: BTreeMap<Vec<String>, String>,
    pub by_option: BTreeMap<Option<String>, String>,
    pub by_enum: BTreeMap<Key, String>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Schema)]
pub enum Key {
    Plain,
    Data(i32),
}
