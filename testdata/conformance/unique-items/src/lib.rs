//! Twin of the Go types of the case.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kubesmith_runtime::{Resource, Schema};
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "lists.conformance.dev", version = "v1")]
pub struct Raffle {
    pub metadata: ObjectMeta,
    #[serde(default)]
    pub spec: RaffleSpec,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
#[serde(rename_all = "camelCase")]
pub struct RaffleSpec {
    #[validation(unique_items)]
    pub tickets: Vec<String>,
}
