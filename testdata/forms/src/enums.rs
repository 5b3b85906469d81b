//! Enums in serde's four representations, and in mixtures of them.

use std::collections::BTreeMap;

use arbitrary::Arbitrary;
use kubesmith_runtime::Schema;
use serde::{Deserialize, Serialize};

/// Names without data.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, Schema, Arbitrary)]
#[serde(rename_all = "kebab-case")]
pub enum Level {
    VeryLow,
    #[serde(alias = "medium", alias = "normal")]
    Middle,
    #[serde(rename = "HIGH")]
    High,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Schema, Arbitrary)]
pub struct Circle {
    pub radius: i32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
}

/// Every variant has data.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Schema, Arbitrary)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Shape {
    /// Round.
    RoundThing(Circle),
    Square {
        side_length: i32,
        #[serde(default)]
        rounded: bool,
    },
    Label(String),
    Parts(Vec<Circle>),
    Named(BTreeMap<String, i64>),
    Pair(i32, i32),
    Maybe(Option<i32>),
    Level(Level),
    #[serde(alias = "oldEmpty")]
    Empty {},
    Nothing(()),
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Schema, Arbitrary)]
pub enum Single {
    Only(i32),
}

/// Some variants have data.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Schema, Arbitrary)]
pub enum Mixed {
    Off,
    #[serde(rename = "auto")]
    Automatic,
    Level(i32),
    Range {
        from: i32,
        to: i32,
    },
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Schema, Arbitrary)]
pub struct Nested {
    pub shapes: Vec<Shape>,
    pub by_name: BTreeMap<String, Mixed>,
    pub maybe: Vec<Option<Level>>,
    pub inner: Mixed,
}

/// The tag stands among the fields.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Schema, Arbitrary)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Event {
    Started,
    Stopped {
        code: i32,
        reason: Option<String>,
    },
    Moved(Circle),
    #[serde(alias = "note")]
    Noted {
        code: String,
    },
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Schema, Arbitrary)]
#[serde(tag = "kind")]
pub enum TaggedOther {
    Known {
        size: i32,
    },
    Plain,
    #[serde(other)]
    Unknown,
}

/// Tags beside tags.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Schema, Arbitrary)]
#[serde(tag = "outer")]
pub enum TaggedDeep {
    Event(Event),
    Shape(Shape),
    Free(BTreeMap<String, i32>),
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Schema, Arbitrary)]
#[serde(tag = "t", content = "c")]
pub enum Adjacent {
    Unit,
    Number(i64),
    Text(String),
    List(Vec<String>),
    Maybe(Option<bool>),
    Object { size: i32 },
    Other { size: String, deep: Vec<i32> },
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Schema, Arbitrary)]
#[serde(tag = "t", content = "c")]
pub enum AdjacentOther {
    Number(i64),
    #[serde(other)]
    Rest,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Schema, Arbitrary)]
#[serde(untagged)]
pub enum OneOfStructs {
    Disk { path: String, read_only: Option<bool> },
    Net { address: String, port: i32 },
    Round(Circle),
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Schema, Arbitrary)]
#[serde(untagged)]
pub enum Port {
    Number(i32),
    Name(String),
}

/// Every kind of JSON.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Schema, Arbitrary)]
#[serde(untagged)]
pub enum AnyValue {
    Flag(bool),
    Number(i64),
    Text(String),
    List(Vec<Level>),
    Object(Circle),
    Null,
}

/// Fields of one name and several types.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Schema, Arbitrary)]
#[serde(untagged)]
pub enum Overlap {
    Counted { amount: i32, unit: Level },
    Listed { amount: Vec<i32> },
    Worded { amount: String, unit: Option<String> },
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Schema, Arbitrary)]
pub enum Fallback {
    Low,
    Exact(i32),
    #[serde(untagged)]
    Custom(String),
    #[serde(untagged)]
    Many {
        all: Vec<String>,
    },
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Schema, Arbitrary)]
#[serde(tag = "mode")]
pub enum TaggedFallback {
    Fast {
        workers: i32,
    },
    Slow,
    #[serde(untagged)]
    Short(i32),
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Schema, Arbitrary)]
#[serde(untagged)]
pub enum TextOrObject {
    Text(Level),
    Object { level: Level, strict: bool },
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Schema, Arbitrary)]
#[serde(untagged)]
pub enum Maps {
    Fixed { count: i32 },
    Free(BTreeMap<String, String>),
}
