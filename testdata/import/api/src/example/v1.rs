//! Version `v1` of group `example.com`.

use std::collections::BTreeMap;

use k8s_openapi::ByteString;
use k8s_openapi::apimachinery::pkg::api::resource::Quantity;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{ObjectMeta, Time};
use k8s_openapi::apimachinery::pkg::util::intstr::IntOrString;
use kubesmith_runtime::{Resource, Schema};
use serde::{Deserialize, Serialize};

/// A gadget.
///
///   Indented, with `code` and "quotes".
#[derive(Clone, Debug, PartialEq, Resource)]
#[resource(
    group = "example.com",
    version = "v1",
    list_kind = "GadgetCollection",
    short_name = "gd",
    category("all", "toys"),
    scope = "Cluster",
    storage_version,
    status,
    scale(
        spec_path = ".spec.size",
        status_path = ".status.size",
        selector_path = ".status.selector"
    ),
    print_column { name = "Age", type = "date", json_path = ".metadata.creationTimestamp" },
    print_column {
        name = "Size",
        type = "integer",
        json_path = ".spec.size",
        description = "how big",
        format = "int32",
        priority = 1
    },
    print_column { name = "Mode", type = "string", json_path = ".spec.mode", priority = 1 },
    print_column { name = "First", type = "string", json_path = ".spec.items[].name" },
    selectable_field(json_path = ".spec.mode"),
    conversion(
        strategy = "Webhook",
        service_namespace = "system",
        service_name = "hooks",
        path = "/convert",
        port = 8443,
        ca_bundle = "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0t",
        review_versions("v1", "v1beta1")
    ),
    metadata(annotations("example.com/team" = "storage"), labels("app" = "gadget"))
)]
#[resource(standard_fields = {
    "apiVersion": {"type": "string"},
    "kind": {"type": "string"},
    "metadata": {"properties": {"name": {"maxLength": 20, "type": "string"}}, "type": "object"},
})]
#[genclient(non_namespaced)]
#[deepcopy]
#[validation(
    rule { rule = "self.metadata.name != 'x'", message = "not x" },
    rule { rule = "self.metadata.name != 'X'", message = "not x" }
)]
pub struct Gadget {
    /// Standard object metadata.
    #[schema(required)]
    pub metadata: ObjectMeta,
    /// What is wanted.
    pub spec: GadgetSpec,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<GadgetStatus>,
}

