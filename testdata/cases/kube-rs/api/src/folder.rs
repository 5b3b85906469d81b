//! A kind of the cluster, re-exported with everything of its module.

use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A folder of documents.
#[derive(Clone, CustomResource, Debug, Deserialize, JsonSchema, Serialize)]
#[kube(group = "kube.example.com", version = "v1", kind = "Folder")]
pub struct FolderSpec {
    /// Who may read it.
    pub readers: Vec<String>,
}
