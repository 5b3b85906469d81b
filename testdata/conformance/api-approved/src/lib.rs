//! Twin of the Go types of the case.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kubesmith_runtime::{Resource, Schema};
use serde::{Deserialize, Serialize};

/// Guarded has the approval note.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "demo.k8s.io", version = "v1alpha1", metadata(annotations("api-approved.kubernetes.io" = "unapproved, experimental-only")))]
pub struct Guarded {
    pub metadata: ObjectMeta,
    #[serde(default)]
    pub spec: GuardedSpec,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
#[serde(rename_all = "camelCase")]
pub struct GuardedSpec {
}

/// Rogue has none.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "demo.k8s.io", version = "v1alpha1")]
pub struct Rogue {
    pub metadata: ObjectMeta,
    #[serde(default)]
    pub spec: RogueSpec,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
#[serde(rename_all = "camelCase")]
pub struct RogueSpec {
}
