//! A package of the case.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kubesmith_runtime::{Resource, Schema};
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "ver.conformance.dev", version = "v1alpha1", skip_version)]
pub struct Rotor {
    pub metadata: ObjectMeta,
    #[serde(default)]
    pub spec: RotorSpec,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
#[serde(rename_all = "camelCase")]
pub struct RotorSpec {
    #[serde(default)]
    pub raw: String,
}
