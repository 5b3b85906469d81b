//! Twin of the Go types of the case.

use k8s_openapi::api::core::v1::{PersistentVolumeClaim, PersistentVolumeClaimSpec};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kubesmith_runtime::{Resource, Schema};
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "known.conformance.dev", version = "v1")]
pub struct Storer {
    pub metadata: ObjectMeta,
    #[serde(default)]
    pub spec: StorerSpec,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
pub struct StorerSpec {
    /// +kubebuilder:validation:EmbeddedResource
    #[serde(default)]
    pub claim: PersistentVolumeClaim,
    #[serde(default)]
    pub templates: Vec<ClaimTemplate>,
}

/// ClaimTemplate is named.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
pub struct ClaimTemplate {
    #[serde(default)]
    pub metadata: ObjectMeta,
    pub spec: PersistentVolumeClaimSpec,
}
