//! Models Schemars 0.8's structs: its schemas are JSON objects, and each field is a keyword
//! (`schemars/src/schema.rs`).

use serde_json::{Map, Value};

use super::places::{Part, Place};
use crate::syntax::PathExpr;

/// The structs.
const STRUCTS: &[&str] = &[
    "SchemaObject",
    "RootSchema",
    "Metadata",
    "SubschemaValidation",
    "NumberValidation",
    "StringValidation",
    "ArrayValidation",
    "ObjectValidation",
];

/// Fields with a part of a schema, whose keywords belong to the schema itself.
const PARTS: &[&str] =
    &["metadata", "subschemas", "number", "string", "array", "object", "extensions", "schema"];

/// Fields whose keywords are not their names in camel case.
const NAMES: &[(&str, &str)] = &[
    ("instance_type", "type"),
    ("enum_values", "enum"),
    ("const_value", "const"),
    ("reference", "$ref"),
    ("id", "$id"),
    ("if_schema", "if"),
    ("then_schema", "then"),
    ("else_schema", "else"),
];

/// Fields whose keywords are their names in camel case.
const FIELDS: &[&str] = &[
    "format",
    "title",
    "description",
    "default",
    "deprecated",
    "read_only",
    "write_only",
    "examples",
    "all_of",
    "any_of",
    "one_of",
    "not",
    "multiple_of",
    "maximum",
    "exclusive_maximum",
    "minimum",
    "exclusive_minimum",
    "max_length",
    "min_length",
    "pattern",
    "items",
    "additional_items",
    "max_items",
    "min_items",
    "unique_items",
    "contains",
    "max_properties",
    "min_properties",
    "required",
    "properties",
    "pattern_properties",
    "additional_properties",
    "property_names",
];

/// Keywords that are left out when empty.
const COLLECTIONS: &[&str] = &["required", "properties", "patternProperties", "examples"];

/// Whether a part of a schema has the field.
pub(super) fn is_field(name: &str) -> bool {
    PARTS.contains(&name) || FIELDS.contains(&name) || NAMES.iter().any(|(field, _)| *field == name)
}

/// Whether a method or field of this name is a part of a schema.
pub(super) fn is_part(name: &str) -> bool {
    PARTS.contains(&name)
}

/// The place of a field.
pub(super) fn field(place: Place, name: &str) -> Place {
    let place = if is_part(name) { place } else { place.then(Part::Key(keyword(name))) };
    let holds_items = matches!(
        name,
        "extensions" | "properties" | "pattern_properties" | "required" | "enum_values" | "examples"
    );
    if holds_items { place.into_collection() } else { place }
}

/// Whether schemars leaves the keyword out.
pub(super) fn is_left_out(keyword: &str, value: &Value) -> bool {
    match value {
        Value::Array(items) => items.is_empty() && COLLECTIONS.contains(&keyword),
        Value::Object(members) => members.is_empty() && COLLECTIONS.contains(&keyword),
        Value::Bool(false) => matches!(keyword, "deprecated" | "readOnly" | "writeOnly"),
        _ => false,
    }
}

/// Whether the struct at this path is a schema or a part of one.
pub(super) fn is_struct(path: &PathExpr) -> bool {
    path.segments.last().is_some_and(|name| STRUCTS.contains(&name.as_str()))
}

/// Sets a field of a struct; `None`: the field cannot have this value.
pub(super) fn set(schema: &mut Value, name: &str, value: Option<Value>) -> Option<()> {
    let members = super::super::pieces::object(schema);
    let Some(value) = value else { return Some(()) };
    match (is_part(name), value) {
        (true, Value::Object(part)) => members.extend(part),
        (true, _) => return None,
        (false, value) => {
            let keyword = keyword(name);
            if !is_left_out(&keyword, &value) {
                members.insert(keyword, value);
            }
        }
    }
    Some(())
}

fn keyword(name: &str) -> String {
    if let Some((_, keyword)) = NAMES.iter().find(|(field, _)| *field == name) {
        return (*keyword).to_string();
    }
    let mut out = String::new();
    for word in name.split('_') {
        match word.chars().next() {
            Some(first) if !out.is_empty() => {
                out.extend(first.to_uppercase());
                out.push_str(&word[first.len_utf8()..]);
            }
            _ => out.push_str(word),
        }
    }
    out
}

/// The pairs as members of an object; `None`: a value is not a pair.
pub(super) fn members(pairs: &[Value]) -> Option<Map<String, Value>> {
    let pair = |pair: &Value| match pair.as_array()?.as_slice() {
        [Value::String(key), value] => Some((key.clone(), value.clone())),
        _ => None,
    };
    pairs.iter().map(pair).collect()
}
