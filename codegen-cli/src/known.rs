//! Knows the JSON form of other crates' types without reading them: `tables` has the types, `names` their
//! other paths.
//!
//! Each entry of the tables names its source. A test prints the schema of every entry.

mod k8s;
#[cfg(test)]
mod k8s_types;
pub mod kinds;
mod kubernetes;
mod names;
mod tables;
mod versions;

use std::collections::HashMap;
use std::sync::LazyLock;

use kubesmith_apiextensions::schema::{Additional, Schema};
use serde_json::Value;

pub use names::normalize;
use tables::{GENERIC, OBJECT_META, PLAIN};
pub use versions::{BuiltInTypes, KubernetesVersion};

/// The form of a known type.
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
    /// Null, for any arguments.
    Unit,
    /// A nonzero number: `NonZero<T>`.
    NonZero,
    /// An object: names of fields, and the index of the argument for each.
    Object(&'static [(&'static str, usize)]),
    /// An externally tagged enum: names of variants, and the index of the argument for each one's content.
    Choice(&'static [(&'static str, Option<usize>)]),
}

/// Names of the prelude.
const PRELUDE: &[&str] = &[
    "String", "Vec", "Option", "Box", "bool", "char", "str", "i8", "i16", "i32", "i64", "i128", "isize",
    "u8", "u16", "u32", "u64", "u128", "usize", "f32", "f64", "Result",
];

/// The crates with known types, and those that re-export them.
const CRATES: &[&str] = &[
    "alloc",
    "arrayvec",
    "bigdecimal",
    "bytes",
    "chrono",
    "core",
    "either",
    "indexmap",
    "ipnet",
    "jiff",
    "k8s_openapi",
    "kube",
    "kube_client",
    "kube_core",
    "kubesmith_runtime",
    "rust_decimal",
    "semver",
    "serde",
    "serde_json",
    "smallvec",
    "smol_str",
    "std",
    "url",
    "uuid",
];

/// Floating point types, whose values differ between implementations.
pub fn is_float(path: &str) -> bool {
    matches!(path, "f32" | "f64")
}

/// Whether a path is that of `ObjectMeta`.
pub fn is_object_meta(path: &str) -> bool {
    path == OBJECT_META
}

/// The nonzero type for this type of numbers.
pub fn non_zero(path: &str) -> Option<&'static str> {
    let is_of = |known: &&str| {
        known.strip_prefix("std::num::NonZero").is_some_and(|name| name.eq_ignore_ascii_case(path))
    };
    PLAIN.iter().map(|(known, _)| *known).find(is_of)
}

/// Whether the name is in scope without an import.
pub fn is_prelude(name: &str) -> bool {
    PRELUDE.contains(&name)
}

/// The primitive type for the path of std's module of its name: beside `use std::usize;` rustc still finds the type.
pub fn primitive(path: &str) -> Option<&str> {
    let name = path.strip_prefix("std::")?;
    (is_prelude(name) && name.starts_with(|first: char| first.is_ascii_lowercase())).then_some(name)
}

/// Names in scope without an import.
pub fn prelude() -> impl Iterator<Item = &'static str> {
    PRELUDE.iter().copied()
}

/// All known types by their paths.
static FORMS: LazyLock<HashMap<&'static str, Known>> = LazyLock::new(|| {
    let plain = PLAIN.iter().map(|(path, _)| *path).chain(k8s::paths());
    plain.map(|path| (path, Known::Plain)).chain(GENERIC.iter().copied()).collect()
});

/// Returns the type of the path, if it is known.
pub fn find(path: &str) -> Option<Known> {
    FORMS.get(path).copied()
}

/// Whether the types of a crate with a JSON form are known; such crates are never read.
pub fn is_known_crate(lib: &str) -> bool {
    CRATES.contains(&lib)
}

/// Whether the path is known.
pub fn is_known(path: &str) -> bool {
    find(path).is_some()
}

