//! Types of other crates whose JSON form is known without reading them.
//!
//! Sources: serde's implementations for std's types (serde 1), `JsonSchema` of k8s-openapi 0.29 (from
//! Kubernetes' OpenAPI document), Kubernetes' Go source for what the document leaves out, controller-gen's known types (`pkg/crd/known_types.go`) for those that
//! the document describes too loosely, and the `Serialize` implementations of chrono 0.4, jiff 0.2,
//! uuid 1 and url 2.

mod k8s;
mod k8s_types;
mod kubernetes;

use k8s_openapi::schemars::{self, SchemaGenerator};
use serde_json::Number;

use crate::schema::{Additional, Schema};

/// What a known path stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Known {
    /// A type without parameters.
    Plain,
    /// The JSON form of its argument with this index: `Box<T>`, `Cow<'_, T>`.
    Transparent,
    /// `Option<T>`
    Option,
    /// A list of its first argument.
    List,
    /// A map with its second argument as values.
    Map,
    /// Null, whatever its arguments are.
    Unit,
}

/// The first paths of k8s-openapi's modules, for brevity.
const META: &str = "k8s_openapi::apimachinery::pkg::apis::meta::v1";

/// Pattern of quantities, as controller-gen writes it.
const QUANTITY_PATTERN: &str = r"^(\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))))?$";

/// Names in scope everywhere.
const PRELUDE: &[&str] = &[
    "String", "Vec", "Option", "Box", "bool", "char", "str", "i8", "i16", "i32", "i64", "i128", "isize",
    "u8", "u16", "u32", "u64", "u128", "usize", "f32", "f64",
];

/// Paths by the name under which the standard library's types are known here.
const STD: &[(&str, &str)] = &[
    ("string::String", "String"),
    ("vec::Vec", "Vec"),
    ("option::Option", "Option"),
    ("boxed::Box", "Box"),
    ("primitive::bool", "bool"),
    ("primitive::i32", "i32"),
    ("primitive::i64", "i64"),
    ("primitive::u32", "u32"),
    ("primitive::u64", "u64"),
    ("primitive::str", "str"),
];

/// The crates whose types are known here, and those that re-export them.
const CRATES: &[&str] = &[
    "alloc",
    "chrono",
    "core",
    "jiff",
    "k8s_openapi",
    "kube",
    "kube_client",
    "kube_core",
    "kubesmith_runtime",
    "serde",
    "serde_json",
    "std",
    "url",
    "uuid",
];

/// Makes a schema.
type Make = fn() -> Schema;

/// Types without parameters and the function that makes their schema.
const PLAIN: &[(&str, Make)] = &[
    ("String", string),
    ("str", string),
    ("char", string),
    ("bool", || Schema::of_type("boolean")),
    // Go's rules: a format for 32 and 64 bits only, the same for signed and unsigned.
    ("i8", integer),
    ("i16", integer),
    ("u8", integer),
    ("u16", integer),
    ("isize", integer),
    ("usize", integer),
    ("i32", || Schema::formatted("integer", "int32")),
    ("u32", || Schema::formatted("integer", "int32")),
    ("i64", || Schema::formatted("integer", "int64")),
    ("u64", || Schema::formatted("integer", "int64")),
    ("f32", || Schema::of_type("number")),
    ("f64", || Schema::of_type("number")),
    ("std::num::NonZeroU8", positive),
    ("std::num::NonZeroU16", positive),
    ("std::num::NonZeroU32", positive),
    ("std::num::NonZeroU64", positive),
    ("std::num::NonZeroUsize", positive),
    ("std::path::PathBuf", string),
    ("std::net::IpAddr", string),
    ("std::net::Ipv4Addr", || Schema::formatted("string", "ipv4")),
    ("std::net::Ipv6Addr", || Schema::formatted("string", "ipv6")),
    ("std::net::SocketAddr", string),
    ("std::time::Duration", std_duration),
    ("serde_json::Value", any),
    ("serde_json::Map", preserving_object),
    ("serde_json::Number", || Schema::of_type("number")),
    ("chrono::DateTime", date_time),
    ("chrono::NaiveDate", || Schema::formatted("string", "date")),
    ("jiff::Timestamp", date_time),
    ("jiff::civil::Date", || Schema::formatted("string", "date")),
    ("jiff::SignedDuration", string),
    ("jiff::Span", string),
    ("uuid::Uuid", || Schema::formatted("string", "uuid")),
    ("url::Url", || Schema::formatted("string", "uri")),
    ("kube::core::Duration", string),
    ("k8s_openapi::ByteString", || Schema::formatted("string", "byte")),
    ("k8s_openapi::apimachinery::pkg::util::intstr::IntOrString", int_or_string),
    ("k8s_openapi::apimachinery::pkg::api::resource::Quantity", quantity),
    ("k8s_openapi::apimachinery::pkg::runtime::RawExtension", preserving_object),
    ("k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta", || Schema::of_type("object")),
    ("k8s_openapi::apimachinery::pkg::apis::meta::v1::Time", date_time),
    ("k8s_openapi::apimachinery::pkg::apis::meta::v1::MicroTime", date_time),
    ("k8s_openapi::apimachinery::pkg::apis::meta::v1::FieldsV1", || Schema::of_type("object")),
    ("k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::JSON", any),
    // Go writes these by methods of their own: controller-gen says nothing of their form.
    ("k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::JSONSchemaPropsOrArray", any),
    ("k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::JSONSchemaPropsOrBool", any),
    ("k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::JSONSchemaPropsOrStringArray", any),
];

