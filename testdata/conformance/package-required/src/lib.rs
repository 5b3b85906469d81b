//! Twin of the Go types of the case.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kubesmith_runtime::{Resource, Schema};
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "presence.conformance.dev", version = "v1")]
pub struct Exam {
    pub metadata: ObjectMeta,
    #[serde(default)]
    pub spec: ExamSpec,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
#[serde(rename_all = "camelCase")]
pub struct ExamSpec {
    pub plain: String,
    #[serde(default)]
    pub omit: String,
    #[schema(optional)]
    pub opt: Option<String>,
}
