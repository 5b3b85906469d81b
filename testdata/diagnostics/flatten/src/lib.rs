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
    pub size: i32,
    #[serde(flatten)]
    pub inner: Inner,
    #[serde(flatten)]
    pub rest: std::collections::BTreeMap<String, String>,
    #[serde(flatten)]
    pub text: String,
    #[serde(flatten)]
    pub mixed: Mixed,
    #[serde(flatten)]
    pub limits: Limits,
    /// The flattened field stands before it.
    pub low: String,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
pub struct Limits {
    pub low: i32,
    pub high: i32,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
pub struct Inner {
    pub size: i32,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Schema)]
#[serde(untagged)]
pub enum Mixed {
    Text(String),
    Inner { other: i32 },
}
