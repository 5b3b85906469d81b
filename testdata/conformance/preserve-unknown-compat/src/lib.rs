//! Twin of the Go types of the case.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kubesmith_runtime::{Resource, Schema};
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "opts.conformance.dev", version = "v1")]
pub struct Legacy {
    pub metadata: ObjectMeta,
    #[serde(default)]
    pub spec: LegacySpec,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
pub struct LegacySpec {
    #[serde(default)]
    pub old: String,
}