/// Where it leads.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
#[schema(struct_type = "atomic")]
pub struct Backup {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[validation(format = "hostname")]
    pub host: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub weight: Option<i64>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
#[schema(extra = {"oneOf": [{"required": ["one"]}, {"required": ["two"]}]})]
pub struct CappedSource {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(default = "a")]
    pub one: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub two: Option<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
#[schema(extra = {
    "anyOf": [{"required": ["a"]}, {"properties": {"b": {"minLength": 3}}}],
    "not": {"required": ["a", "b"]},
})]
pub struct Either {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub a: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub b: Option<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
pub struct Empty {}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, Schema)]
#[serde(rename_all = "kebab-case")]
pub enum Mode {
    /// `On`
    #[serde(rename = "On")]
    On,
    /// `off`
    Off,
    /// ""
    #[serde(rename = "")]
    Empty,
    /// `half-way`
    HalfWay,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
#[schema(extra = {"oneOf": [{"required": ["one"]}, {"required": ["two"]}]})]
pub struct NarrowSource {
    pub one: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub two: Option<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
#[serde(rename_all = "camelCase")]
pub struct Nested {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub other_fields: Option<String>,
    /// Fields that the schema does not name.
    #[serde(flatten)]
    pub other_fields_2: BTreeMap<String, serde_json::Value>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
pub struct Open {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub known: Option<String>,
    /// Fields that the schema does not name.
    #[serde(flatten)]
    pub other_fields: BTreeMap<String, serde_json::Value>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
#[schema(extra = {"oneOf": [{"required": ["one"]}, {"required": ["two"]}]})]
pub struct OpenSource {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub one: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub two: Option<String>,
    /// Fields that the schema does not name.
    #[serde(flatten)]
    pub other_fields: BTreeMap<String, serde_json::Value>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
pub struct ValueFrom {
    pub key: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub optional: Option<bool>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Schema)]
#[serde(rename_all = "camelCase")]
pub enum PatchChoice {
    /// What it becomes.
    Value(isize),
    ValueFrom(ValueFrom),
    Nothing(Option<Empty>),
}

/// What is put in place of a field.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Schema)]
#[validation(rule(rule = "self.path != ''"))]
pub struct Patch {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub choice: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(default = false)]
    pub force: Option<bool>,
    /// Which field.
    pub path: String,
    /// One of these is given.
    #[serde(flatten)]
    pub choice_2: PatchChoice,
}

/// A port.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
pub struct Port {
    /// Its name.
    pub name: String,
    /// Where it leads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<Backup>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
pub struct MatchExpression {
    pub key: String,
    pub operator: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(list_type = "atomic")]
    pub values: Option<Vec<String>>,
}

/// What it is for.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
#[schema(struct_type = "atomic")]
#[serde(rename_all = "camelCase")]
pub struct Selector {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(list_type = "atomic")]
    pub match_expressions: Option<Vec<MatchExpression>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub match_labels: Option<BTreeMap<String, String>>,
}

/// A repository.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
pub struct Git {
    #[validation(format = "uri")]
    pub url: String,
}

/// Where it comes from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Schema)]
#[serde(rename_all = "lowercase")]
pub enum GadgetSource {
    /// A repository.
    Git(Git),
    /// An image.
    Image(String),
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
pub struct GadgetTemplate {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub count: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata: Option<ObjectMeta>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tags: Option<Vec<String>>,
}

/// What is wanted.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Schema)]
#[serde(rename_all = "camelCase")]
pub struct GadgetSpec {
    #[serde(
        rename = "$weird-name",
        default,
        skip_serializing_if = "Option::is_none"
    )]
    #[validation(multiple_of = 0.5, format = "double")]
    pub weird_name: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(extra = {"additionalProperties": true})]
    pub anything: Option<BTreeMap<String, serde_json::Value>>,
    /// Where it leads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub backup: Option<Backup>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(extra = {"allOf": [{"maximum": 3}], "exclusiveMaximum": true})]
    pub beyond: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub blob: Option<ByteString>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub capped_source: Option<CappedSource>,
    #[serde(default)]
    #[schema(nullable, default = "a")]
    pub cleared: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub either: Option<Either>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(embedded_resource)]
    pub embedded: Option<serde_json::Map<String, serde_json::Value>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub empty: Option<Empty>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(title = "Foo")]
    pub foo_bar: Option<String>,
    #[serde(rename = "foo_bar", default, skip_serializing_if = "Option::is_none")]
    #[schema(example = "a")]
    pub foo_bar_2: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub free: Option<serde_json::Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[allow(clippy::type_complexity)]
    pub groups: Option<BTreeMap<String, BTreeMap<String, Vec<Option<String>>>>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[validation(max_properties = 8)]
    #[schema(extra = {"additionalProperties": {"maxLength": 63, "type": "string"}})]
    pub labels: Option<BTreeMap<String, String>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[validation(minimum = -9223372036854775808, maximum = 9223372036854775807)]
    pub large: Option<isize>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[validation(x_int_or_string)]
    #[schema(schemaless)]
    pub loose: Option<IntOrString>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(description = "+kubebuilder:validation:Minimum=1")]
    pub marked: Option<isize>,
    #[serde(default)]
    #[schema(required, nullable)]
    pub maybe: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory: Option<Quantity>,
    /// A constraint that does nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(extra = {"maxLength": 3})]
    pub misfit: Option<Vec<String>>,
    #[validation(max_length = 10)]
    #[schema(default = "off")]
    pub mode: Mode,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub narrow_source: Option<NarrowSource>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nested: Option<BTreeMap<String, Nested>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[validation(enum(1, 2, 3))]
    pub numbered: Option<isize>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub open: Option<Open>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub open_source: Option<OpenSource>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub patches: Option<Vec<Patch>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub port: Option<IntOrString>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[validation(max_items = 4)]
    #[schema(list_type = "map", list_map_key = "name")]
    pub ports: Option<Vec<Port>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[validation(minimum = 0)]
    pub ratio: Option<f64>,
    /// What it is for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub selector: Option<Selector>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub self_: Option<bool>,
    #[validation(minimum = -5, maximum = 100, exclusive_maximum)]
    #[schema(default = -1)]
    pub size: i32,
    /// Where it comes from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<GadgetSource>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(description = "Ends with a space. \n\n\nAnd blank lines.")]
    pub spaced: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub table: Option<Vec<Vec<Option<isize>>>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[validation(items(min_length = 1, pattern = "^[a-z]+$"))]
    #[schema(list_type = "set")]
    pub tags: Option<Vec<String>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(default = {"count": 1.5, "metadata": {}, "tags": ["a", "b"]})]
    pub template: Option<GadgetTemplate>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(extra = {"enum": ["a", "b", "a"]})]
    pub twice: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[validation(pattern = r#"^"\d+\\$"#)]
    pub r#type: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable)]
    pub unset: Option<isize>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub when: Option<Time>,
}

/// A condition of our own, beside those of Kubernetes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
pub struct Condition {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ready: Option<bool>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, Schema)]
pub enum GadgetStatusConditionStatus {
    /// `True`
    True,
    /// `False`
    False,
    /// `Unknown`
    Unknown,
}

/// Condition contains details for one aspect of the current state of this API Resource.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Schema)]
#[serde(rename_all = "camelCase")]
pub struct GadgetStatusCondition {
    /// When.
    pub last_transition_time: Time,
    /// What.
    #[validation(max_length = 32768)]
    pub message: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[validation(minimum = 0)]
    pub observed_generation: Option<i64>,
    #[validation(
        min_length = 1,
        max_length = 1024,
        pattern = "^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$"
    )]
    pub reason: String,
    pub status: GadgetStatusConditionStatus,
    #[validation(
        max_length = 316,
        pattern = r"^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])$"
    )]
    pub r#type: String,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
pub struct GadgetStatus {
    /// A condition of our own, beside those of Kubernetes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub condition: Option<Condition>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub conditions: Option<Vec<GadgetStatusCondition>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub selector: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<i32>,
}
