//! Kinds that a run leaves out by itself, beside one that it generates.

use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

mod kopium;
mod vendor;

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "kube.example.com", version = "v1", kind = "Kept")]
pub struct KeptSpec {
    pub name: String,
}

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize)]
#[kube(group = "kube.example.com", version = "v1", kind = "Disabled", schema = "disabled")]
pub struct DisabledSpec {}

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "gateway.networking.k8s.io", version = "v1", kind = "Gateway")]
pub struct GatewaySpec {}

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "kube.x-k8s.io", version = "v1", kind = "Unprotected")]
pub struct UnprotectedSpec {}
