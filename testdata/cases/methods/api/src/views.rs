//! Types of methods in a public module.

use serde::{Deserialize, Serialize};

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;

/// An object by its metadata.
#[derive(Clone, Debug, Deserialize)]
pub struct Name {
    /// Standard metadata.
    pub metadata: ObjectMeta,
}

/// An object whose size is a text to whom it is sent.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Named {
    /// `yard.example.com/v1`
    pub api_version: String,
    /// The kind.
    pub kind: String,
    /// Standard metadata.
    pub metadata: ObjectMeta,
    /// What is wanted.
    pub spec: crate::Wanted,
}
