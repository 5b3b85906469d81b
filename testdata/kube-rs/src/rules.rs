//! `KubeSchema`: rules and merge strategies.

use std::collections::BTreeMap;

use kube::{CustomResource, KubeSchema};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Rules in each form.
#[derive(CustomResource, KubeSchema, Clone, Debug, Deserialize, Serialize)]
#[kube(group = "rules.example.com", version = "v1", kind = "RuleForms", namespaced)]
#[x_kube(
    validation = "self.low <= self.high",
    validation = ("self.low >= 0", "low must not be negative"),
    validation = Rule::new("self.high <= 100").message("too high").field_path(".high").reason(Reason::FieldValueForbidden),
    validation = Rule::new("self.low != 13 || self.high != 13").message(Message::Expression("self.low > 5 ? 'too low' : 'too high'".into()))
)]
#[x_kube(validation = Rule::new("oldSelf.hasValue() || self.low == 0").optional_old_self(true))]
pub struct RuleFormsSpec {
    pub low: i32,
    pub high: i32,
}

/// Rules of fields.
#[derive(CustomResource, KubeSchema, Clone, Debug, Deserialize, Serialize)]
#[kube(group = "rules.example.com", version = "v1", kind = "FieldRules")]
#[serde(rename_all = "camelCase")]
pub struct FieldRulesSpec {
    /// It never changes.
    #[x_kube(validation = "self == oldSelf")]
    pub never_changes: String,
    #[x_kube(validation = ("self > 0", "must be positive"))]
    pub positive_number: i32,
    #[x_kube(validation = Rule::new("self != ''").message("must be set").reason(Reason::FieldValueRequired))]
    pub several_forms: String,
    #[x_kube(validation = "self.size() > 1", validation = "self.size() < 10")]
    #[x_kube(validation = ("self.startsWith('a')", "must start with a"))]
    pub several_rules: String,
    #[x_kube(validation = "self.size() > 0")]
    pub maybe_text: Option<String>,
    #[x_kube(validation = Rule::new("self.all(x, x > 0)").message(Message::Message("all must be positive".to_string())))]
    #[schemars(length(max = 10))]
    pub short_list: Vec<i32>,
    #[serde(rename = "another")]
    #[x_kube(validation = r#"self in ["a", "b"]"#)]
    pub renamed_field: String,
    #[serde(default)]
    #[x_kube(validation = "self >= 0")]
    pub with_default: i32,
    #[schemars(range(min = 1))]
    #[x_kube(validation = "self % 2 == 0")]
    pub constrained: i32,
    #[x_kube(validation = Rule::from("self.name != ''"))]
    pub part: Part,
    #[x_kube(validation = Rule { rule: "self".into(), message: Some("must be on".into()), ..Default::default() })]
    pub flag: bool,
    #[x_kube(validation = Rule::new("self == 'x'").reason(Reason::FieldValueDuplicate))]
    pub duplicate: String,
    #[x_kube(validation = Rule::new("self == 'x'").reason(Reason::FieldValueInvalid).message("invalid"))]
    pub invalid: String,
    pub without_rules: i64,
}

/// A part.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct Part {
    #[schemars(length(max = 20))]
    pub name: String,
    pub value: Option<i32>,
}

