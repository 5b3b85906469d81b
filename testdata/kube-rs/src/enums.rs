//! Enums in the forms that API servers take.

use std::collections::BTreeMap;

use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Unit variants.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "enums.example.com", version = "v1", kind = "Units")]
#[serde(rename_all = "camelCase")]
pub struct UnitsSpec {
    pub color: Color,
    pub maybe_color: Option<Color>,
    /// A color that the field describes.
    pub described: Color,
    /// A color that may be absent.
    pub maybe_described: Option<Color>,
    pub colors: Vec<Color>,
    pub maybe_colors: Option<Vec<Color>>,
    pub by_name: BTreeMap<String, Color>,
    pub single: Single,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize, JsonSchema)]
pub enum Color {
    Red,
    Green,
    BlueGreen,
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub enum Single {
    Only,
}

/// Unit variants with words.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "enums.example.com", version = "v1", kind = "DocumentedUnits")]
#[serde(rename_all = "camelCase")]
pub struct DocumentedUnitsSpec {
    pub size: Size,
    pub maybe_size: Option<Size>,
    /// A size that the field describes.
    pub described: Size,
    /// A size that may be absent.
    pub maybe_described: Option<Size>,
    pub sizes: Vec<Size>,
    pub partly: Partly,
    pub maybe_partly: Option<Partly>,
    pub by_name: BTreeMap<String, Partly>,
}

/// A size of clothes.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub enum Size {
    /// The small one.
    Small,
    /// The large one.
    Large,
}

/// Some variants have words.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Partly {
    FirstOne,
    /// It comes second.
    SecondOne,
    ThirdOne,
    /// And last.
    LastOne,
}

