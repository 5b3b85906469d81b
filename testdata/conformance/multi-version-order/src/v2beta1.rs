//! A package of the case.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kubesmith_runtime::{Resource, Schema};
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "ver.conformance.dev", version = "v2beta1")]
pub struct Gear {
    pub metadata: ObjectMeta,
    #[serde(default)]
    pub spec: GearSpec,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
#[serde(rename_all = "camelCase")]
pub struct GearSpec {
    #[serde(default)]
    pub b: String,
}
