//! Builds schemas of k8s-openapi's types: schemars' schemas are compiled in and made structural on demand.

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use k8s_openapi::schemars::generate::SchemaSettings;
use k8s_openapi::schemars::{self, SchemaGenerator};
use serde_json::{Map, Value};

use super::k8s_types::TABLE;
use super::kubernetes;
use crate::schema::Schema;

/// Prefix of schemars' references to its definitions.
const REFERENCE: &str = "#/$defs/";

/// Makes the schema of a field with a type.
pub(super) type Make = fn(&mut SchemaGenerator) -> schemars::Schema;

/// The types by their paths.
static BY_PATH: LazyLock<HashMap<&'static str, Make>> =
    LazyLock::new(|| TABLE.iter().copied().flatten().copied().collect());

/// The function that makes the schema of a type, by its path.
pub(super) fn find(path: &str) -> Option<Make> {
    BY_PATH.get(path).copied()
}

/// Every path of the table.
pub(super) fn paths() -> impl Iterator<Item = &'static str> {
    TABLE.iter().copied().flatten().map(|(path, _)| *path)
}

/// Turns a schema from schemars into a structural schema.
pub(super) fn convert(make: Make, embedded_object_meta: bool) -> Schema {
    let (root, definitions) = generate(make);
    let mut inliner = Inliner { definitions: &definitions, embedded_object_meta, open: HashSet::new() };
    let mut schema: Schema = serde_json::from_value(inliner.value(root)).unwrap_or_default();
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

/// The definitions of all types by their OpenAPI names.
static DEFINITIONS: LazyLock<Map<String, Value>> = LazyLock::new(|| {
    let mut generator = SchemaGenerator::new(SchemaSettings::draft2020_12());
    for (_, make) in TABLE.iter().copied().flatten() {
        make(&mut generator);
    }
    generator.take_definitions(true)
});

/// The OpenAPI name of a type by its path.
pub(super) fn openapi_name(path: &str) -> Option<&'static str> {
    find(path)?;
    let name = format!("io.k8s.{}", path.strip_prefix("k8s_openapi::")?.replace("::", "."));
    // Names have dashes, which paths cannot have.
    let known = |name: &str| DEFINITIONS.get_key_value(name).map(|(name, _)| name.as_str());
    known(&name).or_else(|| known(&name.replace('_', "-")))
}

/// The definition of a type in the OpenAPI document.
pub(super) fn definition(name: &str) -> Option<&'static Value> {
    DEFINITIONS.get(name)
}

/// A type's schema with the definitions in it.
pub(super) fn generate(make: Make) -> (Value, Map<String, Value>) {
    let mut generator = SchemaGenerator::new(SchemaSettings::draft2020_12());
    let root = make(&mut generator).to_value();
    (root, generator.take_definitions(true))
}

/// Replaces references by their targets; some types have better schemas here.
struct Inliner<'a> {
    definitions: &'a Map<String, Value>,
    embedded_object_meta: bool,
    /// The enclosing definitions; a reference to one of them is a cycle.
    open: HashSet<String>,
}

impl Inliner<'_> {
    fn value(&mut self, value: Value) -> Value {
        match value {
            Value::Object(object) => self.object(object),
            Value::Array(items) => Value::Array(items.into_iter().map(|item| self.value(item)).collect()),
            other => other,
        }
    }

    fn object(&mut self, mut object: Map<String, Value>) -> Value {
        let reference = match object.get("$ref") {
            Some(Value::String(reference)) => reference.strip_prefix(REFERENCE).map(str::to_string),
            _ => None,
        };
        let Some(name) = reference else {
            return Value::Object(object.into_iter().map(|(key, value)| (key, self.value(value))).collect());
        };
        object.remove("$ref");
        let mut target = self.definition(&name);
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
        let mut value = self.definitions.get(name).cloned().unwrap_or(Value::Null);
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
    let path = format!("k8s_openapi::{}", name.strip_prefix("io.k8s.")?.replace('.', "::").replace('-', "_"));
    if super::is_object_meta(&path) {
        return super::schema_with(&path, embedded_object_meta);
    }
    super::PLAIN.iter().find(|(known, _)| *known == path).map(|(_, make)| make())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_table_entry_has_a_structural_schema() {
        for (path, make) in TABLE.iter().copied().flatten() {
            let mut schema = convert(*make, false);
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
        let schema = |path: &str| convert(find(path).unwrap(), false);
        let template = schema("k8s_openapi::api::core::v1::PodTemplateSpec");
        assert_eq!(template.properties["metadata"].properties.len(), 0);
        assert_eq!(template.properties["metadata"].type_.as_deref(), Some("object"));
        let resources = schema("k8s_openapi::api::core::v1::ResourceRequirements");
        let text = resources.to_value().to_string();
        assert!(text.contains("x-kubernetes-int-or-string") && text.contains("pattern"), "{text}");
    }

    #[test]
    fn schemars_schemas_follow_the_settings() {
        let path = "k8s_openapi::api::core::v1::EnvVarSource";
        let settings = || SchemaSettings::openapi3().with(|settings| settings.inline_subschemas = true);
        let derived = SchemaGenerator::new(settings())
            .subschema_for::<Option<k8s_openapi::api::core::v1::EnvVarSource>>();
        let named = super::super::json_schema(path, &mut SchemaGenerator::new(settings())).unwrap();
        assert_eq!(named.get("properties"), derived.get("properties"));
        let referring = super::super::json_schema(path, &mut SchemaGenerator::default()).unwrap();
        assert_eq!(referring.get("$ref").unwrap(), "#/$defs/io.k8s.api.core.v1.EnvVarSource");
        assert!(super::super::json_schema("k8s_openapi::Nothing", &mut SchemaGenerator::default()).is_none());
    }
}
