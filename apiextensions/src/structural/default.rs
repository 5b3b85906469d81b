//! Defaulting: fills in a schema's defaults for absent fields.

use serde_json::{Map, Value};

use crate::schema::Schema;

/// Drops nulls that the schema does not accept and has no default for, then fills in defaults, outer ones first.
///
/// Calling it again changes nothing.
pub fn apply_defaults(schema: &Schema, object: &mut Value) {
    drop_nulls(schema, object);
    fill(schema, object);
}

fn refuses_null(schema: Option<&Schema>, value: &Value) -> bool {
    value.is_null() && schema.is_some_and(|s| !s.nullable)
}

/// Drops nulls of fields that are not nullable and have no default: they are treated as absent.
pub fn drop_nulls(schema: &Schema, value: &mut Value) {
    match value {
        Value::Object(map) => {
            map.retain(|name, value| {
                let field = schema.field(name);
                !(refuses_null(field, value) && field.is_some_and(|s| s.default.is_none()))
            });
            for (name, value) in map.iter_mut() {
                if let Some(field) = schema.field(name) {
                    drop_nulls(field, value);
                }
            }
        }
        Value::Array(items) => {
            if let Some(item_schema) = &schema.items {
                items.iter_mut().for_each(|item| drop_nulls(item_schema, item));
            }
        }
        _ => {}
    }
}

/// Fills in defaults, outer ones first. Nulls without a default stay.
pub fn fill(schema: &Schema, value: &mut Value) {
    match value {
        Value::Object(map) => fill_object(schema, map),
        Value::Array(items) => {
            let Some(item_schema) = &schema.items else { return };
            for item in items {
                replace_null(item_schema, item);
                fill(item_schema, item);
            }
        }
        _ => {}
    }
}

fn replace_null(schema: &Schema, value: &mut Value) {
    if let (true, Some(default)) = (refuses_null(Some(schema), value), &schema.default) {
        *value = default.clone();
    }
}

fn fill_object(schema: &Schema, map: &mut Map<String, Value>) {
    for (name, property) in &schema.properties {
        let Some(default) = &property.default else { continue };
        if map.get(name).is_none_or(|value| refuses_null(Some(property), value)) {
            map.insert(name.clone(), default.clone());
        }
    }
    for (name, value) in map {
        if let Some(property) = schema.properties.get(name) {
            fill(property, value);
        } else if let Some(all) = schema.additional_schema() {
            replace_null(all, value);
            fill(all, value);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn defaults_are_filled_outer_first() {
        let schema = Schema::enforced(
            &json!({"type": "object", "properties": {"spec": {"type": "object", "default": {},
            "properties": {
                "mode": {"type": "string", "default": "auto"},
                "deep": {"type": "object", "default": {"x": 1},
                    "properties": {"x": {"type": "integer"}, "y": {"type": "string", "default": "why"}}},
                "list": {"type": "array", "items": {"type": "object",
                    "properties": {"k": {"type": "string"}, "v": {"type": "integer", "default": 7}}}},
                "nn": {"type": "string", "default": "d"}, "gone": {"type": "string"},
                "nul": {"type": "string", "nullable": true, "default": "n"}}}}}),
        )
        .unwrap();
        for (object, wanted) in [
            (
                json!({}),
                json!({"spec": {"deep": {"x": 1, "y": "why"}, "mode": "auto", "nn": "d", "nul": "n"}}),
            ),
            (
                json!({"spec": {"nn": null, "deep": {}, "gone": null, "nul": null, "list": [{"k": "a"}, {"v": 1}]}}),
                json!({"spec": {"deep": {"y": "why"}, "mode": "auto", "nn": "d", "nul": null, "list": [{"k": "a", "v": 7}, {"v": 1}]}}),
            ),
        ] {
            let mut object = object;
            apply_defaults(&schema, &mut object);
            assert_eq!(object, wanted);
            apply_defaults(&schema, &mut object);
            assert_eq!(object, wanted);
        }
    }
}
