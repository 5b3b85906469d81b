//! Version v1alpha1.

use std::collections::BTreeMap;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kubesmith_runtime::{Resource, Schema};
use serde::{Deserialize, Serialize};

use crate::Address;

/// Parcel is sent.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "post.example.com", version = "v1alpha1")]
#[genclient]
#[deepcopy]
pub struct Parcel {
    /// Standard metadata.
    pub metadata: ObjectMeta,
    /// What is wanted.
    pub spec: ParcelSpec,
}

/// What is wanted of a parcel.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
#[serde(rename_all = "camelCase")]
pub struct ParcelSpec {
    /// Width and height, `3x4`.
    #[serde(default)]
    pub size: String,
    /// A number.
    #[serde(default)]
    pub floor: i32,
    /// A keyword.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub r#type: Option<String>,
    /// A list of structs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stamps: Vec<Stamp>,
    /// A map of structs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stops: Option<BTreeMap<String, Box<Stop>>>,
    /// An enum.
    #[serde(default)]
    pub state: State,
    /// An enum that holds something.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub payment: Option<Payment>,
    /// A type that the versions share.
    #[serde(default)]
    pub address: Address,
}

/// Stamp has been paid for.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
pub struct Stamp {
    /// In cents.
    pub price: i64,
}

/// Stop on the way.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
pub struct Stop {
    /// Where.
    #[serde(default)]
    pub address: Address,
    /// With which stamps.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stamps: Vec<Stamp>,
}

/// State of a parcel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
pub enum State {
    /// It is here.
    #[default]
    Here,
    /// It is there.
    There,
}

/// Payment on delivery.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Schema)]
#[serde(rename_all = "camelCase")]
pub enum Payment {
    /// With stamps.
    Stamp(Stamp),
    /// With money, in cents.
    Cash(i64),
}

/// Waybill is of a kind whose hub is not the version that is stored.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "post.example.com", version = "v1alpha1", storage_version)]
#[genclient]
pub struct Waybill {
    /// Standard metadata.
    pub metadata: ObjectMeta,
    /// What is wanted.
    pub spec: WaybillSpec,
}

/// What is wanted of a waybill.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
pub struct WaybillSpec {
    /// Its number.
    #[serde(default)]
    pub number: String,
}
