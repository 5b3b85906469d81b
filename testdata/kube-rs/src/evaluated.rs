//! Values that have to be worked out: constants, constructors, functions of functions.

#![allow(
    clippy::nonminimal_bool,
    clippy::unnecessary_map_on_constructor,
    clippy::useless_format,
    reason = "people write it so"
)]

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::net::{IpAddr, Ipv4Addr};
use std::num::NonZeroU32;
use std::path::PathBuf;
use std::time::Duration;

use k8s_openapi::api::core::v1::{EnvVar, LocalObjectReference, ResourceRequirements, Toleration};
use k8s_openapi::apimachinery::pkg::api::resource::Quantity;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::LabelSelector;
use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Constants and arithmetic.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "evaluated.example.com", version = "v1", kind = "Arithmetic")]
#[serde(rename_all = "camelCase")]
pub struct ArithmeticSpec {
    #[serde(default = "numbers::hexadecimal")]
    pub hexadecimal: u32,
    #[serde(default = "numbers::octal")]
    pub octal: u32,
    #[serde(default = "numbers::binary")]
    pub binary: u8,
    #[serde(default = "numbers::maximum")]
    pub maximum: u16,
    #[serde(default = "numbers::cast")]
    pub cast: i64,
    #[serde(default = "numbers::shifted")]
    pub shifted: u64,
    #[serde(default = "numbers::divided")]
    pub divided: i32,
    #[serde(default = "numbers::negated")]
    pub negated: bool,
    #[serde(default = "numbers::float")]
    pub float: f64,
    #[serde(default = "numbers::float_constant")]
    pub float_constant: f32,
    #[serde(default = "numbers::byte")]
    pub byte: u8,
    #[serde(default = "numbers::associated")]
    pub associated: u8,
    #[serde(default = "numbers::of_another")]
    pub of_another: u32,
    #[serde(default = "numbers::called")]
    pub called: u32,
    #[serde(default = "numbers::nonzero")]
    pub nonzero: NonZeroU32,
    #[serde(default = "numbers::large")]
    pub large: u64,
    #[serde(default = "i32::default")]
    pub by_trait: i32,
    #[schemars(range(min = numbers::LOW, max = (1 << 10) - 1))]
    pub bounded: u16,
    #[schemars(range(max = u8::MAX as i32))]
    pub cast_bound: i32,
}

pub const NAMES: [&str; 3] = ["a", "b", "c"];

pub mod numbers {
    use std::num::NonZeroU32;

    pub const LOW: u16 = 1;
    const SECONDS: u64 = 60;
    const HOUR: u64 = SECONDS * super::MINUTES;
    static STATIC: u32 = 12;

    pub fn hexadecimal() -> u32 {
        0xFF
    }

    pub fn octal() -> u32 {
        0o644
    }

    pub fn binary() -> u8 {
        0b1010_0001
    }

    pub fn maximum() -> u16 {
        u16::MAX
    }

    pub fn cast() -> i64 {
        HOUR as i64
    }

    pub fn shifted() -> u64 {
        64 << 20
    }

    pub fn divided() -> i32 {
        (100 - 1) / 2 % 10
    }

    pub fn negated() -> bool {
        !false
    }

    pub fn float() -> f64 {
        1.5e3
    }

    pub fn float_constant() -> f32 {
        0.5 * 3.0
    }

    pub fn byte() -> u8 {
        b'a'
    }

    pub fn associated() -> u8 {
        Limit::HIGHEST
    }

    pub fn of_another() -> u32 {
        octal()
    }

    pub fn called() -> u32 {
        STATIC
    }

    pub fn nonzero() -> NonZeroU32 {
        NonZeroU32::MIN
    }

    pub fn large() -> u64 {
        i64::MAX as u64
    }

    pub struct Limit;

    impl Limit {
        pub const HIGHEST: u8 = Self::LOWEST + 9;
        const LOWEST: u8 = 1;
    }
}

pub const MINUTES: u64 = 60;

/// Texts.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "evaluated.example.com", version = "v1", kind = "TextValues")]
#[serde(rename_all = "camelCase")]
pub struct TextValuesSpec {
    #[serde(default = "texts::formatted")]
    pub formatted: String,
    #[serde(default = "texts::with_values")]
    pub with_values: String,
    #[serde(default = "texts::concatenated")]
    pub concatenated: String,
    #[serde(default = "texts::continued")]
    pub continued: String,
    #[serde(default = "texts::raw")]
    pub raw: String,
    #[serde(default = "texts::empty")]
    pub empty: String,
    #[serde(default = "texts::path")]
    pub path: PathBuf,
    #[serde(default = "texts::letter")]
    pub letter: char,
    #[serde(default = "texts::borrowed")]
    pub borrowed: std::borrow::Cow<'static, str>,
    #[serde(default = "texts::boxed")]
    pub boxed: Box<str>,
    #[serde(default = "texts::by_function")]
    pub by_function: String,
    #[serde(default = "texts::escaped")]
    pub escaped: String,
    #[serde(default = "texts::version")]
    pub version: String,
    #[serde(default = "texts::mapped")]
    pub mapped: Option<String>,
}

