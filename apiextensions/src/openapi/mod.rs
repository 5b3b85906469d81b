//! The definitions of custom resources in `/openapi/v3/apis/<group>/<version>`: the kind, its list, and the types of
//! metadata that they refer to.
//!
//! In: the names and the `openAPIV3Schema` of one version. Out: definitions by name, as kube-apiserver builds them
//! (`pkg/controller/openapi/builder` of apiextensions-apiserver). Nested types have no definitions of their own: a CRD's
//! schema is one tree.

mod metadata;
#[cfg(test)]
mod tests;
mod v2;

use std::collections::BTreeMap;

use serde_json::{Value, json};

pub use metadata::{PACKAGE as META, definitions as metadata_definitions};

/// Extension that names the group, version and kind of a definition.
pub const GROUP_VERSION_KIND: &str = "x-kubernetes-group-version-kind";

/// Extension of an object with fields that its schema does not describe.
const KEEPS_UNKNOWN: &str = "x-kubernetes-preserve-unknown-fields";

/// Extension of an object that is a resource itself.
const EMBEDDED: &str = "x-kubernetes-embedded-resource";

/// Extension that lists the fields which field selectors may name.
const SELECTABLE_FIELDS: &str = "x-kubernetes-selectable-fields";

/// The documentation of every object's common fields.
const CONVENTIONS: &str =
    "https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md";

/// One version of a custom resource.
#[derive(Clone, Copy, Debug)]
pub struct CustomKind<'a> {
    /// API group.
    pub group: &'a str,
    /// Version.
    pub version: &'a str,
    /// Kind.
    pub kind: &'a str,
    /// Kind of its lists.
    pub list_kind: &'a str,
    /// Resource name in URLs.
    pub plural: &'a str,
    /// Paths of the selectable fields; a leading dot is ignored.
    pub selectable_fields: &'a [String],
}

/// The definitions of a kind and of its list, by name. `schema` is the version's `openAPIV3Schema`; anything but an object
/// stands for a version without a schema.
pub fn definitions(kind: &CustomKind<'_>, schema: Value) -> BTreeMap<String, Value> {
    all(kind, object_definition(kind, schema, false))
}

/// The same definitions in version 2, without defaults and with the references of version 3. A kind that keeps unknown
/// fields loses its known ones, since kubectl would refuse all others (`buildKubeNative`).
pub fn definitions_v2(kind: &CustomKind<'_>, mut schema: Value) -> BTreeMap<String, Value> {
    if schema[KEEPS_UNKNOWN] == true {
        let mut out = json!({"type": "object"});
        extend(&mut out, kind, kind.kind);
        return all(kind, out);
    }
    v2::convert(&mut schema);
    all(kind, object_definition(kind, schema, true))
}

fn all(kind: &CustomKind<'_>, object: Value) -> BTreeMap<String, Value> {
    let name = definition_name(kind.group, kind.version, kind.kind);
    let list = list_definition(kind, &name);
    let list_name = definition_name(kind.group, kind.version, kind.list_kind);
    BTreeMap::from([(name, object), (list_name, list)])
}

/// Name of a definition: the group's labels backwards, then version and kind.
pub fn definition_name(group: &str, version: &str, kind: &str) -> String {
    let group: Vec<&str> = group.rsplit('.').collect();
    format!("{}.{version}.{kind}", group.join("."))
}

fn object_definition(kind: &CustomKind<'_>, schema: Value, v2: bool) -> Value {
    let mut out = if schema.is_object() { schema } else { json!({"type": "object"}) };
    complete(&mut out, v2);
    add_type_meta(&mut out);
    out["properties"]["metadata"] =
        reference("ObjectMeta", &format!("Standard object's metadata. More info: {CONVENTIONS}#metadata"));
    extend(&mut out, kind, kind.kind);
    out
}

fn list_definition(kind: &CustomKind<'_>, item: &str) -> Value {
    let mut out = json!({
        "description": format!("{} is a list of {}", kind.list_kind, kind.kind),
        "type": "object",
        "required": ["items"],
        "properties": {
            "items": {
                "description": format!("List of {}. More info: {CONVENTIONS}", kind.plural),
                "type": "array",
                "items": {"$ref": format!("#/components/schemas/{item}")},
            },
            "metadata":
                reference("ListMeta", &format!("Standard list metadata. More info: {CONVENTIONS}#types-kinds")),
        },
    });
    add_type_meta(&mut out);
    extend(&mut out, kind, kind.list_kind);
    out
}

