//! Attributes of schemars.

use std::collections::BTreeMap;

use kube::CustomResource;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use serde_json::json;

/// Titles and descriptions.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "schemars.example.com", version = "v1", kind = "Titles")]
#[schemars(title = "The title of the spec", description = "The description of the spec")]
pub struct TitlesSpec {
    #[schemars(title = "A title")]
    pub titled: String,
    /// Words.
    #[schemars(title = "A title")]
    pub both: String,
    #[schemars(description = "A description")]
    pub described: String,
    pub part: TitledPart,
    #[schemars(title = "Another title")]
    pub other_part: TitledPart,
    pub maybe: Option<TitledPart>,
    #[schemars(title = "")]
    pub emptied: TitledPart,
}

/// Words that the attribute overrides.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[schemars(title = "Part", description = "A part.")]
pub struct TitledPart {
    pub value: i32,
}

/// Constraints of texts.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "schemars.example.com", version = "v1", kind = "Texts")]
pub struct TextsSpec {
    #[schemars(length(min = 1, max = 63))]
    pub length: String,
    #[schemars(length(equal = 4))]
    pub exact: String,
    #[schemars(length(min = MINIMUM))]
    pub constant: String,
    #[schemars(regex(pattern = r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?$"))]
    pub regex: String,
    #[schemars(pattern(r"^\d+$"))]
    pub pattern: String,
    #[schemars(pattern("^plain$"))]
    pub plain: String,
    #[schemars(regex(pattern = NAME_PATTERN))]
    pub constant_pattern: String,
    #[schemars(contains(pattern = "needle"))]
    pub contains: String,
    #[schemars(contains("a.b*c"))]
    pub escaped: String,
    #[schemars(email)]
    pub email: String,
    #[schemars(url)]
    pub url: String,
    #[schemars(ip)]
    pub ip: String,
    #[schemars(ipv4)]
    pub ipv4: String,
    #[schemars(ipv6)]
    pub ipv6: String,
    #[schemars(length(min = 1), regex(pattern = "^a"))]
    pub several: Option<String>,
    #[schemars(length(max = 5))]
    #[schemars(email)]
    pub spread: Option<String>,
}

pub const MINIMUM: usize = 3;
pub const NAME_PATTERN: &str = "^[a-z]{1,10}$";

/// Constraints of lists and what is in them.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "schemars.example.com", version = "v1", kind = "InnerConstraints")]
pub struct InnerConstraintsSpec {
    #[schemars(length(min = 1, max = 10))]
    pub list: Vec<String>,
    #[schemars(inner(length(min = 1), regex(pattern = "^x")))]
    pub inner: Vec<String>,
    #[schemars(length(max = 3), inner(range(min = 1, max = 5)))]
    pub both: Vec<i32>,
    #[schemars(inner(inner(length(min = 2))))]
    pub nested: Vec<Vec<String>>,
    #[schemars(inner(email))]
    pub formats: Option<Vec<String>>,
    #[schemars(inner(range(min = 1)))]
    pub not_in_maps: BTreeMap<String, i32>,
    #[schemars(inner(url), length(min = 1))]
    pub set: std::collections::BTreeSet<String>,
}

/// Extensions.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "schemars.example.com", version = "v1", kind = "Extensions")]
#[schemars(extend("x-kubernetes-map-type" = "granular"))]
#[serde(rename_all = "camelCase")]
pub struct ExtensionsSpec {
    #[schemars(extend("x-kubernetes-preserve-unknown-fields" = true))]
    pub preserved: BTreeMap<String, Part>,
    #[schemars(extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["name"]))]
    pub list_map: Vec<Part>,
    #[schemars(extend("x-kubernetes-list-type" = "set"))]
    pub set: Vec<String>,
    #[schemars(extend("x-kubernetes-int-or-string" = true))]
    #[schemars(with = "serde_json::Value")]
    pub int_or_string: String,
    #[schemars(extend("x-kubernetes-map-type" = "atomic"))]
    pub atomic: Part,
    #[schemars(extend("x-kubernetes-validations" = [{"rule": "self.size() < 5", "message": "too long"}]))]
    #[schemars(length(max = 100))]
    pub ruled: String,
    #[schemars(extend("format" = "hostname"))]
    pub format: String,
    #[schemars(extend("minLength" = 2, "maxLength" = 1 + 4))]
    pub lengths: String,
    #[schemars(extend("type" = "string", "format" = "date-time"))]
    pub retyped: Timestamp,
    #[schemars(extend("nullable" = true))]
    pub nullable: String,
    #[schemars(extend("pattern" = "^[A-Z]+$"))]
    pub pattern: String,
    #[schemars(extend("x-unknown-to-servers" = {"a": [1, null, "b"]}))]
    pub unknown: String,
    #[schemars(extend("description" = "An extension."))]
    /// Not seen.
    pub description: String,
    #[schemars(extend("enum" = ["a", "b"]))]
    pub one_of: String,
    #[schemars(extend("default" = {"name": "x", "value": 1}))]
    pub defaulted: Part,
    #[schemars(extend("minProperties" = 1, "maxProperties" = 5))]
    pub map: BTreeMap<String, String>,
    #[schemars(extend("example" = "an example"))]
    pub example: String,
    #[schemars(extend("externalDocs" = {"url": "https://example.com/docs"}))]
    pub documented: String,
    #[schemars(extend("multipleOf" = 5))]
    pub multiple: i32,
    #[schemars(extend("exclusiveMinimum" = true, "minimum" = 1))]
    pub exclusive: i32,
}

