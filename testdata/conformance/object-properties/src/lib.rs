//! Twin of the Go types of the case.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kubesmith_runtime::{Resource, Schema};
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "maps.conformance.dev", version = "v1")]
pub struct Parcel {
    pub metadata: ObjectMeta,
    #[serde(default)]
    pub spec: ParcelSpec,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
#[serde(rename_all = "camelCase")]
pub struct ParcelSpec {
    /// Either is set; a field marker needs the type spelled out.
    #[serde(default)]
    #[validation(type = "object", max_properties = 1)]
    pub either: Choice,
    #[validation(min_properties = 1, max_properties = 2, type = "object")]
    pub both: Option<Choice>,
    #[serde(default)]
    pub plain: Choice,
}

/// Choice has at least one member.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
#[serde(rename_all = "camelCase")]
#[validation(min_properties = 1, max_properties = 1)]
pub struct Choice {
    #[serde(default)]
    pub left: String,
    #[serde(default)]
    pub right: String,
}
