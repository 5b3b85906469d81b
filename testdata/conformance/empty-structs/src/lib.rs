//! Twin of the Go types of the case.

use std::collections::BTreeMap;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kubesmith_runtime::{Resource, Schema};
use serde::{Deserialize, Serialize};

/// Hollow has nothing.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "shapes.conformance.dev", version = "v1")]
pub struct Hollow {
    pub metadata: ObjectMeta,
    #[serde(default)]
    pub spec: HollowSpec,
    #[serde(default)]
    pub status: HollowStatus,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
#[serde(rename_all = "camelCase")]
pub struct HollowSpec {
}

/// HollowStatus is empty.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
#[serde(rename_all = "camelCase")]
pub struct HollowStatus {
    #[serde(default)]
    pub void: Void,
    #[serde(default)]
    pub voids: BTreeMap<String, Void>,
    #[serde(default)]
    pub void_list: Vec<Void>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
#[serde(rename_all = "camelCase")]
pub struct Void {
}
