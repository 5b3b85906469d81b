//! Laws that hold for every object, checked on random ones, and hostile input.

use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::*;
use crate::cel::ratchet;

fn schema() -> Schema {
    Schema::enforced(&json!({"type": "object", "properties": {
        "a": {"type": "string", "default": "d", "maxLength": 3},
        "b": {"type": "object", "default": {}, "properties": {
            "c": {"type": "integer", "default": 1}, "d": {"type": "array", "items": {"type": "object",
                "properties": {"a": {"type": "string", "default": "x"}}}}}},
        "c": {"type": "object", "additionalProperties": {"type": "string", "nullable": true}},
        "d": {"type": "object", "x-kubernetes-preserve-unknown-fields": true},
        "e": {"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["a"],
            "items": {"type": "object", "required": ["a"], "properties": {"a": {"type": "string"}, "b": {"type": "integer"}}}},
        "f": {"x-kubernetes-int-or-string": true}}}))
    .unwrap()
}

/// Objects whose fields are likely to be those of the schema, with values of any type.
fn values() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        "[a-c]{0,4}".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 32, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map("[a-f]", inner, 0..6)
                .prop_map(|map| Value::Object(map.into_iter().collect::<Map<_, _>>())),
        ]
    })
}

proptest! {
    #[test]
    fn defaulting_and_pruning_are_idempotent(mut object in values()) {
        let schema = schema();
        apply_defaults(&schema, &mut object);
        let once = object.clone();
        apply_defaults(&schema, &mut object);
        prop_assert_eq!(&object, &once);
        prune(&schema, &mut object);
        let once = object.clone();
        prop_assert!(prune(&schema, &mut object).is_empty());
        prop_assert_eq!(&object, &once);
    }

    #[test]
    fn update_is_accepted_when_the_object_is_unchanged(value in values()) {
        let schema = schema();
        if ratchet::is_unchanged(&schema, &value, &value) {
            prop_assert_eq!(validate_update(&schema, &value, &value), Vec::new());
        }
        let _ = validate_lists(&schema, &value);
        let _ = meta::validate_embedded(&schema, &value);
    }

    #[test]
    fn every_cause_is_one_line_and_has_a_field(value in values()) {
        for cause in validate(&schema(), &value) {
            prop_assert!(!cause.to_string().contains('\n'));
            prop_assert!(!cause.field.is_empty());
        }
    }
}

/// An object as deep as a parser admits does not take the stack.
#[test]
fn deep_object_does_not_overflow_the_stack() {
    let text = format!("{}1{}", "{\"d\":".repeat(120), "}".repeat(120));
    let mut object: Value = serde_json::from_str(&text).unwrap();
    let schema = schema();
    apply_defaults(&schema, &mut object);
    prune(&schema, &mut object);
    assert_eq!(validate(&schema, &object), []);
    assert!(strict::duplicate_fields(&text).is_empty());
}
