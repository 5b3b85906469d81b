//! Twin of the Go types of the case.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kubesmith_runtime::{Resource, Schema};
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "topology.conformance.dev", version = "v1")]
pub struct Harbor {
    pub metadata: ObjectMeta,
    #[serde(default)]
    pub spec: HarborSpec,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
#[serde(rename_all = "camelCase")]
pub struct HarborSpec {
    #[serde(default)]
    #[schema(list_type = "set")]
    pub flags: Vec<String>,
    #[serde(default)]
    #[schema(list_type = "atomic")]
    pub route: Vec<String>,
    #[serde(default)]
    #[schema(list_type = "map", list_map_key = "name")]
    pub ships: Vec<Ship>,
    /// Keys in a given order.
    #[serde(default)]
    #[schema(list_type = "map", list_map_key = "port", list_map_key = "protocol")]
    pub docks: Vec<Dock>,
    #[serde(default)]
    #[validation(max_items = 3)]
    #[schema(list_map_key = "name", list_type = "map")]
    pub tugs: Vec<Ship>,
    #[serde(default)]
    pub typed: ShipSet,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
#[serde(rename_all = "camelCase")]
pub struct Ship {
    pub name: String,
    #[serde(default)]
    pub tons: i64,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
#[serde(rename_all = "camelCase")]
pub struct Dock {
    pub port: i32,
    #[serde(default)]
    #[schema(default = "TCP")]
    pub protocol: String,
}

/// ShipSet is an associative list.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
#[schema(list_type = "map", list_map_key = "name")]
pub struct ShipSet(pub Vec<Ship>);
