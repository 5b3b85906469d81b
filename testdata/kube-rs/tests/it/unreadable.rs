//! Kinds that only exist at run time: their schemas cannot be read from source, and the command says so of every line
//! that bears a mark or stands below one.

use std::borrow::Cow;

use kube::{CustomResource, KubeSchema};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize, Serializer};

/// Functions that compute schemas.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "unreadable.example.com", version = "v1", kind = "Computed")]
pub struct ComputedSpec {
    #[schemars(schema_with = "chosen")]
    pub chosen: String,
    pub by_hand: ByHand,
}

fn chosen(_: &mut SchemaGenerator) -> Schema {
    let texts = usize::BITS > 8; // unreadable
    json_schema!({ "type": if texts { "string" } else { "object" } })
}

#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct ByHand(pub String);

impl JsonSchema for ByHand {
    fn schema_name() -> Cow<'static, str> {
        "ByHand".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let formats = [1, 2].map(|times| "a".repeat(times)); // unreadable
        json_schema!({ "type": "string", "enum": formats })
    }
}

/// Defaults that are computed.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "unreadable.example.com", version = "v1", kind = "ComputedDefaults")]
pub struct ComputedDefaultsSpec {
    #[serde(default = "joined")] // unreadable
    pub joined: String,
    #[serde(default = "summed")] // unreadable
    pub summed: i32,
    #[serde(default = "popped")] // unreadable
    pub popped: Vec<i32>,
    #[serde(default = "behind_reference")] // unreadable
    pub behind_reference: Vec<i32>,
    #[serde(default = "in_the_order_of_a_set")] // unreadable
    pub in_the_order_of_a_set: Vec<String>,
    #[serde(default = "below")] // unreadable
    pub below: std::path::PathBuf,
    #[serde(default = "heap")] // unreadable
    pub heap: std::collections::BinaryHeap<i32>,
    #[serde(default = "of_an_own_method")] // unreadable
    pub of_an_own_method: Own,
}

/// A list with its own `push`.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct Own(pub Vec<i32>);

impl Own {
    fn push(&mut self, number: i32) {
        self.0.insert(0, number);
    }
}

fn popped() -> Vec<i32> {
    let mut list = vec![1, 2];
    let _last = list.pop();
    list
}

fn behind_reference() -> Vec<i32> {
    let mut list = vec![1];
    let same = &mut list;
    same.push(2);
    list
}

fn in_the_order_of_a_set() -> Vec<String> {
    let mut set = std::collections::BTreeSet::new();
    set.insert("b".to_string());
    set.extend(["a".to_string()]);
    set.into_iter().collect()
}

fn below() -> std::path::PathBuf {
    let mut path = std::path::PathBuf::from("/etc");
    path.push("hosts");
    path
}

fn heap() -> std::collections::BinaryHeap<i32> {
    let mut heap = std::collections::BinaryHeap::new();
    heap.push(1);
    heap.push(2);
    heap
}

fn of_an_own_method() -> Own {
    let mut own = Own(vec![1]);
    own.push(2);
    own
}

fn joined() -> String {
    ["a", "b"].map(str::to_uppercase).join("-")
}

fn summed() -> i32 {
    let mut sum = 0;
    for number in 1..5 {
        sum += number;
    }
    sum
}

/// Defaults that other functions write.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "unreadable.example.com", version = "v1", kind = "WrittenDefaults")]
pub struct WrittenDefaultsSpec {
    #[serde(default, serialize_with = "as_text")] // unreadable
    #[schemars(with = "String")]
    pub function: u8,
    #[serde(default, with = "text_number")] // unreadable
    #[schemars(with = "Option<String>")]
    pub module: u32,
}

fn as_text<S: Serializer>(value: &u8, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_str(&value.to_string())
}

pub mod text_number {
    use serde::{Deserialize, Deserializer, Serializer};

