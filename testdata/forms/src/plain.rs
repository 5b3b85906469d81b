//! Newtypes, tuples, arrays, units, keys, and what else there is beside structs with named fields.

use std::collections::BTreeMap;
use std::marker::PhantomData;

use arbitrary::Arbitrary;
use kubesmith_runtime::Schema;
use serde::{Deserialize, Serialize};

use crate::enums::{Level, Mixed};

/// How many sides there are.
const SIDES: usize = 2 + 1;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Schema, Arbitrary)]
pub struct Id(#[validation(min_length = 0)] pub String);

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Schema, Arbitrary)]
pub struct Optional(pub Option<i32>);

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Schema, Arbitrary)]
pub struct Triple(pub i32, pub String, pub Level);

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Schema, Arbitrary)]
pub struct OneOfTwo(pub i32, #[serde(skip)] pub bool);

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Schema, Arbitrary)]
pub struct Unit;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Schema, Arbitrary)]
#[serde(transparent)]
pub struct Transparent<T> {
    pub inner: Level,
    #[serde(skip)]
    pub marker: PhantomData<T>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Schema, Arbitrary)]
pub struct Newtypes {
    pub id: Id,
    pub optional: Optional,
    pub mixed: Box<Mixed>,
    pub triple: Triple,
    pub one_of_two: OneOfTwo,
    pub unit: Unit,
    pub empty: (),
    pub marker: PhantomData<String>,
    pub transparent: Transparent<f64>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Schema, Arbitrary)]
pub struct Lists {
    pub sides: [i32; SIDES],
    pub pair: (i32, i64),
    pub mixed: (bool, String),
    pub three: Vec<(String, Level, String)>,
    pub holes: Vec<Option<String>>,
    pub nested: Vec<Vec<[bool; 2]>>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Schema, Arbitrary)]
pub struct Nulls {
    pub by_name: BTreeMap<String, Option<i32>>,
    pub levels: BTreeMap<String, Option<Level>>,
    pub either: Vec<Option<Mixed>>,
    pub plain: Option<i32>,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, Schema, Arbitrary)]
pub struct Key(pub Level);

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Schema, Arbitrary)]
pub struct Keys {
    pub by_level: BTreeMap<Level, i32>,
    pub by_key: BTreeMap<Key, bool>,
    pub by_text: BTreeMap<Text, String>,
}

/// Read and written as a text.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, Schema, Arbitrary)]
#[serde(from = "String", into = "String")]
pub struct Text(pub Vec<String>);

impl From<String> for Text {
    fn from(text: String) -> Self {
        Self(text.split(',').map(str::to_string).collect())
    }
}

impl From<Text> for String {
    fn from(text: Text) -> Self {
        text.0.join(",")
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Schema, Arbitrary)]
pub struct Proxied {
    pub text: Text,
}

fn forty() -> i32 {
    4 * 10
}

fn middle() -> Level {
    Level::Middle
}

impl Defaults {
    const NAME: &'static str = "default";

    fn name() -> String {
        Self::NAME.to_string()
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Schema, Arbitrary)]
pub struct Defaults {
    #[serde(default = "forty")]
    pub count: i32,
    #[serde(default = "middle")]
    pub level: Level,
    #[serde(default = "Defaults::name")]
    pub name: String,
    #[serde(default)]
    pub plain: i32,
    #[serde(default = "Vec::new")]
    pub list: Vec<i32>,
}

/// Every renaming of fields.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Schema, Arbitrary)]
#[serde(rename_all = "SCREAMING-KEBAB-CASE")]
pub struct Renamed {
    pub first_field: i32,
    pub r#type: i32,
    #[serde(rename = "third/field")]
    pub third_field: i32,
}
