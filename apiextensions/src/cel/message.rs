//! Messages that expressions construct to describe patches: `Object{...}` and `JSONPatch{...}`.
//!
//! Source: apiserver's pkg/cel/mutation and pkg/cel/library/jsonpatch.go. An object has no schema here, so every field of an
//! `Object` may be set; a type name has to repeat the path of its field.

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde_json::{Map, Number, Value as Json, json};

use super::types::Type;
use super::value::{Key, Value, duration_text, equal};

const OBJECT: &str = "Object";
const JSON_PATCH: &str = "JSONPatch";

/// The greatest integer that JSON's readers agree on; greater ones become strings. Source: cel-go's conversion of integers
/// to JSON.
const MAX_SAFE: i64 = (1 << 53) - 1;

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

/// Converts a value to JSON.
///
/// # Errors
/// Returns the type names that do not fit their fields, or values that JSON does not have.
pub(super) fn to_json(value: &Value) -> Result<Json, String> {
    match value {
        Value::Message(message) if message.name == JSON_PATCH => operation(message),
        Value::Message(message) => {
            check_names(value, &message.name)?;
            plain(value)
        }
        Value::List(list) => list.items.iter().map(to_json).collect(),
        other => plain(other),
    }
}

/// An operation of a JSON patch.
fn operation(message: &Message) -> Result<Json, String> {
    let text = |name: &str| match message.fields.get(name) {
        Some(Value::String(text)) => text.to_string(),
        _ => String::new(),
    };
    let mut operation = json!({"op": text("op"), "path": text("path")});
    if !text("from").is_empty() {
        operation["from"] = json!(text("from"));
    }
    if let Some(value) = message.fields.get("value") {
        operation["value"] = match value {
            Value::Message(_) => to_json(value)?,
            other => plain(other).map_err(|fault| {
                format!(
                    "JSONPath valueExpression evaluated to a type that could not marshal to JSON: {fault}"
                )
            })?,
        };
    }
    Ok(operation)
}

/// Checks that every message in the value is named after its path (`CheckTypeNamesMatchFieldPathNames`).
fn check_names(value: &Value, path: &str) -> Result<(), String> {
    let mut faults = Vec::new();
    collect_names(value, path, &mut faults);
    if faults.is_empty() { Ok(()) } else { Err(format!("type mismatch: {}", faults.join("\n"))) }
}

fn collect_names(value: &Value, path: &str, faults: &mut Vec<String>) {
    match value {
        Value::Message(message) => {
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

fn named(fields: &BTreeMap<String, Value>) -> impl Iterator<Item = (String, &Value)> {
    fields.iter().map(|(name, value)| (name.clone(), value))
}

/// Converts a value to JSON without checking the names of messages.
fn plain(value: &Value) -> Result<Json, String> {
    let members = |members: &mut dyn Iterator<Item = (String, &Value)>| {
        members.map(|(name, value)| Ok((name, plain(value)?))).collect::<Result<Map<_, _>, String>>()
    };
    Ok(match value {
        Value::Null => Json::Null,
        Value::Bool(value) => json!(value),
        Value::Int(number) if number.unsigned_abs() <= MAX_SAFE.unsigned_abs() => json!(number),
        Value::Int(number) => json!(number.to_string()),
        Value::Uint(number) if *number <= MAX_SAFE.unsigned_abs() => json!(number),
        Value::Uint(number) => json!(number.to_string()),
        Value::Double(number) => match Number::from_f64(*number) {
            Some(number) => Json::Number(number),
            None => return Err(format!("{number} is no JSON number")),
        },
        Value::String(text) => json!(text.as_ref()),
        Value::Bytes(bytes) => json!(BASE64.encode(bytes)),
        Value::Duration(nanos) => json!(duration_text(*nanos)),
        Value::Timestamp(_) => json!(super::functions::text_of(value)),
        Value::List(list) => list.items.iter().map(plain).collect::<Result<_, _>>()?,
        Value::Object(fields) => Json::Object(members(&mut named(fields))?),
        Value::Message(message) => Json::Object(members(&mut named(&message.fields))?),
        Value::Map(map) => {
            let name = |key: &Key| super::functions::text_of(&key.value());
            Json::Object(members(&mut map.iter().map(|(key, value)| (name(key), value)))?)
        }
        other => {
            return Err(format!(
                "type conversion error from '{}' to 'google.protobuf.Value'",
                other.type_name()
            ));
        }
    })
}
