//! Constraints that do not fit what a name stands for.

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
    #[validation(max_length = 3)]
    pub a: Thing,
    #[validation(minimum = 1)]
    pub b: Name,
    #[validation(items(min_length = 1))]
    pub c: Vec<Thing>,
    #[schema(list_type = "set")]
    pub d: Thing,
    #[validation(min_properties = 1)]
    pub e: Names,
    /// +kubebuilder:validation:MaxLength=3
    pub f: Thing,
    #[validation(enum("x"))]
    pub g: Mode,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
pub struct Thing {
    pub n: i32,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
pub struct Name(pub String);

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
pub struct Names(pub Vec<String>);

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Schema)]
pub enum Mode {
    Fast,
    Slow,
}
