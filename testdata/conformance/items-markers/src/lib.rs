//! Twin of the Go types of the case.

use std::collections::BTreeMap;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kubesmith_runtime::{Resource, Schema};
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "lists.conformance.dev", version = "v1")]
pub struct Roster {
    pub metadata: ObjectMeta,
    #[serde(default)]
    pub spec: RosterSpec,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
#[serde(rename_all = "camelCase")]
pub struct RosterSpec {
    #[validation(max_items = 10, items(min_length = 2, max_length = 20, pattern = "^[a-z]+$"))]
    pub names: Vec<String>,
    #[serde(default)]
    #[validation(items(minimum = 1, maximum = 99, multiple_of = 3))]
    pub shirts: Vec<i32>,
    #[serde(default)]
    #[validation(items(enum("goal", "back", "wing")))]
    pub roles: Vec<String>,
    #[serde(default)]
    #[validation(items(format = "ipv6"))]
    pub hosts: Vec<String>,
    #[serde(default)]
    #[validation(items(min_items = 1, max_items = 4))]
    pub squads: Vec<Vec<String>>,
    #[serde(default)]
    #[validation(items(max_properties = 5))]
    pub stats: Vec<BTreeMap<String, String>>,
    #[serde(default)]
    #[validation(items(exclusive_minimum, minimum = 0))]
    pub ages: Vec<i64>,
    #[serde(default)]
    #[validation(max_items = 5, items(max_length = 30, rule(rule = "self.startsWith('x-')", message = "must start with x-")))]
    pub keys: Vec<String>,
}
