//! Twin of the Go types of the case.
//! +groupName=everything.conformance.dev
//! +versionName=v1

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kubesmith_runtime::{Resource, Schema};
use serde::{Deserialize, Serialize};

/// Kit is all in one.
/// +kubebuilder:object:root=true
/// +kubebuilder:subresource:status
#[derive(Clone, Debug, Default, PartialEq, Resource)]
pub struct Kit {
    pub metadata: ObjectMeta,
    #[serde(default)]
    pub spec: KitSpec,
    #[serde(default)]
    pub status: KitStatus,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
pub struct KitSpec {
    #[serde(default)]
    pub parts: i32,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
pub struct KitStatus {
    #[serde(default)]
    pub built: bool,
}