    pub fn serialize<S: Serializer>(value: &u32, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(&value.to_string())
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<u32, D::Error> {
        Ok(String::deserialize(from)?.parse().unwrap_or_default())
    }
}

/// Whether a default is shown depends on code.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "unreadable.example.com", version = "v1", kind = "ComputedSkips")]
pub struct ComputedSkipsSpec {
    #[serde(default = "seven", skip_serializing_if = "is_prime")] // unreadable
    pub value: u32,
}

fn seven() -> u32 {
    7
}

fn is_prime(value: &u32) -> bool {
    (2..*value).all(|divisor| !value.is_multiple_of(divisor))
}

/// Rules that are computed.
#[derive(CustomResource, KubeSchema, Clone, Debug, Deserialize, Serialize)]
#[kube(group = "unreadable.example.com", version = "v1", kind = "ComputedRules")]
pub struct ComputedRulesSpec {
    #[x_kube(validation = at_most(5))] // unreadable
    pub value: i32,
}

fn at_most(limit: i32) -> kube::core::Rule {
    kube::core::Rule::new(format!("self <= {}", limit.pow(2)))
}

/// Constraints that are computed.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "unreadable.example.com", version = "v1", kind = "ComputedBounds")]
pub struct ComputedBoundsSpec {
    #[schemars(range(max = limit()))] // unreadable
    pub bounded: i32,
    #[schemars(extend("maxLength" = limit()))] // unreadable
    pub extended: String,
    #[schemars(description = describe())] // unreadable
    pub described: String,
}

fn limit() -> i32 {
    "five".chars().map(|letter| letter as i32 % 7).sum()
}

fn describe() -> String {
    "computed ".repeat(2)
}

macro_rules! part {
    () => {
        i32
    };
}

/// Types that macros make.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "unreadable.example.com", version = "v1", kind = "MadeByMacros")]
pub struct MadeByMacrosSpec {
    pub part: part!(), // unreadable
}

/// Values that implementations of their own write, convert or compare.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "unreadable.example.com", version = "v1", kind = "OwnConversions")]
pub struct OwnConversionsSpec {
    #[serde(default)] // unreadable
    #[schemars(with = "String")]
    pub written: Written,
    #[serde(default = "shown")] // unreadable
    pub shown: String,
    #[serde(default = "formatted")] // unreadable
    pub formatted: String,
    #[serde(default = "into_another")] // unreadable
    pub into_another: Another,
    #[serde(default = "too_small")] // unreadable
    pub too_small: u8,
    #[serde(default, skip_serializing_if = "is_other")] // unreadable
    pub compared: Compared,
    #[schemars(example = Another::from("a"))] // unreadable
    pub example: Another,
}

#[derive(Clone, Copy, Debug, Default, Deserialize)]
pub enum Written {
    #[default]
    Fast,
}

impl Serialize for Written {
    fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str("fast-mode")
    }
}

#[derive(Clone, Copy, Debug, Default, Deserialize, Serialize, JsonSchema)]
pub enum Level {
    #[default]
    High,
}

impl std::fmt::Display for Level {
    fn fmt(&self, to: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        to.write_str("lvl-high")
    }
}

fn shown() -> String {
    Level::High.to_string()
}

fn formatted() -> String {
    format!("x-{}", Level::High)
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct Another {
    pub port: i32,
}

pub struct Source {
    pub port: i32,
}

impl From<Source> for Another {
    fn from(source: Source) -> Self {
        Self { port: source.port + 1 }
    }
}

impl From<&str> for Another {
    fn from(_: &str) -> Self {
        Self { port: 1 }
    }
}

fn into_another() -> Another {
    Source { port: 5 }.into()
}

fn too_small() -> u8 {
    300_i32 as u8
}

#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
pub struct Compared {
    pub value: i32,
}

impl PartialEq for Compared {
    fn eq(&self, _: &Self) -> bool {
        false
    }
}

fn is_other(value: &Compared) -> bool {
    *value == Compared::default()
}
