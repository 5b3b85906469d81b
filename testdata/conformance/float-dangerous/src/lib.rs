//! Twin of the Go types of the case.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kubesmith_runtime::{Resource, Schema};
use serde::{Deserialize, Serialize};

/// Mixer holds floating point settings.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "numbers.conformance.dev", version = "v1")]
pub struct Mixer {
    pub metadata: ObjectMeta,
    #[serde(default)]
    pub spec: MixerSpec,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
#[serde(rename_all = "camelCase")]
pub struct MixerSpec {
    #[validation(minimum = 0.5, maximum = 99.95)]
    #[schema(default = 1.5)]
    pub gain: f64,
    #[validation(multiple_of = 0.25, exclusive_maximum, maximum = 1e3)]
    #[schema(example = 0.75)]
    pub pan: Option<f32>,
    #[serde(default)]
    #[validation(minimum = -1)]
    #[schema(default = -0.125)]
    pub trim: f64,
    #[serde(default)]
    pub weights: Vec<f64>,
}
