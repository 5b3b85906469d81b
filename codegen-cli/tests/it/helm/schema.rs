//! Validates values with `values.schema.json` as Helm does, as far as generated charts need it. Other keywords are a panic.

use std::collections::BTreeMap;
use std::sync::Mutex;

use kubesmith_goregex::Regex;
use serde_json::{Map, Value};

/// Returns an error for each value that the schema refuses, with its place.
pub(super) fn refusals(schema: &Value, values: &Value) -> Vec<String> {
    let mut out = Vec::new();
    check(schema, schema, values, "", &mut out);
    out
}

/// The target of a reference.
pub(super) fn resolved<'a>(root: &'a Value, schema: &'a Value) -> &'a Value {
    let Some(name) = schema.get("$ref").and_then(Value::as_str) else { return schema };
    root.pointer(name.strip_prefix('#').unwrap()).unwrap_or_else(|| panic!("{name} is not defined"))
}

fn check(root: &Value, schema: &Value, value: &Value, place: &str, out: &mut Vec<String>) {
    // Draft 7 ignores keywords beside a reference.
    let schema = resolved(root, schema);
    let empty = Map::new();
    let properties = schema.get("properties").and_then(Value::as_object).unwrap_or(&empty);
    for (keyword, limit) in schema.as_object().unwrap() {
        let is_valid = match keyword.as_str() {
            "$comment" | "$schema" | "definitions" | "description" => true,
            "type" => match limit {
                Value::Array(types) => types.iter().any(|one| is_of_type(value, one)),
                one => is_of_type(value, one),
            },
            "enum" => limit.as_array().unwrap().contains(value),
            "minLength" => {
                value.as_str().is_none_or(|text| text.chars().count() as u64 >= limit.as_u64().unwrap())
            }
            "maxLength" => {
                value.as_str().is_none_or(|text| text.chars().count() as u64 <= limit.as_u64().unwrap())
            }
            "pattern" => value.as_str().is_none_or(|text| is_match(limit.as_str().unwrap(), text)),
            "required" => {
                let has = |key: &Value| value.get(key.as_str().unwrap()).is_some();
                !value.is_object() || limit.as_array().unwrap().iter().all(has)
            }
            "minProperties" => {
                value.as_object().is_none_or(|members| members.len() as u64 >= limit.as_u64().unwrap())
            }
            "maxProperties" => {
                value.as_object().is_none_or(|members| members.len() as u64 <= limit.as_u64().unwrap())
            }
            "minimum" => value.as_f64().is_none_or(|number| number >= limit.as_f64().unwrap()),
            "maximum" => value.as_f64().is_none_or(|number| number <= limit.as_f64().unwrap()),
            "items" => {
                for (index, item) in value.as_array().into_iter().flatten().enumerate() {
                    check(root, limit, item, &format!("{place}[{index}]"), out);
                }
                true
            }
            "properties" => {
                for (key, member) in value.as_object().into_iter().flatten() {
                    if let Some(schema) = properties.get(key) {
                        check(root, schema, member, &format!("{place}.{key}"), out);
                    }
                }
                true
            }
            "additionalProperties" => {
                for (key, member) in value.as_object().into_iter().flatten() {
                    let place = format!("{place}.{key}");
                    match limit {
                        _ if properties.contains_key(key) => {}
                        Value::Bool(false) => out.push(format!("{place}: no value has this name")),
                        schema => check(root, schema, member, &place, out),
                    }
                }
                true
            }
            other => panic!("{place}: the keyword {other} is not known"),
        };
        if !is_valid {
            out.push(format!("{place}: {value} contradicts {keyword}: {limit}"));
        }
    }
}

/// Compiles each pattern once, since charts have the same pattern in many places.
fn is_match(pattern: &str, text: &str) -> bool {
    static PATTERNS: Mutex<BTreeMap<String, Regex>> = Mutex::new(BTreeMap::new());
    let mut known = PATTERNS.lock().unwrap();
    known.entry(pattern.to_owned()).or_insert_with(|| Regex::new(pattern).unwrap()).is_match(text)
}

fn is_of_type(value: &Value, name: &Value) -> bool {
    match name.as_str().unwrap() {
        "array" => value.is_array(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "object" => value.is_object(),
        "string" => value.is_string(),
        other => panic!("the type {other} is not known"),
    }
}
