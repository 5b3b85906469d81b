use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use k8s_openapi::apimachinery::pkg::util::intstr::IntOrString;
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
    #[schema(default = {"size": "big", "colour": "red"})]
    pub inner: Inner,
    #[schema(default = "blue")]
    pub color: Color,
    #[schema(default = 1.5)]
    pub port: IntOrString,
    #[schema(default = {"port": true, "ports": [1, "http", 2.5]})]
    pub ports: Ports,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
pub struct Inner {
    pub size: i32,
    pub name: String,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
pub struct Ports {
    pub port: IntOrString,
    pub ports: Vec<IntOrString>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
pub enum Color {
    #[default]
    Red,
    Green,
}
