use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A document that may be hidden.
#[derive(Clone, CustomResource, Debug, Default, Deserialize, JsonSchema, Serialize)]
#[kube(group = "example.com", version = "v1", kind = "Document", namespaced)]
#[kube(status = "DocumentStatus", shortname = "doc")]
pub struct DocumentSpec {
    #[schemars(length(min = 1))]
    pub title: String,
    #[serde(default)]
    pub hide: bool,
}

/// What the controller has done.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, Serialize)]
pub struct DocumentStatus {
    #[serde(default)]
    pub hidden: bool,
}
