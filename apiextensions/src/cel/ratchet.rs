//! Ratcheting: the part of an old object that belongs to a part of the new one, and whether both are equal.
//!
//! Source: `CorrelatedObject` of apiserver's pkg/cel/common/equality.go. Only what the schema describes can be equal.

use serde_json::Value;

use crate::schema::{Additional, ListType, Schema};

/// Reports whether a part of an object counts as unchanged (`CachedDeepEqual`). The items of a map list may have moved. A
/// field without a schema, and an item without its keys, counts as changed.
#[must_use]
pub(crate) fn is_unchanged(schema: &Schema, new: &Value, old: &Value) -> bool {
    match (new, old) {
        (Value::Array(new), Value::Array(old)) if schema.effective_list_type() == ListType::Map => {
            let is_same = |item: &Value| {
                let old = old_item(schema, item, old);
                schema.items.as_deref().zip(old).is_some_and(|(items, old)| is_unchanged(items, item, old))
            };
            new.len() == old.len() && new.iter().all(is_same)
        }
        (Value::Object(new), Value::Object(old)) => {
            let is_same = |(name, value): (&String, &Value)| {
                let field = field_schema(schema, name).zip(old.get(name));
                field.is_some_and(|(schema, old)| is_unchanged(schema, value, old))
            };
            new.len() == old.len() && new.iter().all(is_same)
        }
        _ => new == old,
    }
}

fn field_schema<'s>(schema: &'s Schema, name: &str) -> Option<&'s Schema> {
    match (schema.properties.get(name), &schema.additional_properties) {
        (Some(property), _) => Some(property),
        (None, Some(Additional::Schema(all))) => Some(all),
        _ => None,
    }
}

/// Returns the old item with the keys of an item of a map list (`MapList` of apiserver's pkg/cel/common). Items of other
/// lists have none, nor has an item that lacks a key, or whose key is no scalar.
#[must_use]
pub(crate) fn old_item<'v>(schema: &Schema, item: &Value, old: &'v [Value]) -> Option<&'v Value> {
    let keys = &schema.list_map_keys;
    let is_keyed = |item: &Value| keys.iter().all(|key| item.get(key).is_some_and(is_scalar));
    if schema.effective_list_type() != ListType::Map || !is_keyed(item) {
        return None;
    }
    old.iter().find(|old| keys.iter().all(|key| old.get(key) == item.get(key)))
}

fn is_scalar(value: &Value) -> bool {
    matches!(value, Value::Bool(_) | Value::Number(_) | Value::String(_))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// The verdicts are those of kube-apiserver 1.36.2.
    #[test]
    fn only_what_the_schema_describes_is_unchanged() {
        let schema = Schema::enforced(&json!({"type": "object", "properties": {
            "map": {"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["k"],
                    "items": {"type": "object", "properties": {"k": {"type": "string"}, "v": {"type": "string"}}}},
            "atomic": {"type": "array", "items": {"type": "string"}},
            "any": {"type": "object", "x-kubernetes-preserve-unknown-fields": true,
                    "properties": {"a": {"type": "string"}}},
            "values": {"type": "object", "additionalProperties": {"type": "string"}}}}))
        .unwrap();
        let (a, b) = (json!({"k": "a", "v": "1"}), json!({"k": "b"}));
        for (new, old, expected) in [
            (json!({"map": [a, b]}), json!({"map": [b, a]}), true),
            (json!({"map": [a, b]}), json!({"map": [a]}), false),
            (json!({"map": [{"v": "1"}]}), json!({"map": [{"v": "1"}]}), false),
            (json!({"map": [{"k": ["a"]}]}), json!({"map": [{"k": ["a"]}]}), false),
            // The first item with a key stands for all.
            (json!({"map": [a, {"k": "a"}]}), json!({"map": [a, {"k": "a"}]}), false),
            (json!({"map": [a, a]}), json!({"map": [a, a]}), true),
            (json!({"map": []}), json!({"map": []}), true),
            (json!({"atomic": ["a", "b"]}), json!({"atomic": ["b", "a"]}), false),
            (json!({"atomic": ["a", "b"]}), json!({"atomic": ["a", "b"]}), true),
            (json!({"any": {"a": "x"}}), json!({"any": {"a": "x"}}), true),
            (json!({"any": {"a": "x", "b": 1}}), json!({"any": {"a": "x", "b": 1}}), false),
            (json!({"values": {"a": "x"}}), json!({"values": {"a": "x"}}), true),
            (json!({"values": null}), json!({"values": null}), true),
            (json!({"values": {}}), json!({}), false),
        ] {
            assert_eq!(is_unchanged(&schema, &new, &old), expected, "{new} {old}");
        }
    }
}
