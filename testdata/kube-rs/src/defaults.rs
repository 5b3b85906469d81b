//! Defaults in every form that a schema shows.

use std::collections::{BTreeMap, BTreeSet};

use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The default of each type.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "defaults.example.com", version = "v1", kind = "BareDefaults")]
#[serde(rename_all = "camelCase")]
pub struct BareDefaultsSpec {
    #[serde(default)]
    pub text: String,
    #[serde(default)]
    pub number: i32,
    #[serde(default)]
    pub unsigned: u64,
    #[serde(default)]
    pub fraction: f64,
    #[serde(default)]
    pub flag: bool,
    #[serde(default)]
    pub letter: char,
    #[serde(default)]
    pub list: Vec<String>,
    #[serde(default)]
    pub map: BTreeMap<String, i32>,
    #[serde(default)]
    pub set: BTreeSet<String>,
    #[serde(default)]
    pub maybe: Option<String>,
    #[serde(default)]
    pub boxed: Box<i64>,
    #[serde(default)]
    pub array: [u8; 3],
    #[serde(default)]
    pub nested: Inner,
    #[serde(default)]
    pub level: Level,
}

/// With a derived default.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Inner {
    pub some_text: String,
    #[serde(default)]
    pub some_number: u8,
    pub maybe: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub left_out: Option<i32>,
    pub level: Level,
}

/// A level with a default variant.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Level {
    Low,
    #[default]
    JustRight,
    High,
}

/// Functions that return literals.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "defaults.example.com", version = "v1", kind = "FunctionDefaults")]
#[serde(rename_all = "camelCase")]
pub struct FunctionDefaultsSpec {
    #[serde(default = "text_to_string")]
    pub to_string: String,
    #[serde(default = "text_into")]
    pub into: String,
    #[serde(default = "text_from")]
    pub from: String,
    #[serde(default = "text_to_owned")]
    pub to_owned: String,
    #[serde(default = "text_returned")]
    pub returned: String,
    #[serde(default = "number")]
    pub number: i32,
    #[serde(default = "negative")]
    pub negative: i64,
    #[serde(default = "fraction")]
    pub fraction: f64,
    #[serde(default = "single")]
    pub single: f32,
    #[serde(default = "default_true")]
    pub flag: bool,
    #[serde(default = "Limits::burst")]
    pub method: u32,
    #[serde(default = "functions::seconds")]
    pub in_module: u64,
    #[serde(default = "crate::defaults::functions::seconds")]
    pub absolute: u64,
    #[serde(default = "constant")]
    pub constant: u16,
    #[serde(default = "constant_text")]
    pub constant_text: String,
    #[serde(default = "some_text")]
    pub some: Option<String>,
    #[serde(default = "none")]
    pub none: Option<String>,
    #[serde(default = "letter")]
    pub letter: char,
    #[serde(default = "computed")]
    pub computed: u64,
}

fn text_to_string() -> String {
    "to_string".to_string()
}

fn text_into() -> String {
    "into".into()
}

fn text_from() -> String {
    String::from("from")
}

fn text_to_owned() -> String {
    "to_owned".to_owned()
}

#[allow(clippy::needless_return)]
fn text_returned() -> String {
    return "returned".to_string();
}

fn number() -> i32 {
    1_000
}

const fn negative() -> i64 {
    -7
}

fn fraction() -> f64 {
    0.25
}

fn single() -> f32 {
    0.1
}

fn default_true() -> bool {
    true
}

pub const PORT: u16 = 8080;
const NAME: &str = "a name";
const DAY: u64 = 24 * 60 * 60;

fn constant() -> u16 {
    PORT
}

fn constant_text() -> String {
    NAME.to_string()
}

fn some_text() -> Option<String> {
    Some("some".to_string())
}

fn none() -> Option<String> {
    None
}

fn letter() -> char {
    'x'
}

fn computed() -> u64 {
    DAY * 7 + 1
}

pub struct Limits;

impl Limits {
    pub const MAXIMUM: i32 = 100;

    pub fn burst() -> u32 {
        10
    }
}

pub mod functions {
    pub fn seconds() -> u64 {
        30
    }
}

