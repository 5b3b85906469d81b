//! Strategic merge patches of built-in kinds: lists of objects merge by key, and `$patch` directives delete or replace.

use serde_json::{Map, Value};

use super::merge_patch;

/// Lists that merge by key: the field, its key, and a field that an element has when another key applies elsewhere.
/// Taken from the `patchMergeKey` tags of the API types.
const MERGE_KEYS: &[(&str, &[&str])] = &[
    ("containers", &["name"]),
    ("initContainers", &["name"]),
    ("ephemeralContainers", &["name"]),
    ("volumes", &["name"]),
    ("env", &["name"]),
    ("volumeMounts", &["mountPath"]),
    ("volumeDevices", &["devicePath"]),
    // A container's port, then a service's.
    ("ports", &["containerPort", "port"]),
    ("imagePullSecrets", &["name"]),
    ("secrets", &["name"]),
    ("hostAliases", &["ip"]),
    ("podIPs", &["ip"]),
    ("hostIPs", &["ip"]),
    ("topologySpreadConstraints", &["topologyKey"]),
    ("resourceClaims", &["name"]),
    ("ownerReferences", &["uid"]),
    ("conditions", &["type"]),
    ("addresses", &["type"]),
];
/// Lists of scalars that merge as sets.
const MERGED_SETS: &[&str] = &["finalizers"];

/// Carries out a strategic merge patch.
pub(crate) fn patch(target: &mut Value, patch: &Value) {
    let Value::Object(changes) = patch else {
        *target = patch.clone();
        return;
    };
    if changes.get("$patch").is_some_and(|d| d == "replace") {
        *target = without_directives(changes);
        return;
    }
    if !target.is_object() {
        *target = Value::Object(Map::new());
    }
    let Value::Object(target) = target else { return };
    if changes.get("$patch").is_some_and(|d| d == "delete") {
        target.clear();
        return;
    }
    for (key, value) in changes {
        member(target, key, value);
    }
    if let Some(kept) = changes.get("$retainKeys").and_then(Value::as_array) {
        target.retain(|key, _| kept.iter().any(|k| k == key));
    }
}

fn member(target: &mut Map<String, Value>, key: &str, value: &Value) {
    if let Some(field) = key.strip_prefix("$deleteFromPrimitiveList/") {
        if let (Some(Value::Array(list)), Some(gone)) = (target.get_mut(field), value.as_array()) {
            list.retain(|v| !gone.contains(v));
        }
        return;
    }
    if let Some(field) = key.strip_prefix("$setElementOrder/") {
        if let (Some(Value::Array(list)), Some(order)) = (target.get_mut(field), value.as_array()) {
            reorder(list, field, order);
        }
        return;
    }
    if key.starts_with('$') {
        return;
    }
    if value.is_null() {
        target.remove(key);
        return;
    }
    let place = target.entry(key.to_owned()).or_insert(Value::Null);
    match value {
        Value::Array(changes) => list(place, key, changes),
        Value::Object(_) => patch(place, value),
        scalar => *place = scalar.clone(),
    }
}

fn list(place: &mut Value, field: &str, changes: &[Value]) {
    let Value::Array(items) = place else {
        *place = Value::Array(changes.iter().filter(|c| c.get("$patch").is_none()).map(clean).collect());
        return;
    };
    if changes.iter().any(|change| change.get("$patch").is_some_and(|d| d == "replace")) {
        *items = changes.iter().filter(|c| c.get("$patch").is_none()).map(clean).collect();
        return;
    }
    if MERGED_SETS.contains(&field) {
        for change in changes {
            if !items.contains(change) {
                items.push(change.clone());
            }
        }
        return;
    }
    match merge_key(field, changes) {
        Some(key) => merge_list(items, key, changes),
        None => *items = changes.to_vec(),
    }
}

/// The key by which this list's elements are told apart, if it has one.
fn merge_key(field: &str, elements: &[Value]) -> Option<&'static str> {
    let (_, keys) = MERGE_KEYS.iter().find(|(name, _)| *name == field)?;
    keys.iter().copied().find(|key| !elements.is_empty() && elements.iter().all(|e| e.get(key).is_some()))
}

fn merge_list(items: &mut Vec<Value>, key: &str, changes: &[Value]) {
    for change in changes {
        let place = items.iter().position(|item| item.get(key) == change.get(key));
        let deletes = change.get("$patch").is_some_and(|d| d == "delete");
        match place {
            Some(i) if deletes => {
                items.remove(i);
            }
            Some(i) => patch(&mut items[i], change),
            None if deletes => {}
            None => items.push(clean(change)),
        }
    }
}

/// Puts the elements named in `order` into that order; others keep their place behind them.
fn reorder(list: &mut [Value], field: &str, order: &[Value]) {
    let rank = |item: &Value| {
        let named = |o: &Value| match (merge_key(field, std::slice::from_ref(o)), o.is_object()) {
            (Some(key), true) => o.get(key) == item.get(key),
            _ => o == item,
        };
        order.iter().position(named).unwrap_or(usize::MAX)
    };
    list.sort_by_key(rank);
}

/// A new element without nulls and directives.
fn clean(value: &Value) -> Value {
    let mut out = Value::Null;
    match value {
        Value::Object(map) => merge_patch(&mut out, &without_directives(map)),
        other => out = other.clone(),
    }
    out
}

fn without_directives(map: &Map<String, Value>) -> Value {
    Value::Object(
        map.iter().filter(|(k, _)| !k.starts_with('$')).map(|(k, v)| (k.clone(), v.clone())).collect(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[track_caller]
    fn check(mut target: Value, change: Value, expected: Value) {
        patch(&mut target, &change);
        assert_eq!(target, expected);
    }

    #[test]
    fn lists_of_objects_merge_by_key() {
        check(
            json!({"containers": [{"name": "a", "image": "1"}, {"name": "b", "image": "1"}]}),
            json!({"containers": [{"name": "b", "image": "2"}, {"name": "c", "image": "3"}]}),
            json!({"containers": [
                {"name": "a", "image": "1"}, {"name": "b", "image": "2"}, {"name": "c", "image": "3"}]}),
        );
    }

    #[test]
    fn directives_delete_replace_and_order() {
        check(
            json!({"containers": [{"name": "a"}, {"name": "b"}]}),
            json!({"containers": [{"name": "a", "$patch": "delete"}]}),
            json!({"containers": [{"name": "b"}]}),
        );
        check(
            json!({"m": {"a": 1, "b": 2}}),
            json!({"m": {"$patch": "replace", "c": 3}}),
            json!({"m": {"c": 3}}),
        );
        check(
            json!({"env": [{"name": "a"}, {"name": "b"}]}),
            json!({"$setElementOrder/env": [{"name": "b"}, {"name": "a"}]}),
            json!({"env": [{"name": "b"}, {"name": "a"}]}),
        );
        check(
            json!({"finalizers": ["a", "b"]}),
            json!({"$deleteFromPrimitiveList/finalizers": ["a"]}),
            json!({"finalizers": ["b"]}),
        );
    }

    #[test]
    fn other_lists_are_replaced_and_nulls_remove() {
        check(json!({"args": ["a"], "x": 1}), json!({"args": ["b"], "x": null}), json!({"args": ["b"]}));
    }
}
