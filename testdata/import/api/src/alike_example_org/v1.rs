//! Version `v1` of group `alike.example.org`.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kubesmith_runtime::{Resource, Schema};
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(
    group = "alike.example.org",
    version = "v1",
    group_name_in_code = "AlikeExampleOrg",
    scope = "Cluster"
)]
#[resource(standard_fields = {"apiVersion": null, "kind": null, "metadata": null})]
#[genclient(non_namespaced)]
#[deepcopy]
pub struct Class {
    /// Standard object metadata.
    pub metadata: ObjectMeta,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spec: Option<ClassSpec>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
pub struct ClassSpec {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<i32>,
}
