//! Twin of the Go types of the case.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kubesmith_runtime::{Resource, Schema};
use serde::{Deserialize, Serialize};

/// Wolf roams the cluster.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "res.conformance.dev", version = "v1", plural = "wolves", singular = "wolf", scope = "Cluster", short_name = ["wf", "wlf"], category = ["all", "animals"])]
pub struct Wolf {
    pub metadata: ObjectMeta,
    #[serde(default)]
    pub spec: WolfSpec,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
#[serde(rename_all = "camelCase")]
pub struct WolfSpec {
    #[serde(default)]
    pub pack: String,
}