/// How fields are merged.
#[derive(CustomResource, KubeSchema, Clone, Debug, Deserialize, Serialize)]
#[kube(group = "rules.example.com", version = "v1", kind = "Merges")]
#[serde(rename_all = "camelCase")]
pub struct MergesSpec {
    #[x_kube(merge_strategy = ListMerge::Atomic)]
    pub atomic_list: Vec<String>,
    #[x_kube(merge_strategy = ListMerge::Set)]
    pub set_list: Vec<String>,
    /// With words.
    #[x_kube(merge_strategy = ListMerge::Map(vec!["name".into()]))]
    pub map_list: Vec<Part>,
    #[x_kube(merge_strategy = ListMerge::Map(vec!["name".to_string(), "namespace".to_string()]))]
    pub two_keys: Vec<Named>,
    #[x_kube(merge_strategy = MapMerge::Atomic)]
    pub atomic_map: BTreeMap<String, String>,
    #[x_kube(merge_strategy = MapMerge::Granular)]
    pub granular_map: BTreeMap<String, String>,
    #[x_kube(merge_strategy = MapMerge::Atomic)]
    pub struct_as_map: Part,
    #[x_kube(merge_strategy = ListMerge::Set, validation = "self.size() > 0")]
    pub with_rule: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[x_kube(merge_strategy = kube::core::ListMerge::Map(vec!["name".into()]))]
    pub by_path: Vec<Part>,
}

/// How structs are merged, which kube-rs writes under a name that CRDs do not have.
#[derive(CustomResource, KubeSchema, Clone, Debug, Deserialize, Serialize)]
#[kube(group = "rules.example.com", version = "v1", kind = "StructMerges")]
#[serde(rename_all = "camelCase")]
pub struct StructMergesSpec {
    #[x_kube(merge_strategy = StructMerge::Atomic)]
    pub atomic_struct: Part,
    #[x_kube(merge_strategy = StructMerge::Granular)]
    pub granular_struct: Part,
}

/// Something with a name in a namespace.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct Named {
    pub name: String,
    pub namespace: String,
}

/// `KubeSchema` on structs within.
#[derive(CustomResource, JsonSchema, Clone, Debug, Deserialize, Serialize)]
#[kube(group = "rules.example.com", version = "v1", kind = "NestedRules", status = "NestedRulesStatus")]
pub struct NestedRulesSpec {
    pub range: Range,
    pub maybe_range: Option<Range>,
    #[schemars(length(max = 5))]
    pub ranges: Vec<Range>,
    /// Words of the field.
    pub described: Range,
}

/// A range.
#[derive(KubeSchema, Clone, Debug, Deserialize, Serialize)]
#[x_kube(validation = ("self.start <= self.end", "must not end before it starts"))]
pub struct Range {
    /// Where it starts.
    pub start: i32,
    #[x_kube(validation = "self < 1000")]
    pub end: i32,
}

/// A status with rules.
#[derive(KubeSchema, Clone, Debug, Deserialize, Serialize)]
#[x_kube(validation = "self.ready >= 0")]
#[serde(rename_all = "camelCase")]
pub struct NestedRulesStatus {
    pub ready: i32,
    #[x_kube(merge_strategy = ListMerge::Map(vec!["type".into()]))]
    pub conditions: Vec<k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition>,
}

/// Rules of the root, the spec and the fields.
#[derive(CustomResource, KubeSchema, Clone, Debug, Deserialize, Serialize)]
#[kube(
    group = "rules.example.com",
    version = "v1",
    kind = "AllLevels",
    validation = ("self.metadata.name.startsWith('a')", "names start with a"),
    validation = Rule::new("self.spec.count < 5").message("too many").field_path(".spec.count")
)]
#[x_kube(validation = "self.count >= 0")]
pub struct AllLevelsSpec {
    #[x_kube(validation = "self != 3")]
    pub count: i32,
}

/// A rule from a constant and over many lines.
#[derive(CustomResource, KubeSchema, Clone, Debug, Deserialize, Serialize)]
#[kube(group = "rules.example.com", version = "v1", kind = "RuleTexts")]
#[x_kube(validation = Rule::new(CONSTANT_RULE).message(MESSAGE))]
#[x_kube(validation = CONSTANT_RULE)]
#[x_kube(validation = (CONSTANT_RULE, MESSAGE))]
pub struct RuleTextsSpec {
    #[x_kube(validation = Rule::new("self.size() > 0 &&\n  self.size() < 5").message("between one and four"))]
    pub lines: String,
    #[x_kube(validation = r"self.matches('^[a-z]\\d+$')")]
    pub raw: String,
    #[x_kube(validation = concat!("self ", "!= ''"))]
    pub joined: String,
    pub count: i32,
}

