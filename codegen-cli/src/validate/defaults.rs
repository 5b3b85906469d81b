//! Defaults satisfy the schema they stand in: an API server refuses the CRD otherwise.

use kubesmith_core::diag::Code;
use serde_json::Value;

use super::{Input, values};
use crate::diag::Diagnostic;
use crate::schema::Schema;

/// Checks the defaults of all fields.
pub(super) fn fit(input: &Input<'_>, out: &mut Vec<Diagnostic>) {
    for (id, definition) in input.ir.types.iter().enumerate() {
        let Some(schema) = input.schemas.of_type(id) else { continue };
        for field in definition.shape.fields() {
            let Some(default) = &field.facts.default else { continue };
            let Some(property) = schema.properties.get(&field.name) else { continue };
            let mut problems = Vec::new();
            check(property, default, "", &mut problems);
            for problem in problems {
                out.push(
                    Diagnostic::error(
                        Code::INVALID_DEFAULT,
                        input.loc(&field.span),
                        format!("the default of `{}` does not fit its schema: {problem}", field.name),
                    )
                    .help("change the default or the constraint"),
                );
            }
        }
    }
}

fn check(schema: &Schema, value: &Value, path: &str, out: &mut Vec<String>) {
    let place = if path.is_empty() { String::new() } else { format!("`{path}`: ") };
    if value.is_null() {
        if !schema.nullable {
            out.push(format!("{place}null is not allowed"));
        }
        return;
    }
    if !type_fits(schema, value) {
        let wanted = schema.type_.as_deref().unwrap_or("integer or string");
        out.push(format!("{place}{value} is no {wanted}"));
        return;
    }
    if let Some(allowed) = schema.enum_.as_ref().filter(|allowed| !allowed.contains(value)) {
        let allowed: Vec<String> = allowed.iter().map(Value::to_string).collect();
        out.push(format!("{place}{value} is none of {}", allowed.join(", ")));
    }
    match value {
        Value::Number(number) => number_fits(schema, number.as_f64().unwrap_or(0.0), &place, out),
        Value::String(text) => {
            count(text.chars().count(), (schema.min_length, schema.max_length), "characters", &place, out);
        }
        Value::Array(items) => {
            count(items.len(), (schema.min_items, schema.max_items), "items", &place, out);
            for (at, item) in items.iter().enumerate() {
                if let Some(schema) = &schema.items {
                    check(schema, item, &format!("{path}[{at}]"), out);
                }
            }
        }
        Value::Object(members) => object_fits(schema, members, path, &place, out),
        _ => {}
    }
    for branch in &schema.all_of {
        check(branch, value, path, out);
    }
}

fn object_fits(
    schema: &Schema,
    members: &serde_json::Map<String, Value>,
    path: &str,
    place: &str,
    out: &mut Vec<String>,
) {
    count(members.len(), (schema.min_properties, schema.max_properties), "entries", place, out);
    for (name, member) in members {
        let inner = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
        match schema.properties.get(name).or_else(|| values(schema)) {
            Some(schema) => check(schema, member, &inner, out),
            None if schema.preserve_unknown_fields || schema.embedded_resource || schema.type_.is_none() => {}
            None => out.push(format!("{place}there is no field `{name}`")),
        }
    }
    for name in schema.required.iter().filter(|name| !members.contains_key(*name)) {
        // The API server fills nested defaults in first.
        if schema.properties.get(name).is_none_or(|property| property.default.is_none()) {
            out.push(format!("{place}the required field `{name}` is missing"));
        }
    }
}

fn type_fits(schema: &Schema, value: &Value) -> bool {
    if schema.int_or_string {
        return value.is_string() || is_integer(value);
    }
    match schema.type_.as_deref() {
        Some("string") => value.is_string(),
        Some("integer") => is_integer(value),
        Some("number") => value.is_number(),
        Some("boolean") => value.is_boolean(),
        Some("array") => value.is_array(),
        Some("object") => value.is_object(),
        _ => true,
    }
}

fn is_integer(value: &Value) -> bool {
    value.is_i64() || value.is_u64() || value.as_f64().is_some_and(|number| number.fract() == 0.0)
}

fn number_fits(schema: &Schema, number: f64, place: &str, out: &mut Vec<String>) {
    if let Some(minimum) = schema.minimum.as_ref().and_then(serde_json::Number::as_f64)
        && (number < minimum || (schema.exclusive_minimum && number <= minimum))
    {
        out.push(format!("{place}{number} is below the minimum {minimum}"));
    }
    if let Some(maximum) = schema.maximum.as_ref().and_then(serde_json::Number::as_f64)
        && (number > maximum || (schema.exclusive_maximum && number >= maximum))
    {
        out.push(format!("{place}{number} is above the maximum {maximum}"));
    }
}

fn count(len: usize, (min, max): (Option<u64>, Option<u64>), what: &str, place: &str, out: &mut Vec<String>) {
    let len = len as u64;
    if let Some(min) = min.filter(|min| len < *min) {
        out.push(format!("{place}it has {len} {what}, fewer than {min}"));
    }
    if let Some(max) = max.filter(|max| len > *max) {
        out.push(format!("{place}it has {len} {what}, more than {max}"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn problems(schema: Value, value: &Value) -> Vec<String> {
        let schema: Schema = serde_json::from_value(schema).unwrap();
        let mut out = Vec::new();
        check(&schema, value, "", &mut out);
        out
    }

    #[test]
    fn values_are_checked() {
        for (schema, value, problem) in [
            (json!({"type": "string"}), json!(1), "1 is no string"),
            (json!({"type": "integer"}), json!(1.5), "1.5 is no integer"),
            (json!({"type": "integer", "minimum": 2}), json!(1), "1 is below the minimum 2"),
            (
                json!({"type": "integer", "maximum": 2, "exclusiveMaximum": true}),
                json!(2),
                "2 is above the maximum 2",
            ),
            (json!({"type": "string", "enum": ["a"]}), json!("b"), "\"b\" is none of \"a\""),
            (json!({"type": "string", "maxLength": 1}), json!("ab"), "it has 2 characters, more than 1"),
            (json!({"type": "array", "items": {"type": "string"}}), json!([1]), "`[0]`: 1 is no string"),
            (
                json!({"type": "object", "properties": {"a": {"type": "string"}}}),
                json!({"b": 1}),
                "there is no field `b`",
            ),
            (json!({"type": "object", "required": ["a"]}), json!({}), "the required field `a` is missing"),
            (json!({"type": "string"}), json!(null), "null is not allowed"),
        ] {
            assert_eq!(problems(schema, &value), [problem]);
        }
        for (schema, value) in [
            (json!({"x-kubernetes-int-or-string": true}), json!("25%")),
            (
                json!({"type": "object", "required": ["a"], "properties": {"a": {"type": "integer", "default": 1}}}),
                json!({}),
            ),
            (json!({"type": "object", "additionalProperties": {"type": "string"}}), json!({"x": "y"})),
            (json!({"type": "string", "nullable": true}), json!(null)),
        ] {
            assert_eq!(problems(schema, &value), [""; 0]);
        }
    }
}
