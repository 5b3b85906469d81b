//! Version `foo-10` of group `plain.example.com`.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kubesmith_runtime::{Resource, Schema};
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "plain.example.com", version = "foo-10")]
#[resource(standard_fields = {"apiVersion": null, "kind": null, "metadata": null})]
#[genclient]
#[deepcopy]
pub struct Exposer {
    /// Standard object metadata.
    pub metadata: ObjectMeta,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spec: Option<ExposerSpec>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
pub struct ExposerSpec {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<i32>,
}
