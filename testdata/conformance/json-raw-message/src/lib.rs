//! Twin of the Go types of the case.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kubesmith_runtime::{Resource, Schema};
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "loose.conformance.dev", version = "v1")]
pub struct Letter {
    pub metadata: ObjectMeta,
    #[serde(default)]
    pub spec: LetterSpec,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
pub struct LetterSpec {
    #[serde(default)]
    pub raw: serde_json::Value,
    /// +kubebuilder:validation:Schemaless
    /// +kubebuilder:validation:Type=object
    /// +kubebuilder:pruning:PreserveUnknownFields
    #[serde(default)]
    pub free: serde_json::Value,
}
