//! Attributes of serde.

use std::collections::BTreeMap;
use std::str::FromStr;

use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Names that fields have.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "serde.example.com", version = "v1", kind = "FieldNames")]
pub struct FieldNamesSpec {
    #[serde(rename = "simpleName")]
    pub simple: String,
    #[serde(rename(serialize = "written", deserialize = "read"))]
    pub split: String,
    #[serde(rename(serialize = "onlyWritten"))]
    pub half_written: String,
    #[serde(rename(deserialize = "onlyRead"))]
    pub half_read: String,
    #[serde(alias = "otherName", alias = "thirdName")]
    pub aliased: String,
    #[serde(rename = "with-dash")]
    pub dashed: String,
    #[serde(rename = "$ref")]
    pub reference: Option<String>,
    #[serde(rename = "with.dots/and~tilde")]
    pub odd: Option<String>,
    #[schemars(rename = "byTheSchema")]
    #[serde(rename = "bySerde")]
    pub overridden: String,
    #[schemars(rename = "bySchemaOnly")]
    pub renamed: String,
    #[serde(rename = "typ")]
    pub r#type: String,
}

/// Camel case.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "serde.example.com", version = "v1", kind = "FieldCases")]
#[serde(rename_all = "camelCase")]
pub struct FieldCasesSpec {
    pub one_word: One,
    pub camel: CamelFields,
    pub pascal: PascalFields,
    pub screaming: ScreamingFields,
    pub kebab: KebabFields,
    pub screaming_kebab: ScreamingKebabFields,
    pub lower: LowerFields,
    pub upper: UpperFields,
    pub split: SplitFields,
    pub by_schema: BySchemaFields,
}

/// No case.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct One {
    pub one_word: i32,
    pub http2_port: i32,
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[allow(non_snake_case)]
pub struct CamelFields {
    pub one_word: i32,
    pub http2_port: i32,
    pub a_b_c: i32,
    pub _leading: i32,
    pub trailing_: i32,
    pub double__under: i32,
    pub alreadyCamel: i32,
    pub ipv4_cidr_block: i32,
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "PascalCase")]
pub struct PascalFields {
    pub one_word: i32,
    pub http2_port: i32,
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub struct ScreamingFields {
    pub one_word: i32,
    pub http2_port: i32,
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub struct KebabFields {
    pub one_word: i32,
    pub http2_port: i32,
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "SCREAMING-KEBAB-CASE")]
pub struct ScreamingKebabFields {
    pub one_word: i32,
    pub http2_port: i32,
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub struct LowerFields {
    pub one_word: i32,
    pub http2_port: i32,
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "UPPERCASE")]
pub struct UpperFields {
    pub one_word: i32,
    pub http2_port: i32,
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all(serialize = "camelCase", deserialize = "kebab-case"))]
pub struct SplitFields {
    pub one_word: i32,
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[schemars(rename_all = "camelCase")]
pub struct BySchemaFields {
    pub one_word: i32,
}

/// Fields that are left out.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "serde.example.com", version = "v1", kind = "Skips")]
pub struct SkipsSpec {
    #[serde(skip)]
    pub skipped: i32,
    #[serde(skip_serializing)]
    pub not_written: i32,
    #[serde(skip_deserializing)]
    pub not_read: i32,
    #[serde(skip_serializing, skip_deserializing)]
    pub neither: i32,
    #[schemars(skip)]
    pub not_in_the_schema: i32,
    #[serde(skip)]
    #[schemars(skip)]
    pub twice: i32,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sometimes: Option<i32>,
    #[schemars(skip_deserializing)]
    pub schema_not_read: i32,
    #[schemars(skip_serializing)]
    pub schema_not_written: i32,
    pub kept: i32,
}

/// Transparent structs.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "serde.example.com", version = "v1", kind = "Transparents")]
pub struct TransparentsSpec {
    pub named: TransparentNamed,
    pub tuple: TransparentTuple,
    pub with_skipped: TransparentSkipped,
    pub maybe: TransparentOption,
    pub undocumented: TransparentBare,
    pub required: TransparentMaybe,
    pub by_schema: TransparentBySchema,
}

/// One named field.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(transparent)]
pub struct TransparentNamed {
    /// Words of the field.
    pub inner: String,
}

/// One field.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(transparent)]
pub struct TransparentTuple(pub Vec<String>);

/// One field, and one that does not count.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(transparent)]
pub struct TransparentSkipped {
    #[schemars(range(min = 3))]
    pub inner: i32,
    #[serde(skip)]
    pub marker: std::marker::PhantomData<String>,
}

/// Perhaps one.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(transparent)]
pub struct TransparentOption(pub Option<One>);

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(transparent)]
pub struct TransparentBare {
    /// Words of the field alone.
    pub inner: One,
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct TransparentMaybe(pub Option<String>);

/// schemars alone sees through it.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[schemars(transparent)]
pub struct TransparentBySchema {
    pub inner: String,
}

/// Types that are read from others.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "serde.example.com", version = "v1", kind = "Conversions")]
pub struct ConversionsSpec {
    pub both: Both,
    pub tried: Tried,
    pub only_from: OnlyFrom,
    pub only_into: OnlyInto,
    pub object: FromObject,
    pub maybe: Option<Tried>,
}

/// Read from a text and written as one.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(from = "String", into = "String")]
pub struct Both {
    pub parsed: i32,
}

impl From<String> for Both {
    fn from(text: String) -> Self {
        Self { parsed: text.parse().unwrap_or_default() }
    }
}

impl From<Both> for String {
    fn from(value: Both) -> Self {
        value.parsed.to_string()
    }
}

/// Read from a text, perhaps.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
pub struct Tried(u64);

impl TryFrom<String> for Tried {
    type Error = <u64 as FromStr>::Err;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse().map(Self)
    }
}

