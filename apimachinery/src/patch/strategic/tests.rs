use serde_json::json;

use super::*;

/// A type with one field for each way to merge.
#[derive(Clone, Copy, Debug)]
struct Sample;

impl PatchMeta for Sample {
    fn name(self) -> &'static str {
        "Sample"
    }

    fn field(self, name: &str) -> Option<Field<Self>> {
        let (strategy, merge_key) = match name {
            "items" => (Strategy::Merge, Some("name")),
            "set" => (Strategy::Merge, None),
            "whole" => (Strategy::Replace, None),
            "atomic" | "map" => (Strategy::Default, None),
            _ => return None,
        };
        Some(Field { strategy, merge_key, of: Some(Sample) })
    }
}

fn patched(target: Value, patch: Value) -> Result<Value, StrategicMergeError> {
    let (Value::Object(mut target), Value::Object(patch)) = (target, patch) else { panic!("not objects") };
    strategic_merge_patch(&mut target, patch, Some(Sample)).map(|()| Value::Object(target))
}

#[track_caller]
fn check(target: Value, patch: Value, expected: Value) {
    assert_eq!(patched(target, patch), Ok(expected));
}

#[track_caller]
fn fails(target: Value, patch: Value, code: u16, message: &str) {
    let error = patched(target, patch).unwrap_err();
    assert_eq!((error.code(), error.to_string().as_str()), (code, message));
}

/// A list of objects with these names.
fn named(names: &str) -> Value {
    names.split_whitespace().map(|name| json!({ "name": name })).collect()
}

#[test]
fn list_of_objects_merges_by_key() {
    check(
        json!({"items": [{"name": "a", "v": 1}, {"name": "b", "v": 1}]}),
        json!({"items": [{"name": "b", "v": 2}, {"name": "c"}]}),
        json!({"items": [{"name": "a", "v": 1}, {"name": "b", "v": 2}, {"name": "c"}]}),
    );
    fails(
        json!({"items": named("a")}),
        json!({"items": [{"v": 1}]}),
        500,
        "map: map[v:1] does not contain declared merge key: name",
    );
}

#[test]
fn new_item_comes_before_items_that_the_patch_leaves_out() {
    check(json!({"items": named("a b")}), json!({"items": named("c")}), json!({"items": named("c a b")}));
    check(json!({"set": ["a", "b"]}), json!({"set": ["c", "b"]}), json!({"set": ["c", "a", "b"]}));
}

#[test]
fn set_element_order_orders_new_items_too() {
    check(
        json!({"items": named("a b c")}),
        json!({"$setElementOrder/items": named("c n a"), "items": named("n")}),
        json!({"items": named("b c n a")}),
    );
    check(
        json!({"set": ["a", "b"]}),
        json!({"$setElementOrder/set": ["b", "a"]}),
        json!({"set": ["b", "a"]}),
    );
    check(json!({}), json!({"$setElementOrder/items": named("a")}), json!({}));
    fails(
        json!({"set": ["a"]}),
        json!({"$setElementOrder/set": ["a"], "set": ["b"]}),
        500,
        "The order in patch list:\n[b]\n doesn't match $setElementOrder list:\n[a]\n",
    );
    fails(
        json!({"set": ["a"]}),
        json!({"$setElementOrder/set": "a"}),
        500,
        "expected a []interface {}, but received a string",
    );
    fails(
        json!({"set": []}),
        json!({"$setElementOrder/set": ["a"]}),
        500,
        "no elements in any of the given slices",
    );
}

#[test]
fn patch_delete_removes_every_matching_item() {
    check(
        json!({"items": [{"name": "a", "v": 1}, {"name": "b"}, {"name": "a", "v": 2}]}),
        json!({"items": [{"name": "a", "$patch": "delete"}]}),
        json!({"items": named("b")}),
    );
}

#[test]
fn patch_replace_replaces_lists_and_objects() {
    check(
        json!({"items": named("a b")}),
        json!({"items": [{"name": "c"}, {"$patch": "replace"}]}),
        json!({"items": named("c")}),
    );
    check(
        json!({"map": {"a": 1, "b": 2}}),
        json!({"map": {"$patch": "replace", "c": 3}}),
        json!({"map": {"c": 3}}),
    );
    check(json!({"map": {"a": 1}}), json!({"map": {"$patch": "delete"}}), json!({"map": {}}));
    check(json!({"whole": {"a": 1}}), json!({"whole": {"b": 1}}), json!({"whole": {"b": 1}}));
}

#[test]
fn unknown_directive_is_an_error() {
    fails(
        json!({}),
        json!({"$patch": "fly", "a": 1}),
        500,
        "unknown patch type: fly in map: map[$patch:fly a:1]",
    );
    fails(
        json!({"items": named("a")}),
        json!({"items": [{"name": "a", "$patch": "fly"}]}),
        500,
        "unknown patch type: fly in map: map[$patch:fly name:a]",
    );
    fails(
        json!({"items": named("a")}),
        json!({"items": [{"$patch": "merge"}]}),
        500,
        "merging lists cannot yet be specified in the patch",
    );
}

#[test]
fn delete_from_primitive_list_removes_items() {
    check(
        json!({"set": ["a", "b"]}),
        json!({"$deleteFromPrimitiveList/set": ["a"], "set": ["c"]}),
        json!({"set": ["c", "b"]}),
    );
    fails(json!({}), json!({"$deleteFromPrimitiveList": []}), 400, "invalid patch format of primitive list");
}

#[test]
fn retain_keys_drops_other_fields_and_must_name_those_of_the_patch() {
    check(
        json!({"map": {"a": 1, "b": 2}}),
        json!({"map": {"$retainKeys": ["b", "c"], "c": 3}}),
        json!({"map": {"b": 2, "c": 3}}),
    );
    let lacks = json!({"map": {"$retainKeys": ["b"], "c": 3}});
    fails(json!({"map": {}}), lacks, 400, "invalid patch format of retainKeys");
}

#[test]
fn field_that_the_type_lacks_is_an_error_if_it_would_merge() {
    check(json!({}), json!({"x": {"y": 1}}), json!({"x": {"y": 1}}));
    fails(
        json!({"x": {}}),
        json!({"x": {"y": 1}}),
        500,
        "unable to find api field in struct Sample for the json field \"x\"",
    );
}

#[test]
fn null_removes_and_new_value_loses_nulls_and_directives() {
    check(
        json!({"atomic": ["a"], "x": 1}),
        json!({"atomic": ["b"], "x": null, "y": null, "map": {"a": null, "b": {"$patch": "delete"}, "c": 1}}),
        json!({"atomic": ["b"], "map": {"c": 1}}),
    );
}

#[test]
fn lists_that_do_not_merge_are_errors() {
    fails(json!({"set": [[1]]}), json!({"set": [[2]]}), 422, "lists of lists are not supported");
    fails(json!({"set": ["a"]}), json!({"set": [1]}), 500, "list element types are not identical: [[a] [1]]");
    fails(json!({"set": [{}]}), json!({"set": [{}]}), 500, "cannot merge lists without merge key for struct");
}
