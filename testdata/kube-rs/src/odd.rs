//! Attributes together that each change the other's effect.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use kube::{CustomResource, KubeSchema};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Names from both crates.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "odd.example.com", version = "v1", kind = "OddNames")]
#[serde(rename_all = "camelCase")]
#[schemars(rename_all = "kebab-case")]
pub struct OddNamesSpec {
    pub both_cases: String,
    #[serde(rename = "ofSerde")]
    pub own_of_serde: String,
    #[serde(rename = "ofSerde2")]
    #[schemars(rename = "of_schemars")]
    pub own_of_both: String,
    #[serde(rename(serialize = "written", deserialize = "read"))]
    pub apart: Option<String>,
    #[serde(alias = "other", alias = "another")]
    pub r#type: OddCases,
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "SCREAMING-KEBAB-CASE", rename_all_fields = "camelCase")]
pub enum OddCases {
    FirstCase {
        one_field: u8,
    },
    #[serde(rename = "2nd", rename_all = "snake_case")]
    SecondCase {
        #[serde(rename = "given")]
        one_field: u8,
        other_field: u8,
    },
    #[serde(alias = "x")]
    ThirdCase(u8),
}

/// Presence in all its forms.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "odd.example.com", version = "v1", kind = "OddPresence")]
pub struct OddPresenceSpec {
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub items: Vec<Option<u8>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub twice: Option<Option<String>>,
    #[schemars(required)]
    pub required: Option<String>,
    #[schemars(required)]
    #[serde(default)]
    pub required_default: Option<u8>,
    #[schemars(with = "Option<String>")]
    pub with_option: u8,
    #[schemars(with = "Vec<String>")]
    pub with_list: Option<String>,
    #[serde(default, skip_serializing)]
    pub read_only: u8,
    #[serde(default, skip_deserializing)]
    pub write_only: Option<u8>,
    #[serde(skip, default)]
    pub neither: u8,
    #[schemars(skip)]
    pub hidden: String,
    #[serde(default = "seven")]
    #[schemars(default = "eight")]
    pub two_defaults: u8,
    #[serde(default)]
    pub boxed: Box<Option<BTreeSet<String>>>,
    #[serde(default, skip_serializing_if = "is_seven")]
    pub skipped_default: u8,
    #[schemars(range(min = 2, max = 9))]
    pub ranged: Option<u8>,
}

fn seven() -> u8 {
    7
}

fn eight() -> u8 {
    8
}

fn is_seven(value: &u8) -> bool {
    *value == 0
}

/// Constraints on what is inside.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "odd.example.com", version = "v1", kind = "OddConstraints")]
pub struct OddConstraintsSpec {
    #[schemars(length(equal = 3), inner(length(min = 1, max = 5), regex(pattern = "^a")))]
    pub equal: Vec<String>,
    #[schemars(length(min = 1), inner(inner(range(min = 1, max = 5))))]
    pub nested: Vec<Vec<u16>>,
    #[schemars(inner(range(min = -1)))]
    pub optional: Option<Vec<i32>>,
    #[validate(length(min = 1, max = 3))]
    pub text: Option<String>,
    #[validate(range(min = 0.5, exclusive_max = 2.5))]
    pub float: f64,
    #[garde(length(min = 1), inner(length(max = 4)))]
    pub garde: Vec<String>,
    #[garde(range(min = 1, max = 10))]
    pub garde_range: Option<i64>,
    #[garde(pattern("^x+$"), length(max = 9))]
    pub garde_pattern: String,
    #[garde(email)]
    pub mail: String,
    #[garde(url)]
    pub link: Option<String>,
    #[schemars(length(min = 1))]
    pub map: BTreeMap<String, u8>,
    #[schemars(regex(pattern = r"^\d+$"), length(max = 4), title = "Digits")]
    pub digits: Cow<'static, str>,
    #[schemars(extend("pattern" = "^b$"), length(min = 2))]
    pub extended: Arc<str>,
    #[validate(contains(pattern = "a.b"))]
    pub contained: String,
}