/// A part.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct Part {
    pub name: String,
    pub value: Option<i32>,
}

#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Timestamp(pub String);

impl JsonSchema for Timestamp {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Timestamp".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "object" })
    }
}

/// Extensions of types.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "schemars.example.com", version = "v1", kind = "TypeExtensions")]
pub struct TypeExtensionsSpec {
    pub open: Open,
    pub maybe_open: Option<Open>,
    pub text: Hostname,
    #[schemars(extend("maxLength" = 9))]
    pub shorter: Hostname,
}

/// Takes anything.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[schemars(extend("x-kubernetes-preserve-unknown-fields" = true))]
pub struct Open {
    pub known: i32,
}

/// The name of a host.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[schemars(extend("format" = "hostname", "maxLength" = 253))]
pub struct Hostname(pub String);

/// Other types in the schema.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "schemars.example.com", version = "v1", kind = "WithTypes")]
pub struct WithTypesSpec {
    #[schemars(with = "String")]
    pub text: Opaque,
    #[schemars(with = "Option<String>")]
    pub maybe: Opaque,
    #[schemars(with = "BTreeMap<String, Vec<Part>>")]
    pub map: Opaque,
    #[schemars(with = "crate::schemars_attributes::Part")]
    pub path: Opaque,
    /// With words.
    #[schemars(with = "Part")]
    pub described: Opaque,
    #[schemars(with = "String", length(max = 10))]
    pub limited: Opaque,
    #[schemars(with = "u16", range(min = 1024))]
    pub number: Opaque,
    pub container: WithContainer,
}

/// A type without a schema.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Opaque(pub String);

/// A container with another's schema.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[schemars(with = "String")]
pub struct WithContainer {
    pub value: String,
}

/// Functions with literal bodies.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "schemars.example.com", version = "v1", kind = "SchemaWith")]
#[serde(rename_all = "camelCase")]
pub struct SchemaWithSpec {
    #[schemars(schema_with = "preserved")]
    pub preserved: serde_json::Value,
    #[schemars(schema_with = "int_or_string")]
    pub int_or_string: serde_json::Value,
    #[schemars(schema_with = "from_value")]
    pub from_value: serde_json::Value,
    #[schemars(schema_with = "functions::in_module")]
    pub in_module: String,
    #[schemars(schema_with = "Functions::associated")]
    pub associated: String,
    #[schemars(schema_with = "with_subschema")]
    pub list: Vec<Part>,
    /// With words.
    #[schemars(schema_with = "preserved")]
    pub described: serde_json::Value,
    #[schemars(schema_with = "text", length(max = 5))]
    pub limited: String,
    #[serde(default)]
    #[schemars(schema_with = "text")]
    pub defaulted: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "text")]
    pub optional: Option<String>,
    #[schemars(schema_with = "text")]
    pub option: Option<String>,
    #[schemars(schema_with = "conditions")]
    pub conditions: Vec<serde_json::Value>,
    #[schemars(schema_with = "try_from_value")]
    pub try_from_value: String,
}

pub fn preserved(_: &mut SchemaGenerator) -> Schema {
    json_schema!({
        "type": "object",
        "x-kubernetes-preserve-unknown-fields": true,
    })
}

fn int_or_string(_generator: &mut SchemaGenerator) -> Schema {
    schemars::json_schema!({
        "x-kubernetes-int-or-string": true,
        "anyOf": [{"type": "integer"}, {"type": "string"}],
    })
}

fn from_value(_: &mut schemars::generate::SchemaGenerator) -> schemars::Schema {
    serde_json::from_value(serde_json::json!({
        "type": "array",
        "items": { "type": "string", "maxLength": 10 },
    }))
    .expect("a schema")
}