pub mod texts {
    use std::borrow::Cow;
    use std::path::PathBuf;

    const HOST: &str = "example.com";
    const PORT: u16 = 443;

    pub fn formatted() -> String {
        format!("plain")
    }

    pub fn with_values() -> String {
        format!("https://{}:{PORT}/{}", HOST, "path")
    }

    pub fn concatenated() -> String {
        concat!("a", 1, true, 'c').to_string()
    }

    pub fn continued() -> String {
        "first \
         second"
            .to_string()
    }

    pub fn raw() -> String {
        r#"{"a": "b"}"#.to_string()
    }

    pub fn empty() -> String {
        String::new()
    }

    pub fn path() -> PathBuf {
        "/etc/app".into()
    }

    pub fn letter() -> char {
        '\u{1F980}'
    }

    pub fn borrowed() -> Cow<'static, str> {
        Cow::Borrowed("borrowed")
    }

    pub fn boxed() -> Box<str> {
        "boxed".into()
    }

    pub fn by_function() -> String {
        name().to_string()
    }

    const fn name() -> &'static str {
        HOST
    }

    pub fn escaped() -> String {
        "tab\tline\nquote\"unicode\u{e9}nul\x41".to_owned()
    }

    pub fn version() -> String {
        String::from(super::VERSION)
    }

    pub fn mapped() -> Option<String> {
        Some("mapped").map(String::from)
    }
}

pub const VERSION: &str = concat!("v", 1, ".", 2);

/// Lists, sets and maps.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "evaluated.example.com", version = "v1", kind = "CollectionValues")]
#[serde(rename_all = "camelCase")]
pub struct CollectionValuesSpec {
    #[serde(default = "collections::from_array")]
    pub from_array: Vec<String>,
    #[serde(default = "collections::to_vec")]
    pub to_vec: Vec<i32>,
    #[serde(default = "collections::collected")]
    pub collected: Vec<String>,
    #[serde(default = "collections::mapped")]
    pub mapped: Vec<String>,
    #[serde(default = "collections::constant")]
    pub constant: Vec<String>,
    #[serde(default = "collections::inserted")]
    pub inserted: BTreeMap<String, String>,
    #[serde(default = "collections::map_from")]
    pub map_from: HashMap<String, i32>,
    #[serde(default = "collections::map_into")]
    pub map_into: BTreeMap<String, bool>,
    #[serde(default = "collections::map_collected")]
    pub map_collected: BTreeMap<String, String>,
    #[serde(default = "collections::set_collected")]
    pub set_collected: BTreeSet<i32>,
    #[serde(default = "collections::new_map")]
    pub new_map: BTreeMap<String, i32>,
    #[serde(default = "collections::nested")]
    pub nested: Vec<Vec<u8>>,
    #[serde(default = "collections::structs")]
    pub structs: Vec<Server>,
    #[serde(default = "collections::array")]
    pub array: [bool; 3],
    #[serde(default = "collections::pushed")]
    pub pushed: Vec<String>,
}

pub mod collections {
    use std::collections::{BTreeMap, BTreeSet, HashMap};

    use super::{NAMES, Server};

    pub fn from_array() -> Vec<String> {
        Vec::from(["a".to_string(), "b".to_string()])
    }

    pub fn to_vec() -> Vec<i32> {
        [1, 2, 3].to_vec()
    }

    pub fn collected() -> Vec<String> {
        ["x", "y"].iter().map(|name| name.to_string()).collect()
    }

    pub fn mapped() -> Vec<String> {
        ["x", "y"].map(String::from).to_vec()
    }

    pub fn constant() -> Vec<String> {
        NAMES.iter().map(ToString::to_string).collect()
    }

    pub fn inserted() -> BTreeMap<String, String> {
        let mut map = BTreeMap::new();
        map.insert("one".to_string(), "1".to_string());
        map.insert("two".into(), "2".into());
        map
    }

    pub fn map_from() -> HashMap<String, i32> {
        HashMap::from([("only".to_string(), 1)])
    }

    pub fn map_into() -> BTreeMap<String, bool> {
        [("on".to_string(), true)].into()
    }

