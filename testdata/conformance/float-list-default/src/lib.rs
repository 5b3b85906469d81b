//! Twin of the Go types of the case.

use std::collections::BTreeMap;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kubesmith_runtime::{Resource, Schema};
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "numbers.conformance.dev", version = "v1")]
pub struct Curve {
    pub metadata: ObjectMeta,
    #[serde(default)]
    pub spec: CurveSpec,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
#[serde(rename_all = "camelCase")]
pub struct CurveSpec {
    #[serde(default)]
    #[validation(items(maximum = 12.5))]
    #[schema(default = [0.5, 1.25, 10.0])]
    pub points: Vec<f64>,
    #[serde(default)]
    #[validation(items(multiple_of = 0.1))]
    #[schema(example = [1.5, -2.5])]
    pub steps: Vec<f32>,
    /// Ratio per zone.
    #[serde(default)]
    pub ratio: BTreeMap<String, f64>,
}
