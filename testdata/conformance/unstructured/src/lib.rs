//! Twin of the Go types of the case.
//! +groupName=loose.conformance.dev
//! +versionName=v1

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kubesmith_runtime::{Resource, Schema};
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Default, PartialEq, Resource)]
pub struct Crate {
    pub metadata: ObjectMeta,
    #[serde(default)]
    pub spec: CrateSpec,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
pub struct CrateSpec {
    /// +kubebuilder:pruning:PreserveUnknownFields
    /// +kubebuilder:validation:EmbeddedResource
    #[serde(default)]
    pub object: serde_json::Map<String, serde_json::Value>,
    /// +kubebuilder:validation:Schemaless
    /// +kubebuilder:validation:Type=object
    #[serde(default)]
    pub plain: serde_json::Map<String, serde_json::Value>,
}
