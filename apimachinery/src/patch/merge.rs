//! Merge patch, by the rules of evanphx/json-patch v4, which kube-apiserver uses.
//!
//! It differs from RFC 7386 in lists: new lists lose the nulls of the objects in them.

use serde_json::{Map, Value};

/// Merges `patch` into `target`. A null removes a field.
pub fn merge_patch(target: &mut Value, patch: &Value) {
    let (Value::Object(fields), Value::Object(changes)) = (&mut *target, patch) else {
        let is_list_for_object = target.is_object();
        *target = patch.clone();
        if !is_list_for_object {
            prune_nulls(target);
        }
        return;
    };
    merge_fields(fields, changes);
}

fn merge_fields(fields: &mut Map<String, Value>, changes: &Map<String, Value>) {
    for (name, change) in changes {
        if change.is_null() {
            fields.remove(name);
            continue;
        }
        // A null counts as a missing field.
        match fields.get_mut(name).filter(|value| !value.is_null()) {
            Some(value) => merge_patch(value, change),
            None => {
                let mut value = change.clone();
                prune_nulls(&mut value);
                fields.insert(name.clone(), value);
            }
        }
    }
}

/// Removes the null fields of all objects. Null items of lists stay.
pub(super) fn prune_nulls(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            fields.retain(|_, value| !value.is_null());
            fields.values_mut().for_each(prune_nulls);
        }
        Value::Array(items) => items.iter_mut().for_each(prune_nulls),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[track_caller]
    fn check(mut target: Value, patch: Value, expected: Value) {
        merge_patch(&mut target, &patch);
        assert_eq!(target, expected);
    }

    #[test]
    fn merge_patch_follows_rfc_7386() {
        // The test cases of appendix A.
        for (target, patch, expected) in [
            (json!({"a": "b"}), json!({"a": "c"}), json!({"a": "c"})),
            (json!({"a": "b"}), json!({"b": "c"}), json!({"a": "b", "b": "c"})),
            (json!({"a": "b"}), json!({"a": null}), json!({})),
            (json!({"a": ["b"]}), json!({"a": "c"}), json!({"a": "c"})),
            (json!({"a": {"b": "c"}}), json!({"a": {"b": "d", "c": null}}), json!({"a": {"b": "d"}})),
            (json!({"a": [{"b": "c"}]}), json!({"a": [1]}), json!({"a": [1]})),
            (json!(["a", "b"]), json!({"a": "b", "c": null}), json!({"a": "b"})),
            (json!({}), json!({"a": {"bb": {"ccc": null}}}), json!({"a": {"bb": {}}})),
        ] {
            check(target, patch, expected);
        }
    }

    #[test]
    fn merge_patch_prunes_nulls_of_objects_in_new_lists() {
        check(json!({}), json!({"a": [{"b": null, "c": 1}, null]}), json!({"a": [{"c": 1}, null]}));
        check(json!({"a": [1]}), json!({"a": [{"b": null}]}), json!({"a": [{}]}));
        // A list that replaces an object stays as it is.
        check(json!({"a": {}}), json!({"a": [{"b": null}]}), json!({"a": [{"b": null}]}));
        check(json!({"a": null}), json!({"a": {"b": null}}), json!({"a": {}}));
    }
}
