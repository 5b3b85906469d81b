//! Twin of the Go types of the case.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kubesmith_runtime::{Resource, Schema};
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "defaults.conformance.dev", version = "v1")]
pub struct Toaster {
    pub metadata: ObjectMeta,
    #[serde(default)]
    pub spec: ToasterSpec,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
#[serde(rename_all = "camelCase")]
pub struct ToasterSpec {
    #[serde(default)]
    #[schema(default = "brown")]
    pub color: String,
    #[serde(default)]
    #[schema(default = 4)]
    pub slots: i32,
    #[schema(default = false)]
    pub bagel: Option<bool>,
    #[serde(default)]
    #[schema(default = ["a", "b"])]
    pub list: Vec<String>,
    #[serde(default)]
    #[schema(default = {"level": 3, "name": "mid"})]
    pub heat: Heat,
    /// A reference to a constant is dropped.
    #[serde(default)]
    pub brand: String,
    /// Both: the kubebuilder marker wins.
    #[serde(default)]
    #[schema(default = "kube")]
    pub both: String,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
#[serde(rename_all = "camelCase")]
pub struct Heat {
    pub level: i32,
    #[serde(default)]
    pub name: String,
}