    pub fn map_collected() -> BTreeMap<String, String> {
        [("a", "b"), ("c", "d")]
            .into_iter()
            .map(|(key, value)| (key.to_string(), value.to_string()))
            .collect()
    }

    pub fn set_collected() -> BTreeSet<i32> {
        [3, 1, 2].into_iter().collect()
    }

    pub fn new_map() -> BTreeMap<String, i32> {
        Default::default()
    }

    pub fn nested() -> Vec<Vec<u8>> {
        vec![vec![1], vec![], vec![2, 3]]
    }

    pub fn structs() -> Vec<Server> {
        vec![Server::new("a", 1), Server::default(), Server { port: 2, ..Server::new("b", 3) }]
    }

    pub fn array() -> [bool; 3] {
        [true; 3]
    }

    pub fn pushed() -> Vec<String> {
        let mut list = Vec::with_capacity(2);
        list.push("pushed".to_string());
        list
    }
}

/// A server.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct Server {
    pub host: String,
    pub port: u16,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
}

impl Server {
    pub fn new(host: &str, port: u16) -> Self {
        Self { host: host.to_string(), port, path: None }
    }

    pub fn with_path(mut self, path: impl Into<String>) -> Self {
        self.path = Some(path.into());
        self
    }

    fn local() -> Self {
        let host = "localhost".to_string();
        let port = 8000 + 80;
        Self { host, port, path: Some("/".into()) }
    }
}

impl Default for Server {
    fn default() -> Self {
        Self::local()
    }
}

/// Structs by constructors.
#[derive(CustomResource, Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[kube(group = "evaluated.example.com", version = "v1", kind = "Constructed")]
#[serde(default, rename_all = "camelCase")]
pub struct ConstructedSpec {
    pub server: Server,
    #[serde(default = "constructed")]
    pub constructed: Server,
    #[serde(default = "built")]
    pub built: Server,
    pub derived: Derived,
    pub generic: Holder<Server>,
    #[serde(default = "Level::start")]
    pub level: Level,
    #[serde(default = "both")]
    pub both: Pair,
    pub pair: Pair,
}

fn constructed() -> Server {
    Server::new("constructed", 9)
}

fn built() -> Server {
    Server::new("built", 10)
}

fn both() -> Pair {
    Pair { first: constructed(), second: Some(Box::new(built())) }
}

/// Derived, with a field whose default is by hand.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Derived {
    pub the_server: Server,
    pub count: u8,
    pub level: Level,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub list: Vec<String>,
    #[serde(skip)]
    pub skipped: i32,
    #[serde(rename = "renamed")]
    pub named: bool,
    #[serde(flatten)]
    pub flat: Flat,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct Flat {
    pub from_flat: i32,
}

/// A level.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Level {
    #[default]
    VeryLow,
    VeryHigh,
}

impl Level {
    const START: Self = Level::VeryHigh;

    fn start() -> Self {
        Self::START
    }
}

/// Holds one.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct Holder<T> {
    pub held: T,
    pub more: Vec<T>,
}

/// Two servers.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct Pair {
    pub first: Server,
    pub second: Option<Box<Server>>,
}

/// Types of others.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "evaluated.example.com", version = "v1", kind = "ForeignValues")]
#[serde(rename_all = "camelCase")]
pub struct ForeignValuesSpec {
    #[serde(default = "foreign::millis")]
    pub millis: Duration,
    #[serde(default = "foreign::address")]
    pub address: IpAddr,
    #[serde(default = "foreign::four")]
    pub four: Ipv4Addr,
    #[serde(default = "foreign::resources")]
    pub resources: ResourceRequirements,
    #[serde(default)]
    pub empty_resources: ResourceRequirements,
    #[serde(default = "foreign::env")]
    pub env: Vec<EnvVar>,
    #[serde(default = "foreign::tolerations")]
    pub tolerations: Vec<Toleration>,
    #[serde(default)]
    pub selector: LabelSelector,
    #[serde(default = "foreign::reference")]
    pub reference: LocalObjectReference,
    #[serde(default = "foreign::limits")]
    pub limits: BTreeMap<String, Quantity>,
    #[serde(default = "foreign::value")]
    pub value: serde_json::Map<String, serde_json::Value>,
    #[serde(default)]
    pub quantity: Quantity,
}

pub mod foreign {
    use std::collections::BTreeMap;
    use std::net::{IpAddr, Ipv4Addr};
    use std::time::Duration;

    use k8s_openapi::api::core::v1::{EnvVar, LocalObjectReference, ResourceRequirements, Toleration};
    use k8s_openapi::apimachinery::pkg::api::resource::Quantity;

    pub fn millis() -> Duration {
        Duration::from_millis(1500)
    }

