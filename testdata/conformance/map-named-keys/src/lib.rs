//! Twin of the Go types of the case.

use std::collections::BTreeMap;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kubesmith_runtime::{Resource, Schema};
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "maps.conformance.dev", version = "v1")]
pub struct Census {
    pub metadata: ObjectMeta,
    #[serde(default)]
    pub spec: CensusSpec,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
#[serde(rename_all = "camelCase")]
pub struct CensusSpec {
    #[serde(default)]
    pub by_region: BTreeMap<Region, i32>,
    #[serde(default)]
    #[validation(min_properties = 1)]
    pub nested: BTreeMap<Region, BTreeMap<Region, Headcount>>,
    #[serde(default)]
    pub lists: BTreeMap<Region, Vec<Headcount>>,
    #[serde(default)]
    pub limits: BTreeMap<String, String>,
}

/// Region is a key; its markers do not apply to keys.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
#[validation(max_length = 2)]
pub struct Region(pub String);

/// Headcount counts.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
#[validation(minimum = 0)]
pub struct Headcount(pub i64);
