use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[versioned(version(name = "v1alpha1"), version(name = "v1"))]
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(kind = "Versioned")]
pub struct VersionedSpec {}
