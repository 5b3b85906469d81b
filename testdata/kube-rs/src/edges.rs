//! Where two rules meet.

use std::collections::{BTreeMap, HashMap};

use kube::{CustomResource, KubeSchema};
use schemars::{JsonSchema, JsonSchema_repr};
use serde::{Deserialize, Serialize};

/// Flattened fields within variants and with attributes.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "edges.example.com", version = "v1", kind = "FlatVariants")]
pub struct FlatVariantsSpec {
    pub choice: FlatChoice,
    #[serde(flatten)]
    pub holder: Holder<Part>,
    #[serde(flatten, default)]
    #[schemars(title = "Ignored", description = "Ignored.")]
    pub titled: TitledFlat,
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum FlatChoice {
    #[serde(rename_all = "kebab-case")]
    Struct {
        own_field: i32,
        #[serde(flatten)]
        part: Part,
    },
    #[serde(rename_all = "SCREAMING_SNAKE_CASE")]
    Other { own_field: i32 },
    Anything {
        #[serde(flatten)]
        rest: HashMap<String, serde_json::Value>,
    },
}

/// A part.
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Part {
    pub some_value: i32,
    pub maybe: Option<String>,
}

/// Holds one.
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
pub struct Holder<T> {
    #[serde(flatten)]
    pub held: T,
    pub count: u8,
}

/// # A title of its own
///
/// With words.
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[schemars(extend("x-kubernetes-map-type" = "atomic"))]
pub struct TitledFlat {
    pub from_titled: i32,
}

/// An undocumented spec takes the words and extensions of what is flattened into it.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "edges.example.com", version = "v1", kind = "FlatInherits")]
pub struct FlatInheritsSpec {
    pub inner: Inherits,
    pub titled: InheritsTitled,
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct Inherits {
    #[serde(flatten)]
    pub titled: TitledFlat,
    #[serde(flatten)]
    pub part: Part,
}

/// Words.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[schemars(title = "Title")]
pub struct InheritsTitled {
    #[serde(flatten)]
    pub part: Part,
    #[serde(flatten)]
    pub titled: TitledFlat,
}

/// Enums that are numbers.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "edges.example.com", version = "v1", kind = "Represented")]
pub struct RepresentedSpec {
    pub code: Code,
    pub maybe: Option<Code>,
}

/// A code.
#[derive(Clone, Copy, Debug, Deserialize, Serialize, JsonSchema_repr)]
#[repr(u8)]
#[serde(try_from = "u8", into = "u8")]
pub enum Code {
    Fine = 0,
    Warning = 10,
    Error,
}

impl TryFrom<u8> for Code {
    type Error = String;

    fn try_from(code: u8) -> Result<Self, String> {
        match code {
            0 => Ok(Self::Fine),
            10 => Ok(Self::Warning),
            11 => Ok(Self::Error),
            _ => Err(format!("no code: {code}")),
        }
    }
}

impl From<Code> for u8 {
    fn from(code: Code) -> Self {
        code as Self
    }
}

/// Rules on fields that are not simply there.
#[derive(CustomResource, KubeSchema, Clone, Debug, Deserialize, Serialize)]
#[kube(group = "edges.example.com", version = "v1", kind = "RuledEdges")]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RuledEdgesSpec {
    #[x_kube(validation = "self != 'a'")]
    #[schemars(schema_with = "short_text")]
    pub by_function: String,
    #[x_kube(validation = "self != 'b'")]
    #[schemars(with = "String")]
    pub by_type: i32,
    #[x_kube(validation = "self != 'c'")]
    #[schemars(required)]
    pub required: Option<String>,
    #[x_kube(validation = "self != 'd'")]
    #[serde(default, skip_serializing_if = "Option::is_none", rename = "another-name")]
    pub renamed: Option<String>,
    #[x_kube(validation = "self != 'f'")]
    #[serde(default = "default_text")]
    pub defaulted: String,
    #[x_kube(validation = "self != 7")]
    #[schemars(range(min = 1), title = "A title")]
    pub constrained: i32,
    #[x_kube(validation = "self.someValue != 1")]
    pub part: Part,
    #[x_kube(validation = "size(self) != 1")]
    pub map: BTreeMap<String, i32>,
}

fn short_text(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
    schemars::json_schema!({ "type": "string", "maxLength": 5 })
}

fn default_text() -> String {
    "text".to_string()
}

/// Attributes in unusual spellings.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(
    group = r"edges.example.com",
    version = "v1",
    kind = "Spellings",
    namespaced = true,
    no_spec = false,
    storage = "true",
    schema = "derived",
    shortname = r#"sp"#,
    printcolumn(name = "Value", type_ = "integer", json_path = ".spec.value", priority = "1"),
    printcolumn(name = "Negative", type_ = "integer", json_path = ".spec['value']"),
    printcolumn = "{\"name\":\"Json\",\"type\":\"string\",\"jsonPath\":\".spec.value\",\"unknown\":1}",
    status = EdgeStatus,
    derive = "Default",
)]
#[derive(Default)]
pub struct SpellingsSpec {
    #[serde(rename = "val\x75e", default)]
    pub number: i32,
    #[serde(rename(deserialize = "read"))]
    pub trailing_comma: i32,
}

#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
pub struct EdgeStatus {
    pub done: bool,
}

/// A status that is an enum.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "edges.example.com", version = "v1", kind = "EnumStatus", status = "Outcome")]
pub struct EnumStatusSpec {
    pub value: Holder<Part>,
}

/// How it went.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub enum Outcome {
    /// Well.
    Good {
        score: f32,
    },
    Bad(String),
}

/// A spec that is a map.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "edges.example.com", version = "v1", kind = "MapSpec")]
pub struct MapSpecSpec(pub BTreeMap<String, Part>);

/// A spec that is transparent.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "edges.example.com", version = "v1", kind = "TransparentSpec")]
#[serde(transparent)]
pub struct TransparentSpecSpec {
    pub part: Part,
}

/// A spec of unit variants.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "edges.example.com", version = "v1", kind = "UnitSpec")]
pub enum UnitSpecSpec {
    /// One.
    One,
    Two,
}

/// An untagged spec.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "edges.example.com", version = "v1", kind = "UntaggedSpec", doc = " Leading and trailing ")]
#[serde(untagged)]
pub enum UntaggedSpecSpec {
    One { one: i32 },
    Two { two: String },
}

/// The same type in many places, and names that differ by case.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "edges.example.com", version = "v1", kind = "Ordered")]
pub struct OrderedSpec {
    pub zebra: Part,
    pub apple: Part,
    #[serde(rename = "Apple")]
    pub other_apple: Part,
    #[serde(rename = "äpfel")]
    pub umlaut: Part,
    #[serde(rename = "10")]
    pub ten: i32,
    #[serde(rename = "9")]
    pub nine: i32,
    #[serde(rename = "")]
    pub empty: Option<i32>,
    #[serde(rename = "a b")]
    pub space: i32,
}