fn try_from_value(_: &mut SchemaGenerator) -> Schema {
    Schema::try_from(json!({ "type": "string", "pattern": "^a$" })).expect("a schema")
}

fn text(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "string", "description": "A text of the function." })
}

fn with_subschema(generator: &mut SchemaGenerator) -> Schema {
    let part = generator.subschema_for::<Part>();
    json_schema!({
        "type": "array",
        "items": part,
        "x-kubernetes-list-type": "map",
        "x-kubernetes-list-map-keys": ["name"],
    })
}

/// Conditions as they are in many operators.
fn conditions(_: &mut SchemaGenerator) -> Schema {
    serde_json::from_value(json!({
        "type": "array",
        "x-kubernetes-list-type": "map",
        "x-kubernetes-list-map-keys": ["type"],
        "items": {
            "type": "object",
            "properties": {
                "lastTransitionTime": { "format": "date-time", "type": "string" },
                "message": { "type": "string" },
                "observedGeneration": { "type": "integer", "format": "int64", "default": 0 },
                "reason": { "type": "string" },
                "status": { "type": "string" },
                "type": { "type": "string" }
            },
            "required": ["lastTransitionTime", "message", "reason", "status", "type"],
        },
    }))
    .unwrap_or_default()
}

pub mod functions {
    use schemars::{Schema, SchemaGenerator, json_schema};

    pub fn in_module(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "enum": ["a", "b"] })
    }
}

pub struct Functions;

impl Functions {
    pub fn associated(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "format": "byte" })
    }
}

/// Examples and deprecations, which CRDs do not hold.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "schemars.example.com", version = "v1", kind = "Examples")]
#[schemars(example = ExamplesSpec::example())]
#[allow(deprecated)]
pub struct ExamplesSpec {
    #[schemars(example = &"text")]
    pub text: String,
    #[schemars(example = 1, example = 2)]
    pub number: i32,
    #[deprecated]
    pub old: Option<String>,
}

impl ExamplesSpec {
    #[allow(deprecated)]
    pub fn example() -> Self {
        Self { text: "example".to_string(), number: 3, old: None }
    }
}

/// Names, inlining and the crate's name change nothing.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "schemars.example.com", version = "v1", kind = "Identities")]
#[schemars(rename = "AnotherName")]
pub struct IdentitiesSpec {
    pub renamed: RenamedPart,
    pub inlined: InlinedPart,
    pub crated: CratedPart,
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[schemars(rename = "APart")]
pub struct RenamedPart {
    pub value: i32,
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[schemars(inline)]
pub struct InlinedPart {
    pub value: i32,
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[schemars(crate = "schemars")]
pub struct CratedPart {
    pub value: i32,
}

/// serde's attributes, told to schemars alone or taken away from it.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "schemars.example.com", version = "v1", kind = "Overrides")]
#[serde(rename_all = "camelCase")]
#[schemars(deny_unknown_fields)]
pub struct OverridesSpec {
    #[serde(rename = "bySerde")]
    #[schemars(!rename)]
    pub not_renamed: String,
    #[serde(default)]
    #[schemars(!default)]
    pub not_defaulted: i32,
    #[serde(flatten)]
    #[schemars(!flatten)]
    pub not_flattened: Part,
    #[schemars(flatten)]
    pub flattened: FlattenedPart,
    #[serde(skip)]
    #[schemars(!skip)]
    pub not_skipped: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    #[schemars(!skip_serializing_if)]
    pub shown_default: Vec<String>,
    pub kept_case: KeptCase,
    pub untagged: UntaggedBySchema,
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct FlattenedPart {
    pub from_the_part: i32,
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(!rename_all)]
pub struct KeptCase {
    pub kept_case: i32,
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[schemars(untagged)]
pub enum UntaggedBySchema {
    One { one: i32 },
    Two { two: i32 },
}

/// Variants with attributes.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "schemars.example.com", version = "v1", kind = "Variants")]
pub struct VariantsSpec {
    pub choice: AnnotatedChoice,
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum AnnotatedChoice {
    #[schemars(description = "By the attribute")]
    Described(i32),
    #[schemars(with = "String")]
    Replaced(Opaque),
    #[schemars(schema_with = "preserved")]
    Anything(serde_json::Value),
    #[schemars(rename = "anotherName")]
    Renamed(String),
    #[schemars(skip)]
    Skipped(Opaque),
    Fields {
        #[schemars(with = "String")]
        opaque: Opaque,
        #[schemars(length(max = 3))]
        text: String,
    },
}
