//! Values that are converted, copied and changed on the way.

#![allow(
    clippy::needless_return,
    clippy::redundant_clone,
    clippy::vec_init_then_push,
    reason = "people write it so"
)]

use std::collections::BTreeMap;

use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Values that are the same after it.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "conversions.example.com", version = "v1", kind = "Conversions")]
pub struct ConversionsSpec {
    #[serde(default = "copied")]
    pub copied: Vec<i32>,
    #[serde(default = "optional")]
    pub optional: Option<Vec<String>>,
    #[serde(default = "fraction")]
    pub fraction: f64,
    #[serde(default = "shadowed")]
    pub shadowed: String,
    #[serde(default = "labels")]
    pub labels: BTreeMap<String, String>,
    #[serde(default = "number_as_text")]
    pub number_as_text: String,
    #[schemars(example = Part::default())]
    pub example: Part,
    #[schemars(extend("default" = Part::default()))]
    pub extended: Part,
    #[serde(default = "<Part as Default>::default")]
    pub qualified: Part,
    #[serde(default, skip_serializing_if = "<[_]>::is_empty")]
    pub left_out: Vec<String>,
    #[serde(default = "based")]
    pub based: Part,
    #[serde(default, skip_serializing_if = "is_zero")]
    pub zero: u8,
    #[serde(default, skip_serializing_if = "serde_json::Value::is_null")]
    #[schemars(with = "Option<String>")]
    pub nothing: serde_json::Value,
    #[schemars(schema_with = "changed")]
    pub changed: String,
}

#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
pub struct Part {
    pub name: String,
    pub port: i32,
}

const BASE: Part = Part { name: String::new(), port: 80 };

fn copied() -> Vec<i32> {
    let mut a = vec![1];
    let b = a.clone();
    a.push(2);
    b
}

fn optional() -> Option<Vec<String>> {
    Vec::new().into()
}

fn fraction() -> f64 {
    const SEVEN: i32 = 7;
    SEVEN as f64 / 2.0
}

fn shadowed() -> String {
    let text = "a";
    let text = format!("{text}b");
    text
}

fn labels() -> BTreeMap<String, String> {
    let mut labels = BTreeMap::new();
    labels.insert("a".to_string(), "b".into());
    labels.insert("c".to_string(), 5.to_string());
    println!("{labels:?}");
    labels
}

fn number_as_text() -> String {
    8080.to_string()
}

fn based() -> Part {
    Part { name: "based".into(), ..BASE }
}

fn is_zero(value: &u8) -> bool {
    return *value == 0;
}

fn changed(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
    let mut schema = generator.subschema_for::<String>();
    if let Some(object) = schema.as_object_mut() {
        object.insert("maxLength".to_string(), 5.into());
    }
    eprintln!("{schema:?}");
    schema
}
