//! Twin of the Go types of the case.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::LabelSelector;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kubesmith_runtime::{Resource, Schema};
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "known.conformance.dev", version = "v1")]
pub struct Herd {
    pub metadata: ObjectMeta,
    #[serde(default)]
    pub spec: HerdSpec,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
#[serde(rename_all = "camelCase")]
pub struct HerdSpec {
    pub selector: LabelSelector,
    /// Other animals.
    #[schema(optional)]
    pub other: Option<LabelSelector>,
    #[serde(default)]
    pub many: Vec<LabelSelector>,
}