/// Newtypes and what is said of them.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "odd.example.com", version = "v1", kind = "OddNewtypes")]
pub struct OddNewtypesSpec {
    pub limited: Limited,
    #[schemars(length(min = 2))]
    pub limited_again: Limited,
    pub transparent: Option<Transparent>,
    /// Words of the field.
    pub documented: Documented,
    pub undocumented: Documented,
    #[schemars(title = "Of the field")]
    pub titled: Documented,
    pub list: Vec<Documented>,
    pub keyed: HashMap<Key, Documented>,
    pub extended: Extended,
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct Limited(#[schemars(length(max = 8))] pub String);

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(transparent)]
pub struct Transparent {
    /// Words of the inner field.
    #[schemars(range(min = 3))]
    pub inner: u32,
    #[serde(skip)]
    pub rest: std::marker::PhantomData<u8>,
}

/// Words of the type.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[schemars(title = "Of the type", extend("x-kubernetes-preserve-unknown-fields" = true))]
pub struct Documented {
    pub part: u8,
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema, PartialEq, Eq, Hash)]
#[serde(rename_all = "lowercase")]
pub enum Key {
    One,
    #[serde(rename = "zwei")]
    Two,
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[schemars(extend("default" = "a", "enum" = ["a", "b"]), description = "Said in schemars.")]
pub struct Extended(String);

/// Variants in every form.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "odd.example.com", version = "v1", kind = "OddVariants")]
pub struct OddVariantsSpec {
    pub units: Units,
    pub mixed: Mixed,
    #[serde(default)]
    pub defaulted: Units,
    pub maybe: Option<Mixed>,
    pub single: OnlyOne,
}

/// Units.
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[schemars(extend("format" = "odd"))]
pub enum Units {
    /// The first.
    A,
    #[default]
    #[serde(rename = "bee", alias = "b")]
    B,
    /// Hidden.
    #[schemars(skip)]
    C,
    #[serde(skip_deserializing)]
    D,
    #[serde(other)]
    E,
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub enum Mixed {
    /// A struct.
    FirstOne {
        #[serde(default = "seven")]
        with_default: u8,
        #[schemars(length(min = 1))]
        list: Option<Vec<String>>,
    },
    SecondOne(#[schemars(range(max = 5))] u8),
    #[serde(rename = "3")]
    ThirdOne {},
    #[serde(skip)]
    Fourth(u8),
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum OnlyOne {
    /// Words of the only one.
    It {
        #[serde(flatten)]
        rest: BTreeMap<String, String>,
        name: String,
    },
}

fn shared_rule() -> kube::core::Rule {
    kube::core::Rule::new("self.spec.count < 1000").message("low").field_path(".spec.count")
}

/// Rules with everything else.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, KubeSchema)]
#[kube(
    group = "odd.example.com",
    version = "v1",
    kind = "OddRules",
    namespaced,
    validation = Rule::new("self.spec.count > 0").message("positive").reason(Reason::FieldValueInvalid),
    validation = shared_rule().message("small"),
    printcolumn = r#"{"name":"Count","type":"integer","jsonPath":".spec.count","priority":1}"#,
    shortname = "or",
    shortname = "oru",
    category = "odd",
    selectable = ".spec.name",
    annotation("odd.example.com/a", "b"),
    label("odd.example.com/c", "d")
)]
#[serde(rename_all = "camelCase")]
#[x_kube(validation = "self.name != ''", validation = ("self.count < 100", "too many"))]
pub struct OddRulesSpec {
    #[x_kube(validation = "self.size() >= 0")]
    #[schemars(length(max = 10))]
    #[serde(default)]
    pub name: String,
    #[serde(rename = "count")]
    #[x_kube(validation = Rule::new("self >= oldSelf.orValue(0)").optional_old_self(true))]
    #[schemars(range(min = 1))]
    pub how_many: u16,
    #[x_kube(merge_strategy = ListMerge::Map(vec!["key".into()]))]
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub list: Vec<Entry>,
    #[serde(flatten)]
    pub flat: Flat,
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct Entry {
    pub key: String,
    #[serde(default)]
    pub value: Option<String>,
}

/// Flattened.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(default, rename_all = "UPPERCASE")]
pub struct Flat {
    pub one: u8,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub two: Option<String>,
}

impl Default for Flat {
    fn default() -> Self {
        Self { one: 1, two: None }
    }
}
