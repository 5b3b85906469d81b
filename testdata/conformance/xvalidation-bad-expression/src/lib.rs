//! Twin of the Go types of the case.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kubesmith_runtime::{Resource, Schema};
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "cel.conformance.dev", version = "v1")]
pub struct Riddle {
    pub metadata: ObjectMeta,
    #[serde(default)]
    pub spec: RiddleSpec,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
#[serde(rename_all = "camelCase")]
#[validation(rule(rule = "self.answer = 42"))]
pub struct RiddleSpec {
    pub answer: i32,
    #[serde(default)]
    #[validation(rule(rule = "self.missing > 1"))]
    pub hint: Hint,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
#[serde(rename_all = "camelCase")]
pub struct Hint {
    pub n: i32,
}
