//! `#[serde(flatten)]`.

use std::collections::{BTreeMap, HashMap};

use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Structs in structs.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "flatten.example.com", version = "v1", kind = "FlatStructs")]
#[serde(rename_all = "camelCase")]
pub struct FlatStructsSpec {
    pub own_field: String,
    #[serde(flatten)]
    pub common: Common,
    /// Words that nobody reads.
    #[serde(flatten)]
    pub layered: Layered,
    pub last_field: i32,
}

/// Common fields.
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
pub struct Common {
    /// The owner.
    pub owner_name: String,
    pub team: Option<String>,
    #[serde(default)]
    pub priority: i32,
}

#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub struct Layered {
    pub layer_name: String,
    #[serde(flatten)]
    pub deepest: Deepest,
}

#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
pub struct Deepest {
    pub depth: u8,
}

/// A struct that may be absent.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "flatten.example.com", version = "v1", kind = "FlatOptions")]
pub struct FlatOptionsSpec {
    pub own: String,
    #[serde(flatten)]
    pub common: Option<Common>,
    #[serde(flatten)]
    pub boxed: Box<Deepest>,
}

/// A map takes what is left.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "flatten.example.com", version = "v1", kind = "FlatAnything")]
pub struct FlatAnythingSpec {
    pub own: String,
    #[serde(flatten)]
    pub rest: BTreeMap<String, serde_json::Value>,
}

/// A map of objects takes what is left.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "flatten.example.com", version = "v1", kind = "FlatAlone")]
pub struct FlatAloneSpec {
    #[serde(flatten)]
    pub rest: HashMap<String, Common>,
}

/// Enums that carry data.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "flatten.example.com", version = "v1", kind = "FlatEnum")]
pub struct FlatEnumSpec {
    pub own: String,
    #[serde(flatten)]
    pub choice: Choice,
}

/// One or the other.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Choice {
    /// This one.
    ThisOne(String),
    ThatOne {
        value: i32,
    },
}

/// An enum that may be absent.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "flatten.example.com", version = "v1", kind = "FlatMaybeEnum")]
pub struct FlatMaybeEnumSpec {
    pub own: String,
    #[serde(flatten)]
    pub choice: Option<Choice>,
}

/// An untagged enum.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "flatten.example.com", version = "v1", kind = "FlatUntagged")]
pub struct FlatUntaggedSpec {
    pub own: String,
    #[serde(flatten)]
    pub choice: UntaggedChoice,
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum UntaggedChoice {
    /// This one.
    This {
        this: String,
    },
    That(Deepest),
}

/// An untagged enum that may be absent.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "flatten.example.com", version = "v1", kind = "FlatMaybeUntagged")]
pub struct FlatMaybeUntaggedSpec {
    #[serde(flatten)]
    pub choice: Option<UntaggedChoice>,
    #[serde(flatten)]
    pub common: Common,
}

/// The same name twice: the later one counts.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "flatten.example.com", version = "v1", kind = "FlatTwice")]
pub struct FlatTwiceSpec {
    /// Its own words.
    pub team: i32,
    #[serde(flatten)]
    pub common: Common,
}

/// A field that follows takes the name over.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "flatten.example.com", version = "v1", kind = "FlatShadowed")]
pub struct FlatShadowedSpec {
    #[serde(flatten)]
    pub common: Common,
    /// Its own words.
    pub team: i32,
}

/// Nothing of its own: words come from the flattened struct or not.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "flatten.example.com", version = "v1", kind = "FlatWords")]
pub struct FlatWordsSpec {
    pub undocumented: UndocumentedFlat,
    pub documented: DocumentedFlat,
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct UndocumentedFlat {
    #[serde(flatten)]
    pub common: Common,
}

/// Words of the outer struct.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct DocumentedFlat {
    #[serde(flatten)]
    pub common: Common,
}

/// A flattened struct that refuses unknown fields.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "flatten.example.com", version = "v1", kind = "FlatStrict")]
pub struct FlatStrictSpec {
    #[serde(flatten)]
    pub strict: Strict,
    pub own: i32,
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Strict {
    pub name: String,
}

/// A flattened struct with constraints, under the container's defaults.
#[derive(CustomResource, Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[kube(group = "flatten.example.com", version = "v1", kind = "FlatDefaults")]
#[serde(default)]
pub struct FlatDefaultsSpec {
    #[serde(flatten)]
    pub common: Common,
    pub own: i32,
}

/// An enum with unit variants alone.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "flatten.example.com", version = "v1", kind = "FlatSingleTag")]
pub struct FlatSingleTagSpec {
    #[serde(flatten)]
    pub tagged: Tagged,
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(tag = "type")]
pub enum Tagged {
    Only { value: i32 },
}

/// Any value, flattened.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "flatten.example.com", version = "v1", kind = "FlatValue")]
pub struct FlatValueSpec {
    pub own: String,
    #[serde(flatten)]
    pub value: serde_json::Value,
}
