//! Twin of the Go types of the case.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kubesmith_runtime::{Resource, Schema};
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "ver.conformance.dev", version = "v2beta3")]
pub struct Sprocket {
    pub metadata: ObjectMeta,
    #[serde(default)]
    pub spec: SprocketSpec,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
#[serde(rename_all = "camelCase")]
pub struct SprocketSpec {
    #[serde(default)]
    pub teeth: i32,
}