/// Functions that return lists, maps and structs.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "defaults.example.com", version = "v1", kind = "CompoundDefaults")]
#[serde(rename_all = "camelCase")]
pub struct CompoundDefaultsSpec {
    #[serde(default = "list")]
    pub list: Vec<String>,
    #[serde(default = "empty_list")]
    pub empty_list: Vec<String>,
    #[serde(default = "repeated")]
    pub repeated: Vec<u8>,
    #[serde(default = "structure")]
    pub structure: Inner,
    #[serde(default = "updated")]
    pub updated: Inner,
    #[serde(default = "variant")]
    pub variant: Level,
    #[serde(default = "choice")]
    pub choice: Choice,
    #[serde(default = "map")]
    pub map: BTreeMap<String, i32>,
    #[serde(default = "set")]
    pub set: BTreeSet<String>,
    #[serde(default = "array")]
    pub array: [i32; 3],
    #[serde(default = "boxed")]
    pub boxed: Box<Inner>,
    #[serde(default = "several")]
    pub several: Vec<Inner>,
    #[serde(default = "Inner::default")]
    pub by_path: Inner,
    #[serde(default = "Vec::<i32>::new")]
    pub new_list: Vec<i32>,
    #[serde(default = "newtype")]
    pub newtype: Name,
}

/// A name.
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
pub struct Name(pub String);

/// A choice between two.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Choice {
    Number(i32),
    Both { first_one: i32, second_one: String },
}

fn list() -> Vec<String> {
    vec!["a".to_string(), "b".into()]
}

fn empty_list() -> Vec<String> {
    vec![]
}

fn repeated() -> Vec<u8> {
    vec![7; 3]
}

fn structure() -> Inner {
    Inner {
        some_text: "text".to_string(),
        some_number: 3,
        maybe: Some(1),
        left_out: None,
        level: Level::High,
    }
}

fn updated() -> Inner {
    Inner { some_text: "updated".into(), left_out: Some(2), ..Default::default() }
}

fn variant() -> Level {
    Level::Low
}

fn choice() -> Choice {
    Choice::Both { first_one: 1, second_one: "two".to_string() }
}

fn map() -> BTreeMap<String, i32> {
    BTreeMap::from([("one".to_string(), 1), ("two".to_string(), 2)])
}

fn set() -> BTreeSet<String> {
    BTreeSet::from(["b".to_string(), "a".to_string()])
}

fn array() -> [i32; 3] {
    [3, 2, 1]
}

fn boxed() -> Box<Inner> {
    Box::new(Inner::default())
}

fn several() -> Vec<Inner> {
    vec![Inner::default(), structure()]
}

fn newtype() -> Name {
    Name("new".to_string())
}

/// Defaults of the whole container, derived.
#[derive(CustomResource, Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[kube(group = "defaults.example.com", version = "v1", kind = "ContainerDefaults")]
#[serde(default, rename_all = "camelCase")]
pub struct ContainerDefaultsSpec {
    pub text: String,
    pub some_number: i32,
    pub maybe: Option<String>,
    pub list: Vec<u8>,
    pub level: Level,
    pub inner: Inner,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub left_out: Option<String>,
    #[serde(default = "number")]
    pub own: i32,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub empty: Vec<String>,
}

/// Defaults of the whole container, written by hand.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "defaults.example.com", version = "v1", kind = "HandDefaults")]
#[serde(default, rename_all = "camelCase")]
pub struct HandDefaultsSpec {
    pub replicas: i32,
    pub image: String,
    pub timeout_seconds: u64,
    pub level: Level,
    pub labels: BTreeMap<String, String>,
    pub maximum: i32,
    pub inner: Inner,
    pub args: Vec<String>,
    pub maybe: Option<u16>,
    pub nothing: Option<u16>,
}

impl Default for HandDefaultsSpec {
    fn default() -> Self {
        Self {
            replicas: 3,
            image: "example.com/image:1.0".to_string(),
            timeout_seconds: functions::seconds(),
            level: Level::High,
            labels: BTreeMap::new(),
            maximum: Limits::MAXIMUM,
            inner: Inner { some_text: String::from("hand"), ..Inner::default() },
            args: vec!["--verbose".to_string()],
            maybe: Some(PORT),
            nothing: None,
        }
    }
}

