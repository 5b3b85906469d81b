//! Validates values with `values.schema.json` as Helm does, as far as generated charts need it. Other keywords are a panic.

use serde_json::{Map, Value};

/// Returns an error for each value that the schema refuses, with its place.
pub(super) fn refusals(schema: &Value, values: &Value) -> Vec<String> {
    let mut out = Vec::new();
    check(schema, values, "", &mut out);
    out
}

fn check(schema: &Value, value: &Value, place: &str, out: &mut Vec<String>) {
    let empty = Map::new();
    let properties = schema.get("properties").and_then(Value::as_object).unwrap_or(&empty);
    for (keyword, limit) in schema.as_object().unwrap() {
        let is_valid = match keyword.as_str() {
            "$comment" | "$schema" | "description" => true,
            "type" => match limit {
                Value::Array(types) => types.iter().any(|one| is_of_type(value, one)),
                one => is_of_type(value, one),
            },
            "enum" => limit.as_array().unwrap().contains(value),
            "minLength" => {
                value.as_str().is_none_or(|text| text.chars().count() as u64 >= limit.as_u64().unwrap())
            }
            "pattern" => {
                let pattern = kubesmith_goregex::Regex::new(limit.as_str().unwrap()).unwrap();
                value.as_str().is_none_or(|text| pattern.is_match(text))
            }
            "required" => {
                let has = |key: &Value| value.get(key.as_str().unwrap()).is_some();
                !value.is_object() || limit.as_array().unwrap().iter().all(has)
            }
            "minimum" => value.as_f64().is_none_or(|number| number >= limit.as_f64().unwrap()),
            "maximum" => value.as_f64().is_none_or(|number| number <= limit.as_f64().unwrap()),
            "items" => {
                for (index, item) in value.as_array().into_iter().flatten().enumerate() {
                    check(limit, item, &format!("{place}[{index}]"), out);
                }
                true
            }
            "properties" => {
                for (key, member) in value.as_object().into_iter().flatten() {
                    if let Some(schema) = properties.get(key) {
                        check(schema, member, &format!("{place}.{key}"), out);
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
                        schema => check(schema, member, &place, out),
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
