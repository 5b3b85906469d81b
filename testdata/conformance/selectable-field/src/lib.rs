//! Twin of the Go types of the case.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kubesmith_runtime::{Resource, Schema};
use serde::{Deserialize, Serialize};

/// Parcel can be searched.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "res.conformance.dev", version = "v1", selectable_field(json_path = ".spec.color"), selectable_field(json_path = ".spec.box.size"), selectable_field(json_path = ".spec.fragile"))]
pub struct Parcel {
    pub metadata: ObjectMeta,
    #[serde(default)]
    pub spec: ParcelSpec,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
#[serde(rename_all = "camelCase")]
pub struct ParcelSpec {
    #[serde(default)]
    pub color: String,
    #[serde(default)]
    pub fragile: bool,
    #[serde(default)]
    pub r#box: Box,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
#[serde(rename_all = "camelCase")]
pub struct Box {
    #[serde(default)]
    #[validation(enum(1, 2, 3))]
    pub size: i32,
}
