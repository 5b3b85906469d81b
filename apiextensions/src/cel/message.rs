//! Messages that expressions construct to describe patches: `Object{...}` and `JSONPatch{...}`.
//!
//! Source: apiserver's pkg/cel/mutation and pkg/cel/library/jsonpatch.go. An object has no schema here, so every field of an
//! `Object` may be set; a type name has to repeat the path of its field.

use std::collections::BTreeMap;

use serde_json::{Value as Json, json};

use super::native::{self, PatchFault};
use super::types::Type;
use super::value::{Value, equal};

pub(super) const OBJECT: &str = "Object";
pub(super) const JSON_PATCH: &str = "JSONPatch";

/// A constructed message.
#[derive(Debug)]
pub(super) struct Message {
    pub(super) name: String,
    pub(super) fields: BTreeMap<String, Value>,
}

impl Message {
    /// Constructs a message.
    ///
    /// # Errors
    /// Returns fields that the message does not have (`Val` of pkg/cel/mutation/jsonpatch.go).
    pub(super) fn new(name: &str, fields: BTreeMap<String, Value>) -> Result<Self, String> {
        if name == JSON_PATCH {
            for (field, value) in &fields {
                match (field.as_str(), value) {
                    ("op" | "path" | "from", Value::String(_)) | ("value", _) => {}
                    ("op" | "path" | "from", other) => {
                        let found = go_type(other);
                        return Err(format!("unexpected type {found} for JSONPatchType '{field}' field"));
                    }
                    _ => return Err(format!("unexpected JSONPatchType field: {field}")),
                }
            }
        }
        Ok(Self { name: name.to_owned(), fields })
    }

    pub(super) fn equals(&self, other: &Self) -> bool {
        self.name == other.name
            && self.fields.len() == other.fields.len()
            && self.fields.iter().all(|(name, value)| other.fields.get(name).is_some_and(|o| equal(value, o)))
    }
}

/// The name of a value's type in Go.
fn go_type(value: &Value) -> &str {
    match value {
        Value::Null => "structpb.NullValue",
        Value::Int(_) => "int64",
        Value::Uint(_) => "uint64",
        Value::Double(_) => "float64",
        Value::Bytes(_) => "[]uint8",
        other => other.type_name(),
    }
}

/// Reports whether messages of this name can be constructed.
pub(super) fn is_known(name: &str) -> bool {
    name == JSON_PATCH
        || name == OBJECT
        || name.strip_prefix(OBJECT).is_some_and(|rest| rest.starts_with('.'))
}

/// Reports whether a function is only for patches.
pub(super) fn is_function(name: &str) -> bool {
    name.starts_with("jsonpatch.")
}

/// The type of a message's field. Unknown fields of `JSONPatch` have a type without a name, as in `Field` of
/// pkg/cel/mutation/jsonpatch.go.
pub(super) fn field_type(message: &str, field: &str) -> Type {
    match (message, field) {
        (JSON_PATCH, "op" | "from" | "path") => Type::String,
        (JSON_PATCH, name) if name != "value" => Type::Opaque(""),
        _ => Type::Dyn,
    }
}

/// Converts a value to JSON: an apply configuration, or a list of operations.
///
/// # Errors
/// Returns the type names that do not fit their fields, or values that JSON does not have.
pub(super) fn to_json(value: &Value) -> Result<Json, PatchFault> {
    match value {
        Value::Message(message) if message.name != JSON_PATCH => {
            check_names(value, &message.name)?;
            native::configuration(message).map_err(PatchFault::Failed)
        }
        Value::List(list) => list.items.iter().map(operation).collect(),
        other => native::operand(other),
    }
}

/// An operation of a JSON patch.
fn operation(value: &Value) -> Result<Json, PatchFault> {
    let Value::Message(message) = value else { return native::operand(value) };
    let text = |name: &str| match message.fields.get(name) {
        Some(Value::String(text)) => text.to_string(),
        _ => String::new(),
    };
    let mut operation = json!({"op": text("op"), "path": text("path")});
    if !text("from").is_empty() {
        operation["from"] = json!(text("from"));
    }
    if let Some(value) = message.fields.get("value") {
        if let Value::Message(object) = value
            && object.name != JSON_PATCH
        {
            check_names(value, &object.name)?;
        }
        operation["value"] = native::operand(value)?;
    }
    Ok(operation)
}

/// Checks that every message in the value is named after its path (`CheckTypeNamesMatchFieldPathNames`).
fn check_names(value: &Value, path: &str) -> Result<(), PatchFault> {
    let mut faults = Vec::new();
    collect_names(value, path, &mut faults);
    match faults.is_empty() {
        true => Ok(()),
        false => Err(PatchFault::Failed(format!("type mismatch: {}", faults.join("\n")))),
    }
}

fn collect_names(value: &Value, path: &str, faults: &mut Vec<String>) {
    match value {
        Value::Message(message) if message.name != JSON_PATCH => {
            if message.name != path {
                faults.push(format!(
                    "unexpected type name {:?}, expected {path:?}, which matches field name path from root Object type",
                    message.name
                ));
            }
            for (name, field) in &message.fields {
                collect_names(field, &format!("{path}.{name}"), faults);
            }
        }
        Value::List(list) => list.items.iter().for_each(|item| collect_names(item, path, faults)),
        Value::Map(map) => map.values().for_each(|value| collect_names(value, path, faults)),
        _ => {}
    }
}
