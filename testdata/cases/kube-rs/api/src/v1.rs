//! A kind with status and scale.

use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A document.
#[derive(Clone, CustomResource, Debug, Deserialize, JsonSchema, Serialize)]
#[kube(
    group = "kube.example.com",
    version = "v1",
    kind = "Document",
    namespaced,
    storage = true,
    status = "DocumentStatus",
    scale(spec_replicas_path = ".spec.copies", status_replicas_path = ".status.copies")
)]
#[serde(rename_all = "camelCase")]
pub struct DocumentSpec {
    /// What stands above it.
    pub title: String,
    /// How many there are.
    #[serde(default = "one")]
    pub copies: i32,
}

/// The state of a document.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, Serialize)]
pub struct DocumentStatus {
    /// How many are printed.
    #[serde(default)]
    pub copies: i32,
}

fn one() -> i32 {
    1
}
