use proptest::prelude::*;
use serde_json::json;

use super::*;

#[test]
fn unknown_fields_are_kept_and_default_values_are_not_written() {
    let raw = json!({"metadata": {"name": "w", "new": 1}, "spec": {"a": 1, "unknown": true}});
    let before = json!({"metadata": {"name": "w"}, "spec": {"a": 1, "b": 0}, "status": {}});
    let after = json!({"metadata": {"name": "w"}, "spec": {"a": 2, "b": 0}, "status": {}});
    let expected = json!({"metadata": {"name": "w", "new": 1}, "spec": {"a": 2, "unknown": true}});
    assert_eq!(carried_over(&raw, &before, &after), expected);
}

#[test]
fn removals_and_new_parents_are_carried_over() {
    let raw = json!({"spec": {"a": 1, "u": 2}, "empty": {"u": 3}});
    let before = json!({"spec": {"a": 1}});
    let after = json!({"spec": {}, "status": {"x": {"y": 1}}, "empty": {"z": 1}});
    let expected = json!({"spec": {"u": 2}, "status": {"x": {"y": 1}}, "empty": {"u": 3, "z": 1}});
    assert_eq!(carried_over(&raw, &before, &after), expected);
}

#[test]
fn items_keep_their_own_unknown_fields() {
    let raw = json!([{"name": "a", "u": "of a"}, {"name": "b", "u": "of b"}]);
    let before = json!([{"name": "a"}, {"name": "b"}]);
    for (after, expected) in [
        // Changed in place, moved, removed, put in front.
        (
            json!([{"name": "a", "x": 1}, {"name": "b"}]),
            json!([{"name": "a", "u": "of a", "x": 1}, {"name": "b", "u": "of b"}]),
        ),
        (
            json!([{"name": "b", "x": 1}, {"name": "a"}]),
            json!([{"name": "b", "u": "of b", "x": 1}, {"name": "a", "u": "of a"}]),
        ),
        (json!([{"name": "b", "x": 1}]), json!([{"name": "b", "u": "of b", "x": 1}])),
        (
            json!([{"name": "c"}, {"name": "a", "x": 1}, {"name": "b"}]),
            json!([{"name": "c"}, {"name": "a", "u": "of a", "x": 1}, {"name": "b", "u": "of b"}]),
        ),
        // One that took the place of another is another.
        (json!([{"name": "c"}, {"name": "b"}]), json!([{"name": "c"}, {"name": "b", "u": "of b"}])),
    ] {
        assert_eq!(carried_over(&raw, &before, &after), expected);
    }
}

#[test]
fn items_without_names_are_matched_only_when_unambiguous() {
    let raw = json!([{"p": 1, "u": 1}, {"p": 2, "u": 2}]);
    let before = json!([{"p": 1}, {"p": 2}]);
    let changed = carried_over(&raw, &before, &json!([{"p": 1}, {"p": 3}]));
    assert_eq!(changed, json!([{"p": 1, "u": 1}, {"p": 3, "u": 2}]));
    let removed = carried_over(&raw, &before, &json!([{"p": 2}]));
    assert_eq!(removed, json!([{"p": 2, "u": 2}]));
    let unsure = carried_over(&raw, &before, &json!([{"p": 3}]));
    assert_eq!(unsure, json!([{"p": 3}]));
}

fn value() -> impl Strategy<Value = Value> {
    let leaf =
        prop_oneof![Just(Value::Null), any::<bool>().prop_map(Value::from), (0..3).prop_map(Value::from)];
    let key = prop::sample::select(vec!["a", "b/c", "d~e", "name"]);
    leaf.prop_recursive(3, 24, 4, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map(key.clone(), inner, 0..4)
                .prop_map(|map| map.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()),
        ]
    })
}

/// A value with a field in every object that the type does not know.
fn with_unknown(value: &Value) -> Value {
    match value {
        Value::Object(members) => {
            let own = members.iter().map(|(key, value)| (key.clone(), with_unknown(value)));
            own.chain([("unknown".to_owned(), json!({"k": [1]}))]).collect()
        }
        Value::Array(items) => items.iter().map(with_unknown).collect(),
        other => other.clone(),
    }
}

fn without_unknown(value: &Value) -> Value {
    match value {
        Value::Object(members) => {
            let known = members.iter().filter(|(key, _)| *key != "unknown");
            known.map(|(key, value)| (key.clone(), without_unknown(value))).collect()
        }
        Value::Array(items) => items.iter().map(without_unknown).collect(),
        other => other.clone(),
    }
}

proptest! {
    #[test]
    fn patch_produces_the_changed_typed_object(before in value(), after in value()) {
        let raw = with_unknown(&before);
        let target = carried_over(&raw, &before, &after);
        prop_assert_eq!(without_unknown(&target), after);
        let mut patched = raw.clone();
        json_patch::patch(&mut patched, &json_patch::diff(&raw, &target)).unwrap();
        prop_assert_eq!(patched, target);
    }

    #[test]
    fn unchanged_typed_object_leaves_the_raw_object_unchanged(before in value(), after in value()) {
        let raw = with_unknown(&before);
        prop_assert_eq!(&carried_over(&raw, &before, &before), &raw);
        // An object's own unknown field stays whatever becomes of its known ones.
        if let (Value::Object(_), Value::Object(_)) = (&before, &after) {
            prop_assert!(carried_over(&raw, &before, &after).get("unknown").is_some());
        }
    }
}
