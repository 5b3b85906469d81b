//! Version `v1` of group `bakery.example.com`.

use std::collections::BTreeMap;

use crate::api_common::{Labelled, Reference};
use k8s_openapi::apimachinery::pkg::api::resource::Quantity;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, LabelSelector, ObjectMeta, Time};
use k8s_openapi::apimachinery::pkg::util::intstr::IntOrString;
use kubesmith_runtime::{Resource, Schema};
use serde::{Deserialize, Serialize};

/// Group is the name of the group.
pub const GROUP: &str = "bakery.example.com";

/// LabelShift says which shift baked an object.
pub const LABEL_SHIFT: &str = "bakery.example.com/shift";

/// ConditionReady is true while loaves can be sold.
pub const CONDITION_READY: &str = "Ready";

/// Order is an order of loaves.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(
    group = "bakery.example.com",
    version = "v1",
    short_name = "ord",
    category = "all",
    status,
    print_column(name = "Loaves", type = "integer", json_path = ".spec.loaves")
)]
#[genclient(
    method(
        name = "Bake",
        verb = "create",
        subresource = "bake",
        input = "crate::bakery::v1::Extra",
        result = "crate::bakery::v1::ResultType"
    ),
    method(
        name = "GetScale",
        verb = "get",
        subresource = "scale",
        result = "k8s_openapi::api::autoscaling::v1::Scale"
    ),
    skip_verbs("deleteCollection")
)]
#[deepcopy]
pub struct Order {
    /// Standard object metadata.
    pub metadata: ObjectMeta,
    pub spec: OrderSpec,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<OrderStatus>,
}

/// Crust says how long a loaf is baked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, Schema)]
pub enum Crust {
    /// CrustSoft is baked at 190 degrees.
    Soft,
    /// `Hard`
    Hard,
    /// `extra-hard`
    #[serde(rename = "extra-hard")]
    ExtraHard,
}

/// Phase is where an order stands. Others may be added.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, Schema)]
pub struct Phase(pub String);

impl Phase {
    /// PhasePending waits for an oven.
    pub const PENDING: &'static str = "Pending";

    /// PhaseDone can be fetched.
    pub const DONE: &'static str = "Done";
}

/// Code is what a customer calls an order.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, Schema)]
#[validation(max_length = 12, pattern = "^[A-Z]{3}-[0-9]+$")]
pub struct Code(pub String);

#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, Schema)]
#[validation(type = "string", max_length = 20)]
pub struct Price(#[schema(schemaless)] pub String);

/// OrderSpec is what is wanted.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
#[validation(rule(
    rule = "!has(self.price) || self.loaves > 0",
    message = "a price needs loaves"
))]
pub struct OrderSpec {
    #[serde(flatten)]
    pub labelled: Labelled,
    /// Loaves is how many.
    #[validation(minimum = 0)]
    #[schema(default = 1)]
    pub loaves: i32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub crust: Option<Crust>,
    /// Code of the order.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<Code>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub price: Option<Price>,
    /// Customer pays.
    pub customer: Reference,
    /// Extras by their names.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub extras: Option<BTreeMap<String, Extra>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(list_type = "map", list_map_key = "name")]
    pub helpers: Option<Vec<Reference>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub r#type: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub weight: Option<Quantity>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub oven: Option<IntOrString>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<Time>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rest: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub r#where: Option<LabelSelector>,
    /// Recipe is any JSON.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recipe: Option<serde_json::Value>,
    #[serde(default)]
    #[schema(required, nullable)]
    pub gift: Option<String>,
}

/// extra is added to loaves.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
pub struct ExtraType {
    pub grams: i64,
}

/// Extra says how much is added.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
pub struct Extra {
    #[serde(flatten)]
    pub extra: ExtraType,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seeds: Option<Vec<Seed>>,
}

/// Seed names a grain.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, Schema)]
pub struct Seed(pub String);

/// Result has a name that Rust has for something else.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
pub struct ResultType {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}

/// OrderStatus is what became of it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
pub struct OrderStatus {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub phase: Option<Phase>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(list_type = "map", list_map_key = "type")]
    pub conditions: Option<Vec<Condition>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub results: Option<Vec<ResultType>>,
}
