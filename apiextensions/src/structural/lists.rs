//! Lists of type `set` and `map`: their items, or the keys of their items, are unique.

use serde_json::{Map, Value};

use super::cause::Cause;
use super::{Path, golang};
use crate::schema::{Additional, ListType, Schema};

/// The faults of all sets and maps of an object.
#[must_use]
pub fn validate_lists(schema: &Schema, object: &Value) -> Vec<Cause> {
    let mut causes = Vec::new();
    walk(schema, object, &Path::root(), &mut causes);
    causes
}

fn walk(schema: &Schema, value: &Value, path: &Path, causes: &mut Vec<Cause>) {
    match value {
        Value::Array(items) => {
            match schema.effective_list_type() {
                ListType::Set => {
                    for i in repeated(items.iter()) {
                        causes.push(Cause::duplicate(path.index(i), items[i].clone()));
                    }
                }
                ListType::Map => check_keys(schema, items, path, causes),
                ListType::Atomic => {}
            }
            if let Some(item_schema) = &schema.items {
                for (i, item) in items.iter().enumerate() {
                    walk(item_schema, item, &path.index(i), causes);
                }
            }
        }
        Value::Object(map) => {
            for (name, value) in map {
                if let Some(property) = schema.properties.get(name) {
                    walk(property, value, &path.child(name), causes);
                } else if let Some(Additional::Schema(all)) = &schema.additional_properties {
                    walk(all, value, &path.key(name), causes);
                }
            }
        }
        _ => {}
    }
}

fn check_keys(schema: &Schema, items: &[Value], path: &Path, causes: &mut Vec<Cause>) {
    for (i, item) in items.iter().enumerate() {
        if !item.is_object() && !item.is_null() {
            let detail = "must be an object for an array of list-type map";
            causes.push(Cause::invalid(path.index(i), item.clone(), detail));
            return;
        }
    }
    let keys: Vec<Value> = items.iter().map(|item| map_key(schema, item).unwrap_or(Value::Null)).collect();
    // A single key is compared as a scalar, several as JSON.
    let only = schema.list_map_keys.first().filter(|_| schema.list_map_keys.len() == 1);
    let compared = keys.iter().map(|key| only.and_then(|only| key.get(only)).unwrap_or(key));
    for i in repeated(compared) {
        causes.push(Cause::duplicate(path.index(i), keys[i].clone()));
    }
}

/// The key of an item of a list map: an object with those key fields that the item has. None if it is no object.
#[must_use]
pub fn map_key(schema: &Schema, item: &Value) -> Option<Value> {
    let empty = Map::new();
    let map = match item {
        Value::Object(map) => map,
        Value::Null => &empty,
        _ => return None,
    };
    let fields = schema.list_map_keys.iter().filter_map(|k| Some((k.clone(), map.get(k)?.clone())));
    Some(Value::Object(fields.collect()))
}

/// The index of the first repetition of each value that occurs more than once.
pub fn repeated<'v>(values: impl Iterator<Item = &'v Value>) -> impl Iterator<Item = usize> {
    let mut seen: std::collections::HashMap<String, usize> = std::collections::HashMap::new();
    let mut found = Vec::new();
    for (i, value) in values.enumerate() {
        // Of scalars, an integer and a float are never the same (`validateListSet` of apiextensions-apiserver).
        let text = match value {
            Value::Number(n) if !n.is_i64() => format!("{}.", golang::json(value)),
            _ => golang::json(value),
        };
        let times = seen.entry(text).or_insert(0);
        *times += 1;
        if *times == 2 {
            found.push(i);
        }
    }
    found.into_iter()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn duplicate_item_is_reported_once() {
        let schema = Schema::enforced(&json!({"type": "object", "properties": {
            "s": {"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "string"}},
            "m": {"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["a", "b"],
                  "items": {"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "integer"}}}}}}))
        .unwrap();
        let object = json!({"s": ["x", "x", "x"], "m": [{"a": "1", "b": 1}, {"a": "1"}, {"a": "1", "b": 1}]});
        let texts: Vec<String> = validate_lists(&schema, &object).iter().map(Cause::to_string).collect();
        assert_eq!(texts, [r#"m[2]: Duplicate value: {"a":"1","b":1}"#, r#"s[1]: Duplicate value: "x""#]);
    }

    #[test]
    fn integer_and_float_are_different_items_and_single_keys() {
        let schema = Schema::enforced(&json!({"type": "object", "properties": {
            "s": {"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "integer"}},
            "m": {"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["a"],
                  "items": {"type": "object", "properties": {"a": {"type": "integer"}}}}}}))
        .unwrap();
        let faults = |object: Value| validate_lists(&schema, &object).len();
        assert_eq!(faults(json!({"s": [1, 1.0], "m": [{"a": 1}, {"a": 1.0}]})), 0);
        assert_eq!(faults(json!({"s": [1.0, 1.0], "m": [{"a": 1.0}, {"a": 1.0}]})), 2);
    }
}
