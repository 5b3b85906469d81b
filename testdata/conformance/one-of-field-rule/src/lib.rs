//! Twin of the Go types of the case.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kubesmith_runtime::{Resource, Schema};
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "oneof.conformance.dev", version = "v1")]
pub struct Cargo {
    pub metadata: ObjectMeta,
    #[serde(default)]
    pub spec: CargoSpec,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
pub struct CargoSpec {
    /// +kubebuilder:validation:XValidation:rule="!has(self.dry) || self.dry > 1",message="dry is bulky"
    pub load: Load,
    pub back: Option<Load>,
}

/// Load is dry or wet.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
#[validation(
    at_most_one_of("dry", "wet"),
    rule(rule = "!has(self.wet) || self.wet < 9", message = "wet is small")
)]
pub struct Load {
    pub dry: Option<i32>,
    pub wet: Option<i32>,
}
