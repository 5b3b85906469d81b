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
    pub none: None,
    pub with: With,
    pub pair: Pair,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Schema)]
pub enum None {
    #[serde(skip)]
    Never,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Schema)]
pub enum With {
    #[serde(with = "other")]
    Value(String),
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Schema)]
#[serde(tag = "kind")]
pub enum Pair {
    Pair(i32, i32),
}