/// Types with parameters.
const GENERIC: &[(&str, Known)] = &[
    ("Vec", Known::List),
    ("Option", Known::Option),
    ("Box", Known::Transparent),
    ("std::sync::Arc", Known::Transparent),
    ("std::rc::Rc", Known::Transparent),
    ("std::borrow::Cow", Known::Transparent),
    ("std::collections::BTreeMap", Known::Map),
    ("std::collections::HashMap", Known::Map),
    ("std::collections::BTreeSet", Known::List),
    ("std::collections::HashSet", Known::List),
    ("std::collections::VecDeque", Known::List),
    ("std::marker::PhantomData", Known::Unit),
];

/// Floating point types, whose values differ between implementations.
pub fn is_float(path: &str) -> bool {
    matches!(path, "f32" | "f64")
}

/// Whether a path is that of `ObjectMeta`.
pub fn is_object_meta(path: &str) -> bool {
    path.strip_prefix(META).is_some_and(|rest| rest == "::ObjectMeta")
}

/// Whether the name is in scope without an import.
pub fn is_prelude(name: &str) -> bool {
    PRELUDE.contains(&name)
}

/// Names in scope without an import.
pub fn prelude() -> impl Iterator<Item = &'static str> {
    PRELUDE.iter().copied()
}

/// What the path stands for, if it is known.
pub fn find(path: &str) -> Option<Known> {
    if let Some((_, known)) = GENERIC.iter().find(|(known, _)| *known == path) {
        return Some(*known);
    }
    let plain = PLAIN.iter().any(|(known, _)| *known == path) || k8s::find(path).is_some();
    plain.then_some(Known::Plain)
}

/// Whether it is known of a crate which types have a JSON form; such crates are never read.
pub fn is_known_crate(lib: &str) -> bool {
    CRATES.contains(&lib)
}

/// Whether the path is known.
pub fn is_known(path: &str) -> bool {
    find(path).is_some()
}

/// The paths of every known type, those of std's prelude by their names.
pub fn paths() -> impl Iterator<Item = &'static str> {
    let plain = PLAIN.iter().map(|(path, _)| *path);
    let generic = GENERIC.iter().map(|(path, _)| *path);
    let seen = |path: &&str| !PLAIN.iter().any(|(known, _)| known == path);
    plain.chain(generic).chain(k8s::paths().filter(seen))
}

/// A known path that ends in this name, for suggestions.
pub fn by_name(name: &str) -> Option<&'static str> {
    paths().find(|path| path.contains("::") && path.rsplit("::").next() == Some(name))
}

/// The schema of a type without parameters.
pub fn schema(path: &str) -> Option<Schema> {
    schema_with(path, false)
}

/// The schema of a type without parameters; with `embedded_object_meta`, metadata in it has its fields.
pub fn schema_with(path: &str, embedded_object_meta: bool) -> Option<Schema> {
    if embedded_object_meta && is_object_meta(path) {
        return Some(object_meta());
    }
    match PLAIN.iter().find(|(known, _)| *known == path) {
        Some((_, make)) => Some(make()),
        None => k8s::find(path).map(|make| k8s::convert(make, embedded_object_meta)),
    }
}

/// What schemars makes of a type of k8s-openapi where it is used, with the settings of the generator: the type's schema or
/// a reference to it, exactly as in a program that derives `JsonSchema`.
pub fn json_schema(path: &str, generator: &mut SchemaGenerator) -> Option<schemars::Schema> {
    k8s::find(path).map(|make| make(generator))
}

/// What a user may say of an embedded object, as controller-gen's `generateEmbeddedObjectMeta` has it.
fn object_meta() -> Schema {
    let properties = [
        ("annotations", map_of(string())),
        ("finalizers", list_of(string())),
        ("labels", map_of(string())),
        ("name", string()),
        ("namespace", string()),
    ];
    Schema {
        properties: properties.map(|(name, schema)| (name.to_string(), schema)).into(),
        ..Schema::of_type("object")
    }
}

/// Kinds of known types of which a literal can be a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Simple {
    /// A string.
    Text,
    /// An integer.
    Integer,
    /// A number.
    Number,
    /// `true` or `false`.
    Boolean,
    /// An integer or a string.
    IntOrText,
}

/// The kind of a known type, if a literal can be a value of it.
pub fn simple(path: &str) -> Option<Simple> {
    let schema = schema(path)?;
    if schema.int_or_string {
        return Some(Simple::IntOrText);
    }
    match schema.type_.as_deref()? {
        "string" => Some(Simple::Text),
        "integer" => Some(Simple::Integer),
        "number" => Some(Simple::Number),
        "boolean" => Some(Simple::Boolean),
        _ => None,
    }
}