/// Whether a type of k8s-openapi has this path in any of its versions.
pub fn was_ever_known(path: &str) -> bool {
    path.starts_with("k8s_openapi::") && versions::has(path)
}

/// The paths of all known types; types of std's prelude have only a name.
pub fn paths() -> impl Iterator<Item = &'static str> {
    let plain = PLAIN.iter().map(|(path, _)| *path);
    let generic = GENERIC.iter().map(|(path, _)| *path);
    let seen = |path: &&str| !PLAIN.iter().any(|(known, _)| known == path);
    plain.chain(generic).chain(k8s::paths().filter(seen))
}

/// A known path with this last name, for suggestions. Prefers types of Kubernetes: the JSON of kube's `Duration` is a text,
/// as in Go; that of std's is an object.
pub fn by_name(name: &str) -> Option<&'static str> {
    let mut named = paths().filter(|path| path.contains("::") && path.rsplit("::").next() == Some(name));
    let first = named.next()?;
    let is_of_kubernetes = |path: &&str| path.starts_with("kube::") || path.starts_with("k8s_openapi::");
    Some(named.find(is_of_kubernetes).filter(|_| !is_of_kubernetes(&first)).unwrap_or(first))
}

/// The schema of a type without parameters.
pub fn schema(path: &str) -> Option<Schema> {
    schema_with(path, false)
}

/// The schema of a type without parameters; with `embedded_object_meta`, metadata in it has fields.
pub fn schema_with(path: &str, embedded_object_meta: bool) -> Option<Schema> {
    if embedded_object_meta && is_object_meta(path) {
        return Some(object_meta());
    }
    match PLAIN.iter().find(|(known, _)| *known == path) {
        Some((_, make)) => Some(make()),
        None => k8s::openapi_name(path).map(|name| k8s::schema(name, embedded_object_meta)),
    }
}

/// The name in OpenAPI of a type of k8s-openapi: `io.k8s.api.core.v1.PodSpec`.
pub fn openapi_name(path: &str) -> Option<&'static str> {
    k8s::openapi_name(path)
}

/// The path of a type of k8s-openapi, by its name in OpenAPI.
pub fn openapi_path(name: &str) -> Option<&'static str> {
    k8s::path(name)
}

/// The definition of a type in Kubernetes' OpenAPI document, by its name there; references are such names.
pub fn definition(name: &str) -> Option<&'static Value> {
    k8s::definition(name)
}

/// The metadata of an embedded object, as with controller-gen's `generateEmbeddedObjectMeta`.
fn object_meta() -> Schema {
    let string = || Schema::of_type("string");
    let properties = [
        ("annotations", map_of(string())),
        ("finalizers", list_of(string())),
        ("labels", map_of(string())),
        ("name", string()),
        ("namespace", string()),
    ];
    Schema {
        properties: properties.map(|(name, schema)| (name.to_string(), schema.into())).into(),
        ..Schema::of_type("object")
    }
}

/// Kinds of known types that have literals.
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

/// The kind of a known type, if it has literals.
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
        for path in paths() {
            assert_eq!(normalize(path), path);
        }
        for (path, _) in PLAIN {
            assert!(schema(path).is_some_and(|schema| !schema.is_empty()), "{path}");
        }
    }

    #[test]
    fn every_path_is_in_a_known_crate() {
        for path in paths().filter(|path| !is_prelude(path)) {
            assert!(path.split("::").next().is_some_and(is_known_crate), "{path}");
        }
    }

    #[test]
    fn known_type_is_found_by_its_short_name() {
        assert_eq!(by_name("BTreeMap"), Some("std::collections::BTreeMap"));
        assert_eq!(by_name("PodSpec"), Some("k8s_openapi::api::core::v1::PodSpec"));
        assert_eq!(by_name("Time"), Some("k8s_openapi::apimachinery::pkg::apis::meta::v1::Time"));
        assert_eq!(by_name("Duration"), Some("kube::core::Duration"));
        assert_eq!(by_name("Nothing"), None);
    }
}
