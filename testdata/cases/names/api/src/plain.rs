//! Versions that are called otherwise than most.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kubesmith_runtime::{Resource, Schema};
use serde::{Deserialize, Serialize};

/// Exposer in a version that says nothing of its maturity.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "plain.example.com", version = "v0")]
#[genclient]
pub struct Exposer {
    /// Standard metadata.
    pub metadata: ObjectMeta,
    /// What is wanted.
    pub spec: ExposerSpec,
}

/// Plain in a version with the name of a function.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "plain.example.com", version = "new")]
#[genclient]
pub struct Plain {
    /// Standard metadata.
    pub metadata: ObjectMeta,
    /// What is wanted.
    pub spec: ExposerSpec,
}

/// Dashed in a version of two words.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "plain.example.com", version = "foo-10")]
#[genclient]
pub struct Dashed {
    /// Standard metadata.
    pub metadata: ObjectMeta,
    /// What is wanted.
    pub spec: ExposerSpec,
}

/// What is wanted of an Exposer.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
pub struct ExposerSpec {
    /// Its size.
    #[serde(default)]
    pub size: i32,
}
