//! Version v1beta1.

use std::collections::{BTreeMap, BTreeSet};

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use k8s_openapi::apimachinery::pkg::util::intstr::IntOrString;
use kubesmith_runtime::{Resource, Schema};
use serde::{Deserialize, Serialize};

use crate::{Address, Slot};

/// Parcel is sent.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "post.example.com", version = "v1beta1")]
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
    /// Its width.
    #[serde(default)]
    pub width: i64,
    /// Its height.
    #[serde(default)]
    pub height: i64,
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

/// Letter is sent; it is the same in both of its versions.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "post.example.com", version = "v1beta1", scope = "Cluster")]
#[genclient(non_namespaced)]
pub struct Letter {
    /// Standard metadata.
    pub metadata: ObjectMeta,
    /// What is wanted.
    pub spec: Stop,
}

/// Pallet has what is not simply of the same name and type.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "post.example.com", version = "v1beta1")]
#[genclient]
pub struct Pallet {
    /// Standard metadata.
    pub metadata: ObjectMeta,
    /// What is wanted.
    pub spec: PalletSpec,
}

/// Another name for a list.
pub type Sheet<T = Stamp> = Vec<T>;

/// What is wanted of a pallet.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
pub struct PalletSpec {
    /// Keys that are a shared type.
    #[serde(default)]
    pub slots: BTreeMap<Slot, Stamp>,
    /// Keys that are a type of this version.
    #[serde(default)]
    pub shelves: BTreeMap<Shelf, i64>,
    /// An alias.
    #[serde(default)]
    pub sheet: Sheet,
    /// An alias of a set.
    #[serde(default)]
    pub words: Words,
    /// What it carries.
    #[serde(default)]
    pub load: Load,
    /// What is written on it.
    #[serde(default)]
    pub label: Label,
    /// A type of another crate that only attributes describe.
    #[schema(schemaless)]
    #[validation(type = "string")]
    #[serde(default)]
    pub gate: IntOrString,
}

/// Words, a set.
pub type Words = BTreeSet<String>;

/// A shelf, as this version calls it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, Schema)]
pub enum Shelf {
    /// The upper one.
    Upper,
    /// The lower one.
    Lower,
}

/// What a pallet carries.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
#[serde(rename_all = "camelCase")]
pub enum Load {
    /// Nothing.
    #[default]
    Nothing,
    /// One behind a pointer.
    One(Box<Stamp>),
    /// By their names.
    Named(BTreeMap<Slot, Sheet>),
    /// Something with a name.
    Special {
        /// Its stamp.
        stamp: Stamp,
        /// Called like what generated code has.
        funcs: Option<i64>,
        /// Called like what generated code has.
        input: Slot,
    },
}

/// A label, which may get further fields.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
#[non_exhaustive]
pub struct Label {
    /// What it says.
    #[serde(default)]
    pub text: String,
}

impl Label {
    /// A label.
    #[must_use]
    pub fn new(text: String) -> Self {
        Self { text }
    }
}

/// Waybill is of a kind whose hub is not the version that is stored.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "post.example.com", version = "v1beta1")]
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
    pub number: i32,
}