impl From<Tried> for String {
    fn from(value: Tried) -> Self {
        value.0.to_string()
    }
}

/// Read from a number, written as an object.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(from = "i16")]
pub struct OnlyFrom {
    pub value: i16,
}

impl From<i16> for OnlyFrom {
    fn from(value: i16) -> Self {
        Self { value }
    }
}

/// Read from an object, written as a number.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(into = "i16")]
pub struct OnlyInto {
    pub value: i16,
}

impl From<OnlyInto> for i16 {
    fn from(value: OnlyInto) -> Self {
        value.value
    }
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(from = "One")]
pub struct FromObject {
    pub sum: i32,
}

impl From<One> for FromObject {
    fn from(one: One) -> Self {
        Self { sum: one.one_word + one.http2_port }
    }
}

/// Fields that other modules write; schemars has to be told.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "serde.example.com", version = "v1", kind = "WithModules")]
pub struct WithModulesSpec {
    #[serde(with = "text_number")]
    #[schemars(with = "String")]
    pub number: u32,
    #[serde(serialize_with = "text_number::serialize", deserialize_with = "text_number::deserialize")]
    #[schemars(with = "String")]
    pub split: u32,
    #[serde(with = "text_number")]
    #[schemars(with = "Option<String>")]
    pub optional: u32,
    #[serde(default, skip_serializing, deserialize_with = "text_number::deserialize")]
    #[schemars(with = "Option<String>")]
    pub defaulted: u32,
    #[serde(deserialize_with = "text_number::deserialize")]
    pub unannounced: u32,
    #[serde(with = "text_number")]
    #[schemars(with = "Vec<One>")]
    pub list: u32,
}

/// A number as text.
pub mod text_number {
    use super::{Deserialize, Deserializer, Serializer};

    pub fn serialize<S: Serializer>(value: &u32, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(&value.to_string())
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<u32, D::Error> {
        Ok(String::deserialize(from)?.parse().unwrap_or_default())
    }
}

/// Structs that refuse unknown fields.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "serde.example.com", version = "v1", kind = "Strictness")]
#[serde(deny_unknown_fields)]
pub struct StrictnessSpec {
    pub strict: StrictPart,
    pub empty: StrictEmpty,
    pub choice: StrictChoice,
    pub map: BTreeMap<String, StrictPart>,
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StrictPart {
    pub value: i32,
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StrictEmpty {}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "lowercase")]
pub enum StrictChoice {
    One { one: i32 },
    Two(StrictPart),
}

/// Options that have to be there, and others that need not.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "serde.example.com", version = "v1", kind = "Presence")]
pub struct PresenceSpec {
    pub plain: Option<String>,
    #[schemars(required)]
    pub required: Option<String>,
    #[serde(default)]
    #[schemars(required)]
    pub required_and_defaulted: Option<String>,
    #[serde(default)]
    pub defaulted: String,
    #[serde(deserialize_with = "present")]
    pub custom: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(required)]
    pub required_and_left_out: Option<One>,
    #[schemars(required)]
    pub required_list: Vec<String>,
}

fn present<'de, D: Deserializer<'de>>(from: D) -> Result<Option<String>, D::Error> {
    String::deserialize(from).map(Some)
}

/// Attributes spread over many lines and under conditions.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "serde.example.com", version = "v1", kind = "Spread")]
#[serde(rename_all = "camelCase")]
#[serde(deny_unknown_fields)]
#[cfg_attr(all(), serde(default))]
#[derive(Default)]
pub struct SpreadSpec {
    #[serde(rename = "a")]
    #[serde(default)]
    #[serde(skip_serializing_if = "String::is_empty")]
    pub first: String,
    #[cfg(not(any()))]
    pub there_always: i32,
    #[cfg(any())]
    pub there_never: Missing,
    #[cfg_attr(all(), serde(rename = "conditional"))]
    pub under_condition: i32,
    #[cfg_attr(any(), serde(rename = "never"))]
    pub never_renamed: i32,
}

/// Remote types that schemars is given another for.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "serde.example.com", version = "v1", kind = "Remotes")]
pub struct RemotesSpec {
    #[serde(with = "PointDef")]
    pub point: Point,
}

/// A type that knows nothing of serde.
#[derive(Clone, Debug)]
pub struct Point {
    pub x: i32,
    pub y: i32,
}

/// How a point is written.
#[derive(Deserialize, Serialize, JsonSchema)]
#[serde(remote = "Point", rename_all = "UPPERCASE")]
pub struct PointDef {
    /// To the right.
    pub x: i32,
    pub y: i32,
}

/// Rust's own attributes beside.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "serde.example.com", version = "v1", kind = "Beside")]
#[non_exhaustive]
#[must_use]
#[allow(deprecated)]
pub struct BesideSpec {
    #[deprecated(note = "use `new`")]
    pub old: Option<String>,
    #[allow(dead_code)]
    #[doc(hidden)]
    pub hidden: String,
    #[doc(alias = "alias")]
    pub new: String,
}

/// A struct that writes its own name.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "serde.example.com", version = "v1", kind = "StructTag")]
pub struct StructTagSpec {
    pub part: TaggedPart,
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(tag = "type")]
pub struct TaggedPart {
    pub value: i32,
}
