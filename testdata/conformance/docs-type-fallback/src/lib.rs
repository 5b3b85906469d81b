//! Twin of the Go types of the case.
//! +groupName=docs.conformance.dev
//! +versionName=v1

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::LocalObjectReference;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{ObjectMeta, Time};
use kubesmith_runtime::{Resource, Schema};
use serde::{Deserialize, Serialize};

/// Shop sells.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
pub struct Shop {
    pub metadata: ObjectMeta,
    #[serde(default)]
    pub spec: ShopSpec,
    #[serde(default)]
    pub status: ShopStatus,
}

/// ShopSpec is documented.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
#[serde(rename_all = "camelCase")]
pub struct ShopSpec {
    pub owner: Owner,
    /// The second owner.
    #[serde(default)]
    pub second: Owner,
    pub third: Option<Owner>,
    #[serde(default)]
    pub staff: Vec<Owner>,
    #[serde(default)]
    pub by_role: BTreeMap<String, Owner>,
    #[serde(default)]
    pub name: Label,
    pub when: Option<Time>,
    #[serde(default)]
    pub r#ref: LocalObjectReference,
    #[serde(default)]
    pub bare: Bare,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
pub struct ShopStatus {
    /// Open says so.
    #[serde(default)]
    pub open: bool,
}

/// Owner owns.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
pub struct Owner {
    pub name: Label,
}

/// Label is short text.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
pub struct Label(pub String);

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
pub struct Bare {
    #[serde(default)]
    pub x: i32,
}