    pub fn address() -> IpAddr {
        IpAddr::V4(Ipv4Addr::new(10, 0, 0, 1))
    }

    pub fn four() -> Ipv4Addr {
        Ipv4Addr::UNSPECIFIED
    }

    pub fn resources() -> ResourceRequirements {
        ResourceRequirements {
            limits: Some(BTreeMap::from([("memory".to_string(), Quantity("64Mi".to_string()))])),
            requests: Some(limits()),
            ..Default::default()
        }
    }

    pub fn env() -> Vec<EnvVar> {
        vec![EnvVar { name: "MODE".to_string(), value: Some("fast".to_string()), ..EnvVar::default() }]
    }

    pub fn tolerations() -> Vec<Toleration> {
        vec![Toleration {
            key: Some("example.com/dedicated".into()),
            operator: Some("Exists".into()),
            toleration_seconds: Some(30),
            ..Toleration::default()
        }]
    }

    pub fn reference() -> LocalObjectReference {
        LocalObjectReference { name: "default".into() }
    }

    pub fn limits() -> BTreeMap<String, Quantity> {
        [("cpu".to_string(), Quantity("100m".into()))].into_iter().collect()
    }

    pub fn value() -> serde_json::Map<String, serde_json::Value> {
        serde_json::Map::new()
    }
}

/// Values that are known when the program is built.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "evaluated.example.com", version = "v1", kind = "BuildTime")]
pub struct BuildTimeSpec {
    #[serde(default = "package")]
    pub package: String,
    #[serde(default = "major")]
    pub major: Option<String>,
    #[schemars(description = concat!("In ", env!("CARGO_PKG_NAME"), ' ', 5, " ", true, stringify!(word)))]
    pub text: String,
}

fn package() -> String {
    concat!(env!("CARGO_PKG_NAME"), "-", env!("CARGO_PKG_VERSION_MINOR")).to_string()
}

fn major() -> Option<String> {
    option_env!("CARGO_PKG_VERSION_MAJOR").map(|text| text.to_string())
}

/// Values that depend on others, and texts of files.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "evaluated.example.com", version = "v1", kind = "Decisions")]
pub struct DecisionsSpec {
    #[serde(default = "decisions::computed")]
    pub computed: u32,
    #[serde(default = "decisions::chosen")]
    pub chosen: String,
    #[serde(default = "decisions::matched")]
    pub matched: decisions::Mode,
    #[serde(default = "decisions::mask")]
    pub mask: u64,
    #[serde(default = "decisions::bounds")]
    pub bounds: Vec<i64>,
    #[serde(default = "decisions::holds")]
    pub holds: bool,
    #[serde(default = "decisions::fraction")]
    pub fraction: f64,
    #[serde(default = "decisions::file")]
    pub file: String,
    #[schemars(length(max = decisions::limit(true)))]
    pub bounded: String,
    #[doc = include_str!("texts/words.txt")]
    pub documented: String,
}

pub mod decisions {
    use super::{Deserialize, JsonSchema, Serialize};

    const IS_LARGE: bool = limit(false) > 10 && SIZE != 3;
    const SIZE: usize = if "fast".len() == 4 { 1 } else { 3 };
    const FAST: &str = "fast";

    #[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
    pub enum Mode {
        Fast,
        Slow,
    }

    pub const fn limit(is_long: bool) -> u32 {
        if is_long { 64 * 4 } else { 2_u32.pow(4) }
    }

    const fn steps(count: u8) -> u32 {
        match count {
            0 | 1 => 10,
            2 => 20,
            _ => 30,
        }
    }

    pub fn computed() -> u32 {
        steps(1) + steps(2) + steps(7).max(5)
    }

    pub fn chosen() -> String {
        let name = if IS_LARGE { "large" } else { "small" };
        format!("{name}-{}", limit(true))
    }

    pub fn matched() -> Mode {
        match FAST {
            "slow" => Mode::Slow,
            FAST => Mode::Fast,
            _ => Mode::Slow,
        }
    }

    pub fn mask() -> u64 {
        (0xff & 0x3c | 0x3) ^ 1 << 4 >> 1
    }

    pub fn bounds() -> Vec<i64> {
        vec![i64::from(steps(0)).min(3), -5, if 2 >= 1 { 7 } else { 8 }]
    }

    pub fn holds() -> bool {
        "a" < "b" && (1 == 2 || !IS_LARGE) || 1.5 <= 2.5
    }

    pub fn fraction() -> f64 {
        if IS_LARGE { 0.25_f64.max(0.5) } else { 2.0 }
    }

    pub fn file() -> String {
        include_str!("texts/words.txt").to_string()
    }
}
