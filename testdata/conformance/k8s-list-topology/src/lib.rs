//! Twin of the Go types of the case.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kubesmith_runtime::{Resource, Schema};
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "topology.conformance.dev", version = "v1")]
pub struct Ferry {
    pub metadata: ObjectMeta,
    #[serde(default)]
    pub spec: FerrySpec,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
#[serde(rename_all = "camelCase")]
pub struct FerrySpec {
    #[serde(default)]
    #[schema(list_type = "map", list_map_key = "id")]
    pub cars: Vec<Car>,
    #[serde(default)]
    #[schema(list_type = "set")]
    pub decks: Vec<i32>,
    #[serde(default)]
    #[schema(list_type = "atomic")]
    pub stops: Vec<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
#[serde(rename_all = "camelCase")]
pub struct Car {
    #[schema(required)]
    pub id: String,
    #[serde(default)]
    pub seats: i32,
}
