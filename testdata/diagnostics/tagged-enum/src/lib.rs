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
    pub clash: Clash,
    pub no_object: NoObject,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Schema)]
#[serde(tag = "kind")]
pub enum Clash {
    A { kind: String },
    B { b: i32 },
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Schema)]
#[serde(tag = "kind")]
pub enum NoObject {
    Text(String),
    List(Vec<String>),
    Optional(Option<Inner>),
    Fine(Inner),
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Schema)]
pub struct Inner {
    pub size: i32,
}
