//! k8s-openapi's types in the version of the tool: their definitions, made structural on demand.

use std::collections::{BTreeMap, HashSet};
use std::sync::{LazyLock, OnceLock};

use kubesmith_apiextensions::schema::Schema;
use serde_json::{Map, Value};

use super::kubernetes;
use super::versions::BuiltInTypes;

/// Names in OpenAPI by the paths under which the types are exported.
static NAMES: LazyLock<BTreeMap<&'static str, &'static str>> =
    LazyLock::new(|| TYPES.iter().map(|(name, known)| (known.path.as_str(), *name)).collect());

/// The types by their names in OpenAPI.
static TYPES: LazyLock<BTreeMap<&'static str, Type>> =
    LazyLock::new(|| BuiltInTypes::default().names().map(|name| (name, Type::new(name))).collect());

struct Type {
    path: String,
    /// Is read when it is needed.
    definition: OnceLock<Value>,
}

impl Type {
    fn new(name: &str) -> Self {
        let path = name.trim_start_matches("io.k8s.").replace('.', "::").replace('-', "_");
        Self { path: format!("k8s_openapi::{path}"), definition: OnceLock::new() }
    }
}

/// Every path, sorted.
pub(super) fn paths() -> impl Iterator<Item = &'static str> {
    NAMES.keys().copied()
}

/// The OpenAPI name of a type by its path.
pub(super) fn openapi_name(path: &str) -> Option<&'static str> {
    NAMES.get(path).copied()
}

/// The path of a type, by its OpenAPI name.
pub(super) fn path(name: &str) -> Option<&'static str> {
    TYPES.get(name).map(|known| known.path.as_str())
}

/// The definition of a type in the OpenAPI document, by its name there; references are such names.
pub(super) fn definition(name: &str) -> Option<&'static Value> {
    let known = TYPES.get(name)?;
    Some(known.definition.get_or_init(|| BuiltInTypes::default().definition(name).unwrap_or_default()))
}

/// The structural schema of a type, by its OpenAPI name.
pub(super) fn schema(name: &str, embedded_object_meta: bool) -> Schema {
    let mut inliner = Inliner { embedded_object_meta, open: HashSet::new() };
    let mut schema: Schema = serde_json::from_value(inliner.definition(name)).unwrap_or_default();
    schema.walk_mut(&mut |schema| {
        schema.required.sort();
        drop_refused_keys(schema);
    });
    schema
}

/// Removes the keys of lists that an API server refuses in a CRD, because they are optional without default:
/// Kubernetes does not apply this rule to its own types.
fn drop_refused_keys(schema: &mut Schema) {
    let Some(items) = &schema.items else { return };
    let is_certain = |key: &String| {
        items.required.contains(key) || items.properties.get(key).is_some_and(|key| key.default.is_some())
    };
    if !schema.list_map_keys.iter().all(is_certain) {
        schema.list_map_keys.clear();
        schema.list_type = None;
    }
}

/// Replaces references by their targets; some types have better schemas here.
struct Inliner {
    embedded_object_meta: bool,
    /// The enclosing definitions; a reference to one of them is a cycle.
    open: HashSet<String>,
}

impl Inliner {
    fn value(&mut self, value: Value) -> Value {
        match value {
            Value::Object(object) => self.object(object),
            Value::Array(items) => Value::Array(items.into_iter().map(|item| self.value(item)).collect()),
            other => other,
        }
    }

    fn object(&mut self, mut object: Map<String, Value>) -> Value {
        let Some(Value::String(name)) = object.get("$ref") else {
            return Value::Object(object.into_iter().map(|(key, value)| (key, self.value(value))).collect());
        };
        let mut target = self.definition(name);
        object.remove("$ref");
        if let Value::Object(target) = &mut target {
            target.extend(object);
        }
        target
    }

    fn definition(&mut self, name: &str) -> Value {
        if let Some(schema) = better(name, self.embedded_object_meta) {
            return schema.to_value();
        }
        if !self.open.insert(name.to_string()) {
            // JSON schemas are recursive; structural schemas cannot be.
            return serde_json::json!({ "type": "object", "x-kubernetes-preserve-unknown-fields": true });
        }
        let mut value = definition(name).cloned().unwrap_or_default();
        if let Value::Object(schema) = &mut value {
            kubernetes::apply(name, schema);
        }
        let out = self.value(value);
        self.open.remove(name);
        out
    }
}

/// controller-gen's schema for a type for which Kubernetes' OpenAPI document is less precise.
fn better(name: &str, embedded_object_meta: bool) -> Option<Schema> {
    let path = path(name)?;
    if super::is_object_meta(path) {
        return super::schema_with(path, embedded_object_meta);
    }
    super::PLAIN.iter().find(|(known, _)| *known == path).map(|(_, make)| make())
}

#[cfg(test)]
mod tests {
    use super::super::k8s_types::TABLE;
    use super::*;

    #[test]
    fn every_type_has_a_structural_schema() {
        for (path, name) in &*NAMES {
            let mut schema = schema(name, false);
            assert!(!schema.is_empty(), "{path}");
            let text = schema.to_value().to_string();
            // JSON schemas themselves have a field of this name.
            assert!(!text.contains("\"$ref\":\""), "{path}");
            schema.walk_mut(&mut |schema| {
                let typed = schema.type_.is_some() || schema.int_or_string || schema.preserve_unknown_fields;
                // Branches of anyOf carry no type of their own beyond that of their parent.
                assert!(typed, "{path}: {schema:?}");
            });
        }
    }

    #[test]
    fn nested_known_type_has_its_own_schema() {
        let schema = |path: &str| schema(openapi_name(path).unwrap(), false);
        let template = schema("k8s_openapi::api::core::v1::PodTemplateSpec");
        assert_eq!(template.properties["metadata"].properties.len(), 0);
        assert_eq!(template.properties["metadata"].type_.as_deref(), Some("object"));
        let resources = schema("k8s_openapi::api::core::v1::ResourceRequirements");
        let text = resources.to_value().to_string();
        assert!(text.contains("x-kubernetes-int-or-string") && text.contains("pattern"), "{text}");
    }

    #[test]
    fn paths_equal_those_of_k8s_openapi() {
        let compiled: Vec<&str> = TABLE.iter().copied().flatten().map(|(path, _)| *path).collect();
        assert_eq!(paths().collect::<Vec<_>>(), compiled);
    }
}
