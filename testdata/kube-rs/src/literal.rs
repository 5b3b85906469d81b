//! `impl JsonSchema` by hand, with literal schemas.

use std::borrow::Cow;

use kube::CustomResource;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

/// Fields whose types describe themselves.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "literal.example.com", version = "v1", kind = "Literals")]
#[serde(rename_all = "camelCase")]
pub struct LiteralsSpec {
    pub version: Version,
    pub maybe_version: Option<Version>,
    pub versions: Vec<Version>,
    /// The field has words.
    pub described: Version,
    #[schemars(length(max = 20))]
    pub limited: Version,
    pub anything: Anything,
    pub maybe_anything: Option<Anything>,
    pub percent: IntOrPercent,
    pub maybe_percent: Option<IntOrPercent>,
    pub mode: Mode,
    pub maybe_mode: Option<Mode>,
}

/// A version, said in Rust alone.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Version(pub String);

impl JsonSchema for Version {
    fn schema_name() -> Cow<'static, str> {
        "Version".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "string",
            "pattern": r"^\d+\.\d+\.\d+$",
            "description": "A version in three parts.",
        })
    }
}

#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Anything(pub serde_json::Map<String, serde_json::Value>);

impl schemars::JsonSchema for Anything {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> std::borrow::Cow<'static, str> {
        std::borrow::Cow::Borrowed("Anything")
    }

    fn schema_id() -> Cow<'static, str> {
        concat!(module_path!(), "::Anything").into()
    }

    fn json_schema(_gen: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "type": "object",
            "x-kubernetes-preserve-unknown-fields": true
        })
    }
}

#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(untagged)]
pub enum IntOrPercent {
    Int(i32),
    Percent(String),
}

impl JsonSchema for IntOrPercent {
    fn schema_name() -> Cow<'static, str> {
        Cow::Borrowed("IntOrPercent")
    }

    fn json_schema(_generator: &mut SchemaGenerator) -> Schema {
        serde_json::from_value(serde_json::json!({
            "x-kubernetes-int-or-string": true,
            "anyOf": [
                { "type": "integer" },
                { "type": "string", "pattern": "^[0-9]+%$" },
            ],
        }))
        .unwrap_or_default()
    }
}

/// Words that count for nothing.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub enum Mode {
    Fast,
    Slow,
}

impl JsonSchema for Mode {
    fn schema_name() -> Cow<'static, str> {
        "Mode".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "enum": ["Fast", "Slow"] })
    }
}

/// Schemas made of other types' schemas.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "literal.example.com", version = "v1", kind = "Composed")]
pub struct ComposedSpec {
    pub pair: Pair,
    pub list: ListMap,
    pub wrapped: Wrapped,
    pub delegated: Delegated,
    pub map: Lookup,
}

/// A part.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct Part {
    /// The key.
    pub name: String,
    pub value: Option<u8>,
}

#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Pair {
    pub left: Part,
    pub right: Part,
}

impl JsonSchema for Pair {
    fn schema_name() -> Cow<'static, str> {
        "Pair".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "object",
            "properties": {
                "left": generator.subschema_for::<Part>(),
                "right": generator.subschema_for::<Part>(),
            },
            "required": ["left", "right"],
        })
    }
}

#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct ListMap(pub Vec<Part>);

impl JsonSchema for ListMap {
    fn schema_name() -> Cow<'static, str> {
        "ListMap".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let items = generator.subschema_for::<Part>();
        json_schema!({
            "type": "array",
            "items": items,
            "x-kubernetes-list-type": "map",
            "x-kubernetes-list-map-keys": ["name"],
        })
    }
}

#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Wrapped(pub Part);

impl JsonSchema for Wrapped {
    fn schema_name() -> Cow<'static, str> {
        Part::schema_name()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        Part::json_schema(generator)
    }
}

#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Delegated(pub String);

impl JsonSchema for Delegated {
    fn schema_name() -> Cow<'static, str> {
        "Delegated".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        <String as JsonSchema>::json_schema(generator)
    }
}

#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Lookup(pub std::collections::BTreeMap<String, Vec<Option<Part>>>);

impl JsonSchema for Lookup {
    fn schema_name() -> Cow<'static, str> {
        "Lookup".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "object",
            "additionalProperties": generator.subschema_for::<Vec<Option<Part>>>(),
            "maxProperties": 5,
        })
    }
}

/// The spec describes itself.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize)]
#[kube(group = "literal.example.com", version = "v1", kind = "SelfDescribed")]
pub struct SelfDescribedSpec {
    pub name: String,
}

impl JsonSchema for SelfDescribedSpec {
    fn schema_name() -> Cow<'static, str> {
        "SelfDescribedSpec".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "object",
            "description": "Written by hand.",
            "properties": {
                "name": { "type": "string", "minLength": 1 },
                "extra": { "type": "object", "additionalProperties": { "type": "string" } },
            },
            "required": ["name"],
        })
    }
}

/// The root describes itself.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize)]
#[kube(group = "literal.example.com", version = "v1", kind = "Manual", schema = "manual", namespaced)]
pub struct ManualSpec {
    pub name: String,
}

impl JsonSchema for Manual {
    fn schema_name() -> Cow<'static, str> {
        "Manual".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "object",
            "properties": {
                "spec": {
                    "type": "object",
                    "properties": { "name": { "type": "string" } },
                    "required": ["name"],
                },
            },
            "required": ["spec"],
        })
    }
}

/// Literals of every kind.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "literal.example.com", version = "v1", kind = "Values")]
pub struct ValuesSpec {
    pub values: Spelled,
}

#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Spelled(pub serde_json::Value);

const MAXIMUM: u32 = 10;

impl JsonSchema for Spelled {
    fn schema_name() -> Cow<'static, str> {
        "Spelled".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "object",
            "properties": {
                "negative": { "type": "integer", "minimum": -5, "maximum": 1_000 },
                "fraction": { "type": "number", "minimum": 0.5, "default": 1.0 },
                "flag": { "type": "boolean", "default": true },
                "constant": { "type": "string", "maxLength": MAXIMUM },
                "nullable": { "type": "string", "nullable": true },
                "both": { "type": ["string", "null"] },
                "computed": { "type": "integer", "maximum": 2 + 3 },
                "const": { "const": "fixed", "type": "string" },
                "list": { "type": "array", "items": { "type": "string" }, "default": ["a", "b"] },
                "unique": { "type": "array", "items": { "type": "string" }, "uniqueItems": true },
                "strict": { "type": "object", "additionalProperties": false },
                "open": { "type": "object", "additionalProperties": true },
                "fields": {
                    "type": "object",
                    "additionalProperties": true,
                    "properties": { "a": { "type": "string" } },
                },
                "oneOf": {
                    "oneOf": [
                        { "type": "object", "properties": { "a": { "type": "string" } }, "required": ["a"] },
                        { "type": "object", "properties": { "b": { "type": "string" } }, "required": ["b"] },
                    ],
                },
            },
        })
    }
}