fn extend(schema: &mut Value, kind: &CustomKind<'_>, name: &str) {
    schema[GROUP_VERSION_KIND] = json!([{"group": kind.group, "version": kind.version, "kind": name}]);
    if !kind.selectable_fields.is_empty() {
        let paths = kind.selectable_fields.iter().map(|path| path.trim_start_matches('.'));
        schema[SELECTABLE_FIELDS] = paths.map(|path| json!({"fieldPath": path})).collect();
    }
}

/// A reference to a type of metadata. OpenAPI 3.0 allows nothing beside `$ref`, so it stands in an `allOf`.
fn reference(kind: &str, description: &str) -> Value {
    json!({"allOf": [{"$ref": metadata::reference(kind)}], "description": description})
}

/// Removes properties of the wrong type, which a server would refuse.
fn clear_wrong_properties(schema: &mut Value) {
    if !schema["properties"].is_object() {
        schema["properties"] = json!({});
    }
}

fn add_type_meta(schema: &mut Value) {
    clear_wrong_properties(schema);
    schema["properties"]["apiVersion"] = json!({
        "type": "string",
        "description": format!(
            "APIVersion defines the versioned schema of this representation of an object. Servers should convert \
             recognized schemas to the latest internal value, and may reject unrecognized values. \
             More info: {CONVENTIONS}#resources"
        ),
    });
    schema["properties"]["kind"] = json!({
        "type": "string",
        "description": format!(
            "Kind is a string value representing the REST resource this object represents. Servers may infer this \
             from the endpoint the client submits requests to. Cannot be updated. In CamelCase. \
             More info: {CONVENTIONS}#types-kinds"
        ),
    });
}

/// Writes out what extensions imply: the two types of `x-kubernetes-int-or-string` and the fields of
/// `x-kubernetes-embedded-resource`. Drops empty examples, as Go does. Follows the structure of the schema, not
/// its value validations. Version 2 has no choices of types, and kubectl would refuse unknown fields beside known ones.
fn complete(schema: &mut Value, v2: bool) {
    for key in ["items", "additionalProperties"] {
        if let Some(inner) = schema.get_mut(key).filter(|inner| inner.is_object()) {
            complete(inner, v2);
        }
    }
    for property in schema.get_mut("properties").and_then(Value::as_object_mut).into_iter().flatten() {
        complete(property.1, v2);
    }
    if let Some(members) = schema.as_object_mut() {
        members.retain(|key, value| key != "example" || !is_empty(value));
    }
    if !v2 && schema["x-kubernetes-int-or-string"] == true {
        unfold(schema);
    }
    if schema[EMBEDDED] == true && !(v2 && schema[KEEPS_UNKNOWN] == true) {
        embed(schema);
    }
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(members) => members.is_empty(),
        Value::Bool(_) | Value::Number(_) => false,
    }
}

fn unfold(schema: &mut Value) {
    let either = json!([{"type": "integer"}, {"type": "string"}]);
    if schema["anyOf"] == either || schema["allOf"][0]["anyOf"] == either {
        return;
    }
    if schema["anyOf"].is_null() {
        schema["anyOf"] = either;
        return;
    }
    let mut all = vec![json!({"anyOf": either})];
    all.extend(schema["allOf"].as_array().cloned().unwrap_or_default());
    schema["allOf"] = Value::Array(all);
}

fn embed(schema: &mut Value) {
    let described = |text: String| json!({"type": "string", "description": text});
    clear_wrong_properties(schema);
    schema["properties"]["apiVersion"] = described(format!(
        "apiVersion defines the versioned schema of this representation of an object. More info: {CONVENTIONS}#resources"
    ));
    schema["properties"]["kind"] = described(format!(
        "kind is a string value representing the type of this object. In CamelCase. More info: {CONVENTIONS}#types-kinds"
    ));
    schema["properties"]["metadata"] =
        reference("ObjectMeta", &format!("Standard object's metadata. More info: {CONVENTIONS}#metadata"));
    let mut required = schema["required"].as_array().cloned().unwrap_or_default();
    for name in ["kind", "apiVersion"] {
        if !required.iter().any(|known| known == name) {
            required.push(name.into());
        }
    }
    schema["required"] = Value::Array(required);
}
