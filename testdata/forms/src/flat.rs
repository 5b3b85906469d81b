//! Structs with flattened fields.

use std::collections::BTreeMap;

use arbitrary::Arbitrary;
use kubesmith_runtime::Schema;
use serde::{Deserialize, Serialize};

use crate::enums::{Adjacent, Circle, Event, Level, Mixed, OneOfStructs, Shape, Single};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Schema, Arbitrary)]
pub struct WithStruct {
    pub own_field: i32,
    #[serde(flatten)]
    pub circle: Circle,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Schema, Arbitrary)]
pub struct WithMap {
    pub own_field: i32,
    #[serde(flatten)]
    pub rest: BTreeMap<String, String>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Schema, Arbitrary)]
pub struct OnlyMap {
    #[serde(flatten)]
    pub rest: BTreeMap<String, i32>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Schema, Arbitrary)]
pub struct WithShape {
    pub own_field: i32,
    #[serde(flatten)]
    pub shape: Shape,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Schema, Arbitrary)]
pub struct WithUnits {
    pub own_field: i32,
    #[serde(flatten)]
    pub mixed: Mixed,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Schema, Arbitrary)]
pub struct WithEvent {
    pub own_field: i32,
    #[serde(flatten)]
    pub event: Event,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Schema, Arbitrary)]
pub struct WithAdjacent {
    pub own_field: i32,
    #[serde(flatten)]
    pub adjacent: Adjacent,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Schema, Arbitrary)]
pub struct WithUntagged {
    pub own_field: i32,
    #[serde(flatten)]
    pub one: OneOfStructs,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Schema, Arbitrary)]
pub struct WithOptional {
    pub own_field: i32,
    #[serde(flatten)]
    pub mixed: Option<Mixed>,
    #[serde(flatten)]
    pub event: Option<Event>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Schema, Arbitrary)]
pub struct WithTwo {
    #[serde(flatten)]
    pub first: Shape,
    #[serde(flatten)]
    pub second: Single,
    #[serde(flatten)]
    pub level: Level,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Schema, Arbitrary)]
pub struct Held(pub Box<Event>);

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Schema, Arbitrary)]
pub struct ThroughNewtype {
    pub own_field: i32,
    #[serde(flatten)]
    pub held: Held,
}
