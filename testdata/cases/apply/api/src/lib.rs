//! Every form that a field of an apply configuration has.

use std::collections::BTreeMap;

use k8s_openapi::ByteString;
use k8s_openapi::api::core::v1::{EnvVar, ServicePort};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::JSONSchemaProps;
use k8s_openapi::apimachinery::pkg::api::resource::Quantity;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, LabelSelector, ObjectMeta, Time};
use k8s_openapi::apimachinery::pkg::util::intstr::IntOrString;
use kubesmith_runtime::{Resource, Schema};
use serde::{Deserialize, Serialize};

/// Types that the generated code cannot name, and one of a name that is taken.
mod hidden;

pub use hidden::port;

/// Shop sells things.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "shop.example.com", version = "v1", status)]
#[genclient]
pub struct Shop {
    /// Standard metadata.
    pub metadata: ObjectMeta,
    /// What is wanted.
    pub spec: ShopSpec,
    /// What was seen.
    #[serde(default)]
    pub status: ShopStatus,
}

/// What is wanted of a shop.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
#[serde(rename_all = "camelCase")]
pub struct ShopSpec {
    /// How many tills are open. More than ten are too many.
    pub till_count: i32,
    /// A keyword, and renamed.
    #[serde(rename = "type", default)]
    pub r#type: String,
    /// Another keyword.
    #[serde(default)]
    pub r#match: Option<bool>,
    /// A small number.
    #[validation(minimum = 0, maximum = 255)]
    #[serde(default)]
    pub floor: u8,
    /// A list of texts.
    #[serde(default)]
    pub aisles: Vec<String>,
    /// A list of numbers.
    #[serde(default)]
    pub shelves: Vec<i64>,
    /// A list with a key.
    #[schema(list_type = "map", list_map_key = "name")]
    #[serde(default)]
    pub goods: Vec<Good>,
    /// A set.
    #[schema(list_type = "set")]
    #[serde(default)]
    pub flags: Vec<String>,
    /// A map of texts.
    #[serde(default)]
    pub notes: BTreeMap<String, String>,
    /// A map of structs.
    #[serde(default)]
    pub rooms: BTreeMap<String, Good>,
    /// A map of lists of numbers.
    #[serde(default)]
    pub scores: BTreeMap<String, Vec<i32>>,
    /// An enum that is a text.
    #[serde(default)]
    pub phase: Phase,
    /// An enum that cannot be named.
    #[serde(default)]
    pub mood: hidden::Mood,
    /// An enum that holds something.
    #[serde(default)]
    pub payment: Option<Payment>,
    /// A newtype of a number.
    #[serde(default)]
    pub opens: Hour,
    /// A newtype of a struct.
    #[serde(default)]
    pub best: Option<Best>,
    /// A generic type.
    #[serde(default)]
    pub pair: Option<Pair<Good>>,
    /// The same generic type, of other things.
    #[serde(default)]
    pub names: Option<Pair<String>>,
    /// A struct whose fields stand here.
    #[serde(flatten)]
    pub address: Address,
    /// An enum whose fields stand here.
    #[serde(flatten)]
    pub delivery: Option<Delivery>,
    /// Absent, null or a text.
    #[schema(nullable)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub closed_since: Option<Option<String>>,
    /// A tuple.
    #[serde(default)]
    pub position: (i32, i32),
    /// An amount.
    #[serde(default)]
    pub size: Option<Quantity>,
    /// A number or a text.
    #[serde(default)]
    pub door: Option<IntOrString>,
    /// A time.
    #[serde(default)]
    pub since: Option<Time>,
    /// Bytes.
    #[serde(default)]
    pub seal: Option<ByteString>,
    /// Anything.
    #[schema(schemaless, preserve_unknown_fields)]
    #[validation(type = "object")]
    #[serde(default)]
    pub extra: serde_json::Value,
    /// A built-in struct.
    #[serde(default)]
    pub selector: LabelSelector,
    /// Built-in structs in a list.
    #[serde(default)]
    pub env: Vec<EnvVar>,
    /// Built-in structs in a list with two keys.
    #[schema(list_type = "map", list_map_key = "port", list_map_key = "protocol")]
    #[serde(default)]
    pub ports: Vec<ServicePort>,
    /// A type that holds itself.
    #[serde(default)]
    pub schema: Option<JSONSchemaProps>,
    /// A type whose name another one has.
    #[serde(default)]
    pub good: hidden::port::Good,
}

/// Something to sell.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
pub struct Good {
    /// Its name.
    pub name: String,
    /// Its price in cents.
    #[serde(default)]
    pub price: i32,
    /// How many there are.
    #[serde(default)]
    pub stock: Option<i32>,
}

/// Whether the shop is open.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
pub enum Phase {
    /// It is.
    #[default]
    Open,
    /// It is not.
    Closed,
}

/// How to pay.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Schema)]
#[serde(rename_all = "camelCase")]
pub enum Payment {
    /// With coins.
    Cash {
        /// Whose.
        currency: String,
    },
    /// With a card.
    Card {
        /// Which.
        network: String,
    },
}

/// How goods are brought.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Schema)]
#[serde(tag = "by")]
pub enum Delivery {
    /// By bicycle.
    Bicycle {
        /// How many goods it carries.
        load: i32,
    },
    /// Not at all.
    Never,
}

/// An hour of the day.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
#[serde(transparent)]
#[validation(minimum = 0, maximum = 23)]
pub struct Hour(pub u8);

/// What sells best.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
#[serde(transparent)]
pub struct Best(pub Good);

/// Two of a kind.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
pub struct Pair<T> {
    /// One.
    pub first: T,
    /// The other.
    pub second: T,
}

/// Where the shop is.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
pub struct Address {
    /// The street.
    #[serde(default)]
    pub street: String,
    /// The town.
    #[serde(default)]
    pub town: String,
}

/// What was seen of a shop.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
pub struct ShopStatus {
    /// What holds of it.
    #[schema(list_type = "map", list_map_key = "type")]
    #[serde(default)]
    pub conditions: Vec<Condition>,
    /// Customers inside.
    #[serde(default)]
    pub customers: i32,
}

/// Town is cluster-scoped, and has fields with the names of methods.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "shop.example.com", version = "v1", scope = "Cluster")]
#[genclient(non_namespaced)]
pub struct Town {
    /// Standard metadata.
    pub metadata: ObjectMeta,
    /// What is wanted.
    #[serde(default)]
    pub spec: TownSpec,
    /// Labels of the town's own, not of its metadata.
    #[serde(default)]
    pub labels: Vec<String>,
}

/// What is wanted of a town.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
pub struct TownSpec {
    /// Its name.
    #[serde(default)]
    pub title: String,
    /// Fields of any name.
    #[serde(flatten)]
    pub other: BTreeMap<String, i32>,
}

/// Silent has a client that does not apply.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "shop.example.com", version = "v1")]
#[genclient(skip_verbs("apply"))]
pub struct Silent {
    /// Standard metadata.
    pub metadata: ObjectMeta,
    /// What nobody applies.
    #[serde(default)]
    pub spec: SilentSpec,
}

/// What is wanted of a silent.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
pub struct SilentSpec {
    /// Its size.
    #[serde(default)]
    pub size: i32,
}
