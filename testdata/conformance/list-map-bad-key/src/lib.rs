//! Twin of the Go types of the case.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kubesmith_runtime::{Resource, Schema};
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "topology.conformance.dev", version = "v1")]
pub struct Marina {
    pub metadata: ObjectMeta,
    #[serde(default)]
    pub spec: MarinaSpec,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
#[serde(rename_all = "camelCase")]
pub struct MarinaSpec {
    #[serde(default)]
    #[schema(list_type = "map", list_map_key = "name")]
    pub berths: Vec<Berth>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
#[serde(rename_all = "camelCase")]
pub struct Berth {
    #[serde(default)]
    pub name: String,
}