/// Reduces the ways to name a type to one: std's facades, and crates re-exported by others.
pub fn normalize(path: &str) -> String {
    let Some((lib, rest)) = path.split_once("::") else { return path.to_string() };
    match lib {
        "core" | "alloc" | "std" => {
            let short = STD.iter().find(|(known, _)| *known == rest).map(|(_, name)| (*name).to_string());
            let collections = rest.strip_prefix("collections::").and_then(|rest| {
                let (module, name) = rest.split_once("::")?;
                let modules = ["btree_map", "hash_map", "btree_set", "hash_set", "vec_deque"];
                modules.contains(&module).then(|| format!("std::collections::{name}"))
            });
            short.or(collections).unwrap_or_else(|| format!("std::{rest}"))
        }
        "kubesmith_runtime" => match rest.split_once("::").map_or(rest, |(first, _)| first) {
            "k8s_openapi" | "serde_json" => rest.to_string(),
            "kube" => normalize(rest),
            _ => path.to_string(),
        },
        "kube" | "kube_core" | "kube_client" => kube(rest).unwrap_or_else(|| path.to_string()),
        // chrono's re-export of nothing and k8s-openapi's of jiff and chrono.
        "k8s_openapi" if rest.starts_with("jiff::") || rest.starts_with("chrono::") => rest.to_string(),
        "k8s_openapi" if rest.starts_with("serde_json::") => rest.to_string(),
        "kubesmith_core" => path.to_string(),
        _ => path.to_string(),
    }
}

/// kube's re-exports of k8s-openapi's types.
fn kube(rest: &str) -> Option<String> {
    let rest = rest.strip_prefix("core::").or_else(|| rest.strip_prefix("api::")).unwrap_or(rest);
    match rest {
        "ObjectMeta" => Some(format!("{META}::ObjectMeta")),
        "Duration" => Some("kube::core::Duration".to_string()),
        _ => rest.strip_prefix("k8s_openapi::").map(|rest| format!("k8s_openapi::{rest}")),
    }
}

fn string() -> Schema {
    Schema::of_type("string")
}

fn integer() -> Schema {
    Schema::of_type("integer")
}

fn positive() -> Schema {
    Schema { minimum: Some(Number::from(1)), ..integer() }
}

fn date_time() -> Schema {
    Schema::formatted("string", "date-time")
}

fn any() -> Schema {
    Schema { preserve_unknown_fields: true, ..Schema::default() }
}

fn preserving_object() -> Schema {
    Schema { preserve_unknown_fields: true, ..Schema::of_type("object") }
}

fn int_or_string() -> Schema {
    let any_of = vec![integer(), string()];
    Schema { int_or_string: true, any_of, ..Schema::default() }
}

fn quantity() -> Schema {
    Schema { pattern: Some(QUANTITY_PATTERN.to_string()), ..int_or_string() }
}

/// serde writes a duration as an object.
fn std_duration() -> Schema {
    let number =
        |format: &str| Schema { minimum: Some(Number::from(0)), ..Schema::formatted("integer", format) };
    Schema {
        properties: [("secs".to_string(), number("int64")), ("nanos".to_string(), number("int64"))].into(),
        required: ["secs".to_string(), "nanos".to_string()].into(),
        ..Schema::of_type("object")
    }
}

/// A map with values of this schema.
pub fn map_of(values: Schema) -> Schema {
    Schema { additional_properties: Some(Additional::Schema(Box::new(values))), ..Schema::of_type("object") }
}

/// A list of items of this schema.
pub fn list_of(items: Schema) -> Schema {
    Schema { items: Some(Box::new(items)), ..Schema::of_type("array") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_path_is_its_own_normal_form() {
        for (path, _) in PLAIN {
            assert_eq!(normalize(path), *path);
            assert!(schema(path).is_some_and(|schema| !schema.is_empty()), "{path}");
        }
        for (path, _) in GENERIC {
            assert_eq!(normalize(path), *path);
        }
    }

    #[test]
    fn other_names_lead_to_the_same_types() {
        for (path, normal) in [
            ("alloc::string::String", "String"),
            ("std::collections::btree_map::BTreeMap", "std::collections::BTreeMap"),
            ("kubesmith_runtime::serde_json::Value", "serde_json::Value"),
            (
                "kubesmith_runtime::kube::api::ObjectMeta",
                "k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta",
            ),
            ("kube::core::ObjectMeta", "k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta"),
            ("core::time::Duration", "std::time::Duration"),
        ] {
            assert_eq!(normalize(path), normal);
        }
    }

    #[test]
    fn names_are_found_for_suggestions() {
        assert_eq!(by_name("BTreeMap"), Some("std::collections::BTreeMap"));
        assert_eq!(by_name("PodSpec"), Some("k8s_openapi::api::core::v1::PodSpec"));
        assert_eq!(by_name("Nothing"), None);
    }
}