/// The words for all variants.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "enums.example.com", version = "v1", kind = "Cases")]
pub struct CasesSpec {
    pub lower: Lower,
    pub upper: Upper,
    pub pascal: Pascal,
    pub camel: Camel,
    pub snake: Snake,
    pub screaming_snake: ScreamingSnake,
    pub kebab: Kebab,
    pub screaming_kebab: ScreamingKebab,
    pub renamed: Renamed,
    pub split: Split,
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Lower {
    OneWord,
    HTTPServer,
    V1Beta2,
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "UPPERCASE")]
pub enum Upper {
    OneWord,
    HTTPServer,
    V1Beta2,
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "PascalCase")]
pub enum Pascal {
    OneWord,
    HTTPServer,
    V1Beta2,
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Camel {
    OneWord,
    HTTPServer,
    V1Beta2,
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Snake {
    OneWord,
    HTTPServer,
    V1Beta2,
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum ScreamingSnake {
    OneWord,
    HTTPServer,
    V1Beta2,
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Kebab {
    OneWord,
    HTTPServer,
    V1Beta2,
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "SCREAMING-KEBAB-CASE")]
pub enum ScreamingKebab {
    OneWord,
    HTTPServer,
    V1Beta2,
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Renamed {
    #[serde(rename = "One Word!")]
    OneWord,
    #[serde(alias = "other", alias = "another")]
    Other,
    #[serde(rename = "")]
    Empty,
    #[serde(rename = "yes")]
    Yes,
    #[serde(rename = "1.5")]
    Number,
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all(serialize = "lowercase", deserialize = "UPPERCASE"))]
pub enum Split {
    Read,
    #[serde(rename(serialize = "w"))]
    Written,
    #[serde(rename(deserialize = "b"))]
    Both,
}

/// Variants that carry data, tagged from outside.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "enums.example.com", version = "v1", kind = "External")]
#[serde(rename_all = "camelCase")]
pub struct ExternalSpec {
    pub source: Source,
    pub maybe_source: Option<Source>,
    /// What the field says.
    pub described: Source,
    pub maybe_described: Option<Source>,
    pub sources: Vec<Source>,
    pub by_name: BTreeMap<String, Source>,
    pub single: SingleData,
    pub boxed: Box<Source>,
}

/// Where it comes from.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Source {
    /// A branch of a repository.
    GitBranch {
        /// The address.
        repo_url: String,
        branch_name: Option<String>,
    },
    OciImage(String),
    /// Another one of this kind.
    ConfigMap(Reference),
    HelmChart {
        name: String,
        values: BTreeMap<String, String>,
    },
    Numbers(Vec<i32>),
    /// Said of the variant.
    Maybe(Option<String>),
    #[serde(rename = "http")]
    Web {
        #[serde(rename = "URL")]
        url: String,
        #[serde(default)]
        insecure: bool,
    },
    Empty {},
}

/// A reference.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct Reference {
    /// The name of what is referred to.
    pub name: String,
    pub namespace: Option<String>,
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub enum SingleData {
    Only(Reference),
}

/// The spec itself is an enum.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "enums.example.com", version = "v1", kind = "EnumSpec")]
#[serde(rename_all = "camelCase")]
pub enum EnumSpecSpec {
    /// By name.
    ByName(String),
    ByLabels {
        labels: BTreeMap<String, String>,
    },
}

/// Untagged variants that are structs.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "enums.example.com", version = "v1", kind = "Untagged")]
#[serde(rename_all = "camelCase")]
pub struct UntaggedSpec {
    pub target: Target,
    pub maybe_target: Option<Target>,
    pub targets: Vec<Target>,
    pub overlapping: Overlapping,
}

/// Either of two objects.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(untagged, rename_all_fields = "camelCase")]
pub enum Target {
    /// By name.
    Name {
        /// The name.
        the_name: String,
    },
    /// By labels.
    Labels {
        match_labels: BTreeMap<String, String>,
        limit: Option<u32>,
    },
    Reference(Reference),
}

/// Both have the same field.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum Overlapping {
    One { name: String, one: i32 },
    Two { name: String, two: i32 },
}

/// Untagged variants that are no objects.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "enums.example.com", version = "v1", kind = "UntaggedScalars")]
#[serde(rename_all = "camelCase")]
pub struct UntaggedScalarsSpec {
    #[schemars(extend("x-kubernetes-preserve-unknown-fields" = true))]
    pub value: TextOrFlag,
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum TextOrFlag {
    Text(String),
    Flag(bool),
}

/// Variants that are not read or written.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "enums.example.com", version = "v1", kind = "SkippedVariants")]
pub struct SkippedVariantsSpec {
    pub units: SkippedUnits,
    pub data: SkippedData,
    pub others: WithOther,
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub enum SkippedUnits {
    Kept,
    #[serde(skip)]
    Skipped,
    #[serde(skip_serializing)]
    NotWritten,
    #[serde(skip_deserializing)]
    NotRead,
    #[schemars(skip)]
    NotInTheSchema,
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub enum SkippedData {
    Kept(i32),
    #[serde(skip)]
    Skipped(i32),
    #[serde(skip_serializing)]
    NotWritten(i32),
    #[serde(skip_deserializing)]
    NotRead(i32),
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub enum WithOther {
    Known,
    #[serde(other)]
    Unknown,
}

/// A tagged enum with one variant only.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "enums.example.com", version = "v1", kind = "SingleTagged")]
pub struct SingleTaggedSpec {
    pub internal: InternalSingle,
    pub adjacent: AdjacentSingle,
    pub maybe: Option<InternalSingle>,
    pub newtype: InternalNewtype,
    pub unit: InternalUnit,
}

/// One variant, tagged inside.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(tag = "type", rename_all = "camelCase")]
pub enum InternalSingle {
    /// The only one.
    OnlyOne { value: i32 },
}

/// One variant, tagged beside.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(tag = "type", content = "data")]
pub enum AdjacentSingle {
    OnlyOne { value: i32 },
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(tag = "kind")]
pub enum InternalNewtype {
    Reference(Reference),
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(tag = "kind")]
pub enum InternalUnit {
    Nothing,
}

/// Enums that schemars is told about.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "enums.example.com", version = "v1", kind = "AnnotatedEnums")]
pub struct AnnotatedEnumsSpec {
    pub titled: Titled,
    pub extended: Extended,
    pub data: AnnotatedData,
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[schemars(title = "A title", description = "A description from schemars")]
pub enum Titled {
    #[schemars(description = "The first")]
    First,
    #[schemars(title = "Second")]
    Second,
    #[schemars(rename = "3rd")]
    Third,
    #[deprecated]
    Fourth,
}

/// Extended.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[schemars(rename_all = "lowercase")]
pub enum Extended {
    OneThing,
    OtherThing,
}

/// Data with constraints.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum AnnotatedData {
    Port(#[schemars(range(min = 1, max = 1024))] u16),
    Name(#[schemars(length(min = 1), regex(pattern = "^[a-z]+$"))] String),
    Both {
        #[schemars(range(min = 0))]
        number: i32,
        #[schemars(length(max = 9))]
        text: String,
    },
}

/// Numbers for variants make no difference.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "enums.example.com", version = "v1", kind = "Numbered")]
pub struct NumberedSpec {
    pub numbered: NumberedUnits,
    pub raw: RawNames,
}

#[derive(Clone, Copy, Debug, Deserialize, Serialize, JsonSchema)]
#[repr(u8)]
pub enum NumberedUnits {
    One = 1,
    Two = 2,
    Ten = 10,
}

#[derive(Clone, Copy, Debug, Deserialize, Serialize, JsonSchema)]
#[allow(non_camel_case_types)]
pub enum RawNames {
    r#type,
    r#Yes,
}

/// Enums in enums.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "enums.example.com", version = "v1", kind = "NestedEnums")]
pub struct NestedEnumsSpec {
    pub outer: Outer,
}

/// The outer one.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Outer {
    /// With an inner one.
    Inner(Source),
    Unit(Color),
    MaybeUnit(Option<Color>),
    List(Vec<Target>),
    Fields {
        color: Option<Color>,
        source: Source,
    },
}

/// An option in an option.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "enums.example.com", version = "v1", kind = "NestedOption")]
pub struct NestedOptionSpec {
    pub choice: Option<Option<Source>>,
}
