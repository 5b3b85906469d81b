//! Twin of the Go types of the case.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kubesmith_runtime::{Resource, Schema};
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "syntax.conformance.dev", version = "v1")]
pub struct Vault {
    pub metadata: ObjectMeta,
    #[serde(default)]
    pub spec: VaultSpec,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
pub struct VaultSpec {
    pub door: String,
    #[serde(skip)]
    combination: String,
    pub lock: Lock,
}

/// Lock has a private part.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
pub struct Lock {
    #[serde(default)]
    pub brand: String,
    #[serde(skip)]
    pins: usize,
}
