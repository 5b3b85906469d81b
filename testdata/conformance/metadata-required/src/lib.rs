//! Twin of the Go types of the case.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kubesmith_runtime::{Resource, Schema};
use serde::{Deserialize, Serialize};

/// Strict requires metadata.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "shapes.conformance.dev", version = "v1")]
pub struct Strict {
    /// Metadata is standard, see the docs.
    #[schema(required)]
    pub metadata: ObjectMeta,
    /// Spec of it.
    /// +required
    pub spec: StrictSpec,
    /// Status of it.
    /// +optional
    #[serde(default)]
    pub status: StrictStatus,
}

/// StrictSpec is spec.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
pub struct StrictSpec {
    pub a: String,
}

/// StrictStatus is status.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
pub struct StrictStatus {
    #[serde(default)]
    pub b: String,
}
