//! Twin of the Go types of the case.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kubesmith_runtime::{Resource, Schema};
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "defaults.conformance.dev", version = "v1")]
pub struct Mirror {
    pub metadata: ObjectMeta,
    #[serde(default)]
    pub spec: MirrorSpec,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
#[serde(rename_all = "camelCase")]
pub struct MirrorSpec {
    #[serde(default)]
    #[schema(default = "nginx:latest")]
    pub image: String,
    #[serde(default)]
    #[schema(default = "0123abc")]
    pub commit: String,
    #[serde(default)]
    #[schema(default = "https://example.org/a?b=c")]
    pub url: String,
    #[serde(default)]
    #[schema(default = "123/config")]
    pub dir: String,
}
