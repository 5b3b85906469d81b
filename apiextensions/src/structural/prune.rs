//! Pruning: drops unknown fields, and returns their paths for field validation.

use serde_json::Value;

use super::Path;
use crate::schema::Schema;

/// Drops unknown fields of a whole object and returns their paths, sorted. `apiVersion`, `kind` and `metadata` stay,
/// at the root and in embedded resources.
pub fn prune(schema: &Schema, object: &mut Value) -> Vec<String> {
    prune_part(schema, object, true)
}

/// Like [`prune`]; `is_resource` says whether the value is an object with `apiVersion`, `kind` and `metadata`.
pub fn prune_part(schema: &Schema, value: &mut Value, is_resource: bool) -> Vec<String> {
    let mut unknown = Vec::new();
    drop_unknown(Some(schema), value, &Path::root(), is_resource || schema.embedded_resource, &mut unknown);
    unknown.sort();
    unknown
}

fn is_meta(name: &str) -> bool {
    matches!(name, "apiVersion" | "kind" | "metadata")
}

/// The depth to which values without any schema are walked; deeper ones are dropped.
const MAX_FREE_DEPTH: usize = 256;

fn drop_unknown(
    schema: Option<&Schema>,
    value: &mut Value,
    path: &Path,
    embedded: bool,
    unknown: &mut Vec<String>,
) {
    let Some(schema) = schema else {
        drop_everything(value, path, 0, unknown);
        return;
    };
    let keep_unknown = schema.preserve_unknown_fields;
    match value {
        Value::Object(map) => {
            let names: Vec<String> = map.keys().cloned().collect();
            for name in names {
                if embedded && is_meta(&name) {
                    continue;
                }
                let below = path.child(&name);
                let known = schema.properties.contains_key(&name) || schema.additional_properties.is_some();
                if !known && !keep_unknown {
                    map.remove(&name);
                    if !is_meta(&name) || !path.as_str().is_empty() {
                        unknown.push(below.into());
                    }
                } else if known && let Some(value) = map.get_mut(&name) {
                    let field = schema.field(&name);
                    drop_unknown(field, value, &below, field.is_some_and(|s| s.embedded_resource), unknown);
                }
            }
        }
        Value::Array(items) => {
            let item_schema = schema.items.as_deref();
            for (i, item) in items.iter_mut().enumerate() {
                match (item_schema, keep_unknown) {
                    (None, true) => {}
                    (item_schema, _) => {
                        let embedded = item_schema.is_some_and(|s| s.embedded_resource);
                        drop_unknown(item_schema, item, &path.index(i), embedded, unknown);
                    }
                }
            }
        }
        _ => {}
    }
}

/// Drops all fields of a value without a schema, at any depth in lists.
fn drop_everything(value: &mut Value, path: &Path, depth: usize, unknown: &mut Vec<String>) {
    match value {
        Value::Object(map) => {
            unknown.extend(map.keys().map(|name| String::from(path.child(name))));
            map.clear();
        }
        Value::Array(items) if depth < MAX_FREE_DEPTH => {
            for (i, item) in items.iter_mut().enumerate() {
                drop_everything(item, &path.index(i), depth + 1, unknown);
            }
        }
        Value::Array(items) => items.clear(),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn unknown_fields_are_pruned_and_reported() {
        let schema = Schema::enforced(&json!({"type": "object", "properties": {"spec": {"type": "object", "properties": {
            "known": {"type": "string"},
            "free": {"type": "object", "x-kubernetes-preserve-unknown-fields": true,
                "properties": {"inner": {"type": "object", "properties": {"a": {"type": "string"}}}}},
            "pod": {"type": "object", "x-kubernetes-embedded-resource": true, "properties": {"spec": {"type": "object"}}},
            "m": {"type": "object", "additionalProperties": {"type": "object", "properties": {"a": {"type": "string"}}}},
            "any": {"type": "object", "additionalProperties": true}}}}}))
        .unwrap();
        let mut object = json!({"apiVersion": "v1", "kind": "K", "metadata": {"name": "n"}, "extra": 1, "spec": {
            "known": "k", "unknown": 1, "free": {"any": {"thing": 1}, "inner": {"a": "x", "b": "gone"}},
            "pod": {"apiVersion": "v1", "kind": "Pod", "metadata": {"x": 1}, "status": 1},
            "m": {"k": {"a": "1", "b": "2"}}, "any": {"k": 1, "o": {"p": 1}}}});
        let unknown = prune(&schema, &mut object);
        assert_eq!(
            unknown,
            ["extra", "spec.any.o.p", "spec.free.inner.b", "spec.m.k.b", "spec.pod.status", "spec.unknown"]
        );
        assert_eq!(object["spec"]["free"], json!({"any": {"thing": 1}, "inner": {"a": "x"}}));
        assert_eq!(object["spec"]["pod"], json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"x": 1}}));
        let before = object.clone();
        assert_eq!(prune(&schema, &mut object), Vec::<String>::new());
        assert_eq!(object, before);
    }
}
