//! Twin of the Go types of the case.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kubesmith_runtime::{Resource, Schema};
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "frozen.conformance.dev", version = "v1")]
pub struct Vow {
    pub metadata: ObjectMeta,
    #[serde(default)]
    pub spec: VowSpec,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
#[serde(rename_all = "camelCase")]
pub struct VowSpec {
    #[serde(default)]
    #[validation(rule(rule = "self.size() < 9"), max_length = 12)]
    #[schema(immutable)]
    pub word: String,
}