/// Defaults of the whole container from a function.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "defaults.example.com", version = "v1", kind = "PathDefaults")]
#[serde(default = "path_defaults")]
pub struct PathDefaultsSpec {
    pub size: u32,
    pub name: String,
    #[serde(default)]
    pub own: u32,
}

fn path_defaults() -> PathDefaultsSpec {
    PathDefaultsSpec { size: 5, name: "five".to_string(), own: 6 }
}

/// Defaults that are left out where they would not be written.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "defaults.example.com", version = "v1", kind = "SkippedDefaults")]
#[serde(rename_all = "camelCase")]
pub struct SkippedDefaultsSpec {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub maybe: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub list: Vec<String>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub map: BTreeMap<String, String>,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub text: String,
    #[serde(default = "list", skip_serializing_if = "Vec::is_empty")]
    pub filled: Vec<String>,
    #[serde(default, skip_serializing_if = "is_false")]
    pub flag: bool,
    #[serde(default = "default_true", skip_serializing_if = "is_false")]
    pub set_flag: bool,
    #[serde(default, skip_serializing_if = "is_default")]
    pub inner: Inner,
    #[serde(default = "some_text", skip_serializing_if = "Option::is_none")]
    pub some: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub required_list: Vec<String>,
    #[serde(default, skip_serializing)]
    pub never_written: i32,
    #[serde(default, skip_deserializing)]
    pub never_read: i32,
    #[serde(default, skip)]
    pub neither: i32,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub negated: bool,
}

fn is_false(value: &bool) -> bool {
    !value
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// Defaults of enums.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "defaults.example.com", version = "v1", kind = "EnumDefaults")]
#[serde(rename_all = "camelCase")]
pub struct EnumDefaultsSpec {
    #[serde(default)]
    pub level: Level,
    #[serde(default)]
    pub maybe: Option<Level>,
    #[serde(default)]
    pub renamed: Renamed,
    #[serde(default)]
    pub by_hand: ByHand,
    #[serde(default)]
    pub data: Data,
    #[serde(default)]
    pub levels: Vec<Level>,
    #[serde(default = "levels")]
    pub some_levels: Vec<Level>,
}

fn levels() -> Vec<Level> {
    vec![Level::Low, Level::High]
}

/// Variants with names of their own.
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
pub enum Renamed {
    #[default]
    #[serde(rename = "the first")]
    First,
    #[serde(rename(serialize = "second", deserialize = "SECOND"))]
    Second,
}

/// The default stands in an impl.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum ByHand {
    OneThing,
    OtherThing,
}

#[allow(clippy::derivable_impls, reason = "read from the impl")]
impl Default for ByHand {
    fn default() -> Self {
        ByHand::OtherThing
    }
}

/// The default carries data.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Data {
    Inline(String),
    Reference { name: String },
}

impl Default for Data {
    fn default() -> Self {
        Self::Inline(String::new())
    }
}

/// A default that schemars is told of.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "defaults.example.com", version = "v1", kind = "SchemaDefaults")]
pub struct SchemaDefaultsSpec {
    #[schemars(default)]
    pub bare: String,
    #[schemars(default = "number")]
    pub function: i32,
    #[serde(default = "number")]
    #[schemars(default = "other_number")]
    pub overridden: i32,
    #[serde(default)]
    #[schemars(!default)]
    pub removed: i32,
    #[schemars(extend("default" = 42))]
    pub extended: i32,
}

fn other_number() -> i32 {
    2_000
}

/// Structs with defaults in lists, maps and options.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "defaults.example.com", version = "v1", kind = "NestedDefaults")]
pub struct NestedDefaultsSpec {
    pub list: Vec<Part>,
    pub map: BTreeMap<String, Part>,
    pub maybe: Option<Part>,
    pub part: Part,
    #[serde(default)]
    pub defaulted: Part,
}

/// A part with defaults.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(default, rename_all = "camelCase")]
pub struct Part {
    pub protocol: Protocol,
    pub target_port: u16,
    pub tags: Vec<String>,
    pub inner: Option<Inner>,
}

impl Default for Part {
    fn default() -> Self {
        Part { protocol: Protocol::default(), target_port: PORT, tags: Vec::new(), inner: None }
    }
}

/// A protocol.
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "UPPERCASE")]
pub enum Protocol {
    /// Transmission control.
    #[default]
    Tcp,
    /// Datagrams.
    Udp,
}
