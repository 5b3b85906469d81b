//! Twin of the Go types of the case.

use k8s_openapi::api::core::v1::PodTemplateSpec;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kubesmith_runtime::{Resource, Schema};
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "known.conformance.dev", version = "v1")]
pub struct Runner {
    pub metadata: ObjectMeta,
    #[serde(default)]
    pub spec: RunnerSpec,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
pub struct RunnerSpec {
    /// Template of the pods.
    pub template: PodTemplateSpec,
}
