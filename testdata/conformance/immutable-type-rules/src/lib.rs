//! Twin of the Go types of the case.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kubesmith_runtime::{Resource, Schema};
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "frozen.conformance.dev", version = "v1")]
pub struct Pact {
    pub metadata: ObjectMeta,
    #[serde(default)]
    pub spec: PactSpec,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
#[serde(rename_all = "camelCase")]
#[validation(rule(rule = "self.years < 100", message = "short pacts"))]
pub struct PactSpec {
    #[serde(default)]
    #[schema(immutable)]
    pub years: i32,
    #[serde(default)]
    #[schema(immutable)]
    pub sides: Sides,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
#[serde(rename_all = "camelCase")]
#[validation(rule(rule = "self.n > 1"))]
pub struct Sides {
    pub n: i32,
}
