//! A cluster-scoped kind whose group has names of its own in code.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kubesmith_runtime::{Resource, Schema};
use serde::{Deserialize, Serialize};

/// EcsBinding says which machine is which node.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(
    group = "hopegi.com",
    version = "v1",
    plural = "ecsbinding",
    scope = "Cluster",
    status,
    group_name_in_code = "Ecs",
    informer_group_name = "EcsBind"
)]
#[genclient(non_namespaced)]
pub struct EcsBinding {
    /// Standard metadata.
    pub metadata: ObjectMeta,
    /// What is wanted.
    pub spec: EcsBindingSpec,
    /// What was seen.
    #[serde(default)]
    pub status: EcsBindingStatus,
}

/// What is wanted of a EcsBinding.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
pub struct EcsBindingSpec {
    /// Its size.
    #[serde(default)]
    pub size: i32,
}

/// What was seen of a EcsBinding.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
pub struct EcsBindingStatus {
    /// Phase in a word.
    #[serde(default)]
    pub phase: String,
}
