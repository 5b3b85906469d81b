use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "vendor.example.com", version = "v1", kind = "Vendored")]
pub struct VendoredSpec {}
