//! Another version of a kind.

use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A document.
#[derive(Clone, CustomResource, Debug, Deserialize, JsonSchema, Serialize)]
#[kube(group = "kube.example.com", version = "v2", kind = "Document", namespaced, storage = false)]
pub struct DocumentSpec {
    /// What stands above it.
    pub title: String,
}
