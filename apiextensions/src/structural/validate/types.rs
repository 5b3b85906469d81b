//! Types, and null.

use serde_json::Value;

use super::Outcome;
use super::number::is_json_integer;
use crate::schema::Schema;
use crate::structural::cause::Cause;
use crate::structural::golang;

pub(super) fn allowed_types(schema: &Schema) -> Vec<&str> {
    match schema.type_name() {
        _ if schema.int_or_string => vec!["integer", "string"],
        "" => Vec::new(),
        one => vec![one],
    }
}

/// The JSON type and format of a value as Go sees it once decoded.
fn type_of(value: &Value) -> (&'static str, &'static str) {
    match value {
        Value::Null => ("null", ""),
        Value::Bool(_) => ("boolean", ""),
        Value::Number(n) if n.is_i64() => ("integer", "int64"),
        Value::Number(_) => ("number", "float64"),
        Value::String(_) => ("string", ""),
        Value::Array(_) => ("array", ""),
        Value::Object(_) => ("object", ""),
    }
}

pub(super) fn type_fault(path: &str, wanted: &str, found: &str) -> Outcome {
    let detail = format!("{path} in body must be of type {wanted}: {}", golang::quote(found));
    Outcome::fault(Cause::type_invalid(path, found, detail))
}

pub(super) fn check_null(schema: &Schema, path: &str) -> Outcome {
    let types = allowed_types(schema);
    match types.is_empty() || types.contains(&"null") || schema.nullable {
        true => Outcome::passed(),
        false => type_fault(path, &types.join(","), "null"),
    }
}

pub(super) fn check_type(schema: &Schema, path: &str, value: &Value) -> Outcome {
    let types = allowed_types(schema);
    let (type_, format) = type_of(value);
    let is_text = matches!(value, Value::String(_) | Value::Array(_));
    let whole = value.as_f64().is_some_and(is_json_integer);
    let fits = types.contains(&type_)
        || (type_ == "number" && whole && types.contains(&"integer"))
        || (type_ == "integer" && types.contains(&"number"));
    if !is_text && schema.format.is_some() && !fits && format != schema.format_name() {
        return type_fault(path, schema.format_name(), format);
    }
    let numeric = types.contains(&"number") || types.contains(&"integer");
    if !numeric && schema.format.is_some() && is_text {
        return Outcome::passed();
    }
    if fits { Outcome::passed() } else { type_fault(path, &types.join(","), type_) }
}
