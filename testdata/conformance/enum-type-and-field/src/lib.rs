//! Twin of the Go types of the case.
//! +groupName=enums.conformance.dev
//! +versionName=v1

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kubesmith_runtime::{Resource, Schema};
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Default, PartialEq, Resource)]
pub struct Crane {
    pub metadata: ObjectMeta,
    #[serde(default)]
    pub spec: CraneSpec,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
pub struct CraneSpec {
    /// Narrowed keeps two of three.
    /// +kubebuilder:validation:Enum=slow;fast
    #[serde(default)]
    pub narrowed: Pace,
    /// +kubebuilder:validation:items:Enum=slow
    #[serde(default)]
    pub only: Vec<Pace>,
    #[serde(default)]
    pub free: Pace,
}

/// +kubebuilder:validation:Enum=slow;medium;fast
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
pub struct Pace(pub String);
