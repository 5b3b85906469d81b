//! Strategic merge patches of built-in kinds: lists of objects merge by key, and `$patch` directives delete or replace.

use serde_json::{Map, Value};

use super::merge_patch;
use crate::types::{self, Patch, Shape, Type};

/// Carries out a strategic merge patch of an object that is made as `of` says; without it, lists are replaced.
pub(crate) fn patch(target: &mut Value, patch: &Value, of: Option<&'static Type>) {
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
        member(target, key, value, of);
    }
    if let Some(kept) = changes.get("$retainKeys").and_then(Value::as_array) {
        target.retain(|key, _| kept.iter().any(|k| k == key));
    }
}

fn member(target: &mut Map<String, Value>, key: &str, value: &Value, of: Option<&'static Type>) {
    let field = |name: &str| of.and_then(|of| of.members.get(name));
    if let Some(name) = key.strip_prefix("$deleteFromPrimitiveList/") {
        if let (Some(Value::Array(list)), Some(gone)) = (target.get_mut(name), value.as_array()) {
            list.retain(|v| !gone.contains(v));
        }
        return;
    }
    if let Some(name) = key.strip_prefix("$setElementOrder/") {
        if let (Some(Value::Array(list)), Some(order)) = (target.get_mut(name), value.as_array()) {
            reorder(list, field(name).and_then(|f| f.patch.key), order);
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
    let inner = field(key).and_then(|f| types::find(f.of));
    match value {
        Value::Array(changes) => {
            list(place, field(key).map(|f| f.patch).unwrap_or_default(), changes, inner);
        }
        Value::Object(entries) if field(key).is_some_and(|f| f.shape == Shape::Map) => {
            map(place, entries, inner);
        }
        Value::Object(_) if field(key).is_some_and(|f| f.patch.replace) => *place = clean(value),
        Value::Object(_) => patch(place, value, inner),
        scalar => *place = scalar.clone(),
    }
}

/// A map's entries are of the type that the table names for them.
fn map(place: &mut Value, entries: &Map<String, Value>, inner: Option<&'static Type>) {
    if inner.is_none() || !place.is_object() {
        return patch(place, &Value::Object(entries.clone()), None);
    }
    let Value::Object(target) = place else { return };
    for (key, value) in entries.iter().filter(|(key, _)| !key.starts_with('$')) {
        if value.is_null() {
            target.remove(key);
        } else {
            patch(target.entry(key.clone()).or_insert(Value::Null), value, inner);
        }
    }
}

fn list(place: &mut Value, rule: Patch, changes: &[Value], inner: Option<&'static Type>) {
    let Value::Array(items) = place else {
        *place = Value::Array(changes.iter().filter(|c| c.get("$patch").is_none()).map(clean).collect());
        return;
    };
    if changes.iter().any(|change| change.get("$patch").is_some_and(|d| d == "replace")) {
        *items = changes.iter().filter(|c| c.get("$patch").is_none()).map(clean).collect();
        return;
    }
    match rule {
        Patch { merge: true, key: Some(key), .. } => merge_list(items, key, changes, inner),
        Patch { merge: true, key: None, .. } => {
            for change in changes {
                if !items.contains(change) {
                    items.push(change.clone());
                }
            }
        }
        _ => *items = changes.to_vec(),
    }
}

fn merge_list(items: &mut Vec<Value>, key: &str, changes: &[Value], inner: Option<&'static Type>) {
    for change in changes {
        let place = items.iter().position(|item| item.get(key) == change.get(key));
        let deletes = change.get("$patch").is_some_and(|d| d == "delete");
        match place {
            Some(i) if deletes => {
                items.remove(i);
            }
            Some(i) => patch(&mut items[i], change, inner),
            None if deletes => {}
            None => items.push(clean(change)),
        }
    }
}

/// Puts the elements named in `order` into that order; others keep their place behind them.
fn reorder(list: &mut [Value], key: Option<&str>, order: &[Value]) {
    let rank = |item: &Value| {
        let named = |o: &Value| match key {
            Some(key) if o.is_object() => o.get(key) == item.get(key),
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
    fn check(of: &str, mut target: Value, change: Value, expected: Value) {
        patch(&mut target, &change, types::find(of));
        assert_eq!(target, expected);
    }

    #[test]
    fn lists_of_objects_merge_by_the_key_of_their_type() {
        check(
            "core.PodSpec",
            json!({"containers": [{"name": "a", "image": "1"}, {"name": "b", "image": "1"}]}),
            json!({"containers": [{"name": "b", "image": "2"}, {"name": "c", "image": "3"}]}),
            json!({"containers": [
                {"name": "a", "image": "1"}, {"name": "b", "image": "2"}, {"name": "c", "image": "3"}]}),
        );
        check(
            "core.ServiceSpec",
            json!({"ports": [{"port": 80, "name": "a"}]}),
            json!({"ports": [{"port": 80, "name": "b"}, {"port": 81}]}),
            json!({"ports": [{"port": 80, "name": "b"}, {"port": 81}]}),
        );
        check(
            "core.Container",
            json!({"ports": [{"containerPort": 80}]}),
            json!({"ports": [{"containerPort": 81}]}),
            json!({"ports": [{"containerPort": 80}, {"containerPort": 81}]}),
        );
        // Endpoints' ports have no key.
        check(
            "core.EndpointSubset",
            json!({"ports": [{"port": 1}]}),
            json!({"ports": [{"port": 2}]}),
            json!({"ports": [{"port": 2}]}),
        );
    }

    #[test]
    fn directives_delete_replace_and_order() {
        check(
            "core.PodSpec",
            json!({"containers": [{"name": "a"}, {"name": "b"}]}),
            json!({"containers": [{"name": "a", "$patch": "delete"}]}),
            json!({"containers": [{"name": "b"}]}),
        );
        check(
            "core.PodSpec",
            json!({"containers": [{"name": "a"}, {"name": "b"}]}),
            json!({"containers": [{"name": "c"}, {"$patch": "replace"}]}),
            json!({"containers": [{"name": "c"}]}),
        );
        check(
            "core.PodSpec",
            json!({"m": {"a": 1, "b": 2}}),
            json!({"m": {"$patch": "replace", "c": 3}}),
            json!({"m": {"c": 3}}),
        );
        check(
            "core.Container",
            json!({"env": [{"name": "a"}, {"name": "b"}]}),
            json!({"$setElementOrder/env": [{"name": "b"}, {"name": "a"}]}),
            json!({"env": [{"name": "b"}, {"name": "a"}]}),
        );
        check(
            "meta.ObjectMeta",
            json!({"finalizers": ["a", "b"]}),
            json!({"$deleteFromPrimitiveList/finalizers": ["a"], "finalizers": ["c"]}),
            json!({"finalizers": ["b", "c"]}),
        );
        check(
            "core.PodSpec",
            json!({"volumes": [{"name": "v", "emptyDir": {}}]}),
            json!({"volumes": [{"name": "v", "hostPath": {"path": "/"}, "$retainKeys": ["name", "hostPath"]}]}),
            json!({"volumes": [{"name": "v", "hostPath": {"path": "/"}}]}),
        );
    }

    #[test]
    fn other_lists_are_replaced_and_nulls_remove() {
        check(
            "core.Container",
            json!({"args": ["a"], "x": 1}),
            json!({"args": ["b"], "x": null}),
            json!({"args": ["b"]}),
        );
    }
}
