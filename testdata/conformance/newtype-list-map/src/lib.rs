//! Twin of the Go types of the case.

use std::collections::BTreeMap;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kubesmith_runtime::{Resource, Schema};
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "newtypes.conformance.dev", version = "v1")]
pub struct Locker {
    pub metadata: ObjectMeta,
    #[serde(default)]
    pub spec: LockerSpec,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
#[serde(rename_all = "camelCase")]
pub struct LockerSpec {
    #[serde(default)]
    pub names: NameList,
    #[serde(default)]
    #[validation(type = "array", max_items = 3)]
    pub few: NameList,
    #[serde(default)]
    pub labels: Labels,
    #[serde(default)]
    #[validation(max_properties = 2, type = "object")]
    pub two: Labels,
    pub ptr: Option<NameList>,
    #[serde(default)]
    pub lists: Vec<NameList>,
    #[serde(default)]
    pub points: Points,
}

/// NameList lists names.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
#[validation(max_items = 10, items(min_length = 1))]
#[schema(list_type = "set")]
pub struct NameList(pub Vec<String>);

/// Labels are pairs.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
#[validation(max_properties = 8)]
pub struct Labels(pub BTreeMap<String, String>);

/// Points is a list of structs.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
pub struct Points(pub Vec<Point>);

/// Point has two axes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
#[serde(rename_all = "camelCase")]
pub struct Point {
    pub x: i32,
    pub y: i32,
}
