//! Lists, maps, sets, arrays, tuples and what wraps a type.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap, HashMap, HashSet, LinkedList, VecDeque};
use std::rc::Rc;
use std::sync::Arc;

use indexmap::{IndexMap, IndexSet};
use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Lists of all kinds.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "collections.example.com", version = "v1", kind = "Lists")]
#[serde(rename_all = "camelCase")]
pub struct ListsSpec {
    pub texts: Vec<String>,
    pub numbers: Vec<i64>,
    pub items: Vec<Item>,
    /// With words of its own.
    pub described: Vec<Item>,
    pub deque: VecDeque<String>,
    pub linked: LinkedList<u8>,
    pub maybe: Option<Vec<String>>,
    pub holes: Vec<Option<String>>,
    pub nested: Vec<Vec<Vec<bool>>>,
    pub slice: Box<[String]>,
    pub bytes: Vec<u8>,
}

/// One item.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize, Serialize, JsonSchema)]
pub struct Item {
    /// Its key.
    pub key: String,
    pub value: Option<String>,
}

/// Sets of all kinds.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "collections.example.com", version = "v1", kind = "Sets")]
pub struct SetsSpec {
    pub tree: BTreeSet<String>,
    pub hash: HashSet<i32>,
    pub items: BTreeSet<Item>,
    pub maybe: Option<BTreeSet<u8>>,
    pub index: IndexSet<String>,
    pub in_a_list: Vec<HashSet<String>>,
}

/// Maps with text for keys.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "collections.example.com", version = "v1", kind = "Maps")]
#[serde(rename_all = "camelCase")]
pub struct MapsSpec {
    pub tree: BTreeMap<String, String>,
    pub hash: HashMap<String, i32>,
    pub index: IndexMap<String, bool>,
    pub items: BTreeMap<String, Item>,
    pub lists: BTreeMap<String, Vec<Item>>,
    pub maps: BTreeMap<String, BTreeMap<String, u8>>,
    pub maybe: Option<HashMap<String, String>>,
    pub holes: BTreeMap<String, Option<String>>,
    pub borrowed: BTreeMap<Cow<'static, str>, Cow<'static, str>>,
    pub boxed: HashMap<Box<str>, Box<str>>,
    pub anything: BTreeMap<String, serde_json::Value>,
}

/// A key that is a name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize, Serialize, JsonSchema)]
pub struct Key(pub String);

/// Maps whose keys are other types that are texts.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "collections.example.com", version = "v1", kind = "TextKeys")]
#[serde(rename_all = "camelCase")]
pub struct TextKeysSpec {
    pub newtype: BTreeMap<Key, String>,
    pub path: BTreeMap<std::path::PathBuf, String>,
    pub address: BTreeMap<std::net::IpAddr, String>,
    pub letter: BTreeMap<char, String>,
}

/// Arrays of fixed length.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "collections.example.com", version = "v1", kind = "Arrays")]
pub struct ArraysSpec {
    pub three: [String; 3],
    pub one: [u8; 1],
    pub constant: [i32; LENGTH],
    pub matrix: [[f64; 2]; 2],
    pub maybe: Option<[bool; 4]>,
    pub items: [Item; 2],
    pub sum: [u8; 2 + 3],
    pub product: [u8; LENGTH * 2],
}

pub const LENGTH: usize = 6;

/// What wraps a type and leaves no trace.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "collections.example.com", version = "v1", kind = "Wrapped")]
#[serde(rename_all = "camelCase")]
pub struct WrappedSpec {
    pub boxed: Box<Item>,
    pub text: Box<str>,
    pub cow: Cow<'static, str>,
    pub maybe_boxed: Option<Box<Item>>,
    pub boxed_maybe: Box<Option<Item>>,
    pub wrapping: std::num::Wrapping<i32>,
    pub cell: std::cell::Cell<i32>,
    pub ref_cell: std::cell::RefCell<String>,
}

/// Options in options.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "collections.example.com", version = "v1", kind = "Nestings")]
#[serde(rename_all = "camelCase")]
pub struct NestingsSpec {
    pub twice: Option<Option<String>>,
    pub list: Option<Vec<Option<Vec<Option<Item>>>>>,
    #[allow(clippy::type_complexity)]
    pub map: Option<BTreeMap<String, Option<BTreeMap<String, Option<Item>>>>>,
    pub wide: BTreeMap<String, Vec<BTreeMap<String, Vec<String>>>>,
    pub unwrapped: Box<Box<Box<String>>>,
}

/// Heaps and small vectors.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "collections.example.com", version = "v1", kind = "Foreign")]
pub struct ForeignSpec {
    pub heap: BinaryHeap<i32>,
    pub nested: IndexMap<String, IndexSet<u16>>,
    pub qualified: indexmap::IndexMap<String, indexmap::IndexMap<String, Item>>,
}

/// References that count, which schemars sees through; serde needs a feature for them.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "collections.example.com", version = "v1", kind = "Counted")]
pub struct CountedSpec {
    #[serde(with = "counted")]
    #[schemars(with = "Arc<String>")]
    pub shared: Arc<String>,
    #[serde(with = "counted")]
    #[schemars(with = "Option<Rc<Item>>")]
    pub maybe: Arc<String>,
}

/// How a shared text is written.
pub mod counted {
    use std::sync::Arc;

    use serde::{Deserialize, Deserializer, Serializer};

    pub fn serialize<S: Serializer>(value: &str, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(value)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Arc<String>, D::Error> {
        String::deserialize(from).map(Arc::new)
    }
}

/// Ranges, results and bounds.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "collections.example.com", version = "v1", kind = "Ranges")]
pub struct RangesSpec {
    pub range: std::ops::Range<i32>,
    pub inclusive: std::ops::RangeInclusive<u8>,
    pub result: Result<String, i32>,
}

/// Maps whose keys are variants: what schemars knows of them are properties.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "collections.example.com", version = "v1", kind = "VariantKeys")]
pub struct VariantKeysSpec {
    pub limits: BTreeMap<Resource, String>,
    pub objects: HashMap<Resource, Item>,
    pub maybe: Option<BTreeMap<Resource, i32>>,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Resource {
    Cpu,
    Memory,
    EphemeralStorage,
}
