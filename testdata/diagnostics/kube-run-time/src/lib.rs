use std::borrow::Cow;

use kube::{CustomResource, KubeSchema};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

#[derive(CustomResource, KubeSchema, Clone, Debug, Deserialize, Serialize)]
#[kube(group = "kube.example.com", version = "v1", kind = "Computed")]
#[x_kube(validation = rule())]
pub struct ComputedSpec {
    #[schemars(transform = shorten)]
    pub transformed: String,
    #[schemars(schema_with = "looped")]
    pub looped: String,
    #[serde(default = "from_environment")]
    pub environment: String,
    #[serde(default, skip_serializing_if = "is_odd")]
    pub odd: u32,
    #[schemars(range(max = limit()))]
    pub bounded: i32,
    #[x_kube(merge_strategy = strategy())]
    pub merged: Vec<String>,
    pub by_hand: ByHand,
    pub opaque: Opaque,
    pub foreign: somewhere::Else,
    #[schemars(with = "String")]
    pub said: Opaque,
    #[serde(default = "from_environment")]
    #[schemars(extend("default" = "localhost"))]
    pub said_as_well: String,
}

fn looped(generator: &mut SchemaGenerator) -> Schema {
    let mut schema = String::json_schema(generator);
    for length in 1..5 {
        schema.insert("maxLength".to_string(), length.into());
    }
    schema
}

#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct ByHand(String);

impl JsonSchema for ByHand {
    fn schema_name() -> Cow<'static, str> {
        "ByHand".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "enum": names() })
    }
}

#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Opaque(String);

fn from_environment() -> String {
    std::env::var("HOST").unwrap()
}

fn is_odd(value: &u32) -> bool {
    value.count_ones() % 2 == 1
}