pub const CONSTANT_RULE: &str = "self.count > 1";
pub const MESSAGE: &str = "must be more than one";

/// The derive with nothing to do, and documentation of every kind.
#[derive(CustomResource, KubeSchema, Clone, Debug, Deserialize, Serialize)]
#[kube(group = "rules.example.com", version = "v1", kind = "NoRules")]
pub struct NoRulesSpec {
    /// # A title
    ///
    /// And words.
    pub titled: String,
    #[schemars(title = "Title", extend("x-kubernetes-map-type" = "atomic"))]
    pub part: Part,
    #[serde(flatten)]
    pub flat: Flat,
}

#[derive(KubeSchema, Clone, Debug, Deserialize, Serialize)]
#[x_kube(validation = "self.flat_field != 'x'")]
pub struct Flat {
    #[x_kube(validation = "self != 'y'")]
    pub flat_field: String,
}

/// Crates by their names.
#[derive(CustomResource, KubeSchema, Clone, Debug, Deserialize, Serialize)]
#[kube(group = "rules.example.com", version = "v1", kind = "RuleCrates")]
#[x_kube(crates(kube_core = ::kube::core, schemars = ::schemars, serde = ::serde))]
#[x_kube(validation = "self.value != 1")]
pub struct RuleCratesSpec {
    pub value: i32,
}

/// Rules where types already carry some.
#[derive(CustomResource, KubeSchema, Clone, Debug, Deserialize, Serialize)]
#[kube(group = "rules.example.com", version = "v1", kind = "RulesTogether")]
pub struct RulesTogetherSpec {
    #[x_kube(validation = "self.end != 5")]
    pub range: Range,
    #[schemars(extend("x-kubernetes-validations" = [{"rule": "self != 'a'"}]))]
    #[x_kube(validation = "self != 'b'")]
    pub both: String,
    #[x_kube(validation = "self.end != 6")]
    pub maybe_range: Option<Range>,
    #[x_kube(validation = ("self == oldSelf", "immutable"))]
    pub level: Option<Level>,
    #[x_kube(validation = ("self == oldSelf", "immutable"))]
    pub documented: Option<Documented>,
    #[x_kube(validation = "has(self.text) || has(self.number)")]
    pub choice: Option<Choice>,
    #[x_kube(validation = "!has(self.text) || self.text != ''")]
    pub needed: Choice,
}

/// A level.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub enum Level {
    Low,
    High,
}

/// A level with words.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub enum Documented {
    /// Low.
    Low,
    /// High.
    High,
}

/// A choice.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Choice {
    Text(#[schemars(length(max = 5))] String),
    Number(i32),
}

/// Older ways: rules as extensions.
#[derive(CustomResource, JsonSchema, Clone, Debug, Deserialize, Serialize)]
#[kube(group = "rules.example.com", version = "v1", kind = "ExtendedRules")]
#[schemars(extend("x-kubernetes-validations" = [{"rule": "self.a != self.b", "message": "must differ"}]))]
pub struct ExtendedRulesSpec {
    pub a: i32,
    #[schemars(extend("x-kubernetes-validations" = [{
        "rule": "self == oldSelf",
        "messageExpression": "oldSelf > 5 ? 'was more' : 'was less'",
        "reason": "FieldValueForbidden",
    }]))]
    pub b: i32,
}

/// A rule at the root of a kind without a spec.
#[derive(CustomResource, KubeSchema, Clone, Debug, Deserialize, Serialize)]
#[kube(group = "rules.example.com", version = "v1", kind = "RootlessRules", no_spec)]
#[kube(validation = "self.region != ''")]
#[x_kube(validation = ("self.size > 0", "must have a size"))]
pub struct RootlessRulesSpec {
    #[x_kube(validation = "self.size() < 10")]
    pub region: String,
    pub size: i32,
}
