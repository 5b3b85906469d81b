//! A kind whose root type has another name, re-exported by it.

use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A user.
#[derive(Clone, CustomResource, Debug, Deserialize, JsonSchema, Serialize)]
#[kube(group = "kube.example.com", version = "v1", kind = "Account", root = "User", namespaced)]
pub struct UserSpec {
    /// Where letters go.
    pub email: String,
}
