//! The ways to describe a change of an object: JSON patch, merge patch and strategic merge patch.

mod json;
pub(crate) mod strategic;

use serde_json::{Map, Value};

use crate::status::{ApiError, ApiResult};

/// The largest number of operations in a JSON patch; kube-apiserver's limit.
const JSON_PATCH_OPERATIONS: usize = 10_000;

/// Carries out a JSON patch (RFC 6902).
pub(crate) fn json_patch(target: &mut Value, patch: &Value) -> ApiResult<()> {
    let operations = patch.as_array().map_or(0, Vec::len);
    if operations > JSON_PATCH_OPERATIONS {
        let text = format!(
            "The allowed maximum operations in a JSON patch is {JSON_PATCH_OPERATIONS}, got {operations}"
        );
        return Err(ApiError::entity_too_large(text));
    }
    let patch: json_patch::Patch = serde_json::from_value(patch.clone())
        .map_err(|e| ApiError::bad_request(format!("error decoding patch: {e}")))?;
    json::apply(target, patch).map_err(|json::Unprocessable| ApiError::unprocessable_patch())
}

/// Carries out a merge patch (RFC 7386).
pub(crate) fn merge_patch(target: &mut Value, patch: &Value) {
    let Value::Object(patch) = patch else {
        *target = patch.clone();
        return;
    };
    if !target.is_object() {
        *target = Value::Object(Map::new());
    }
    let Value::Object(target) = target else { return };
    for (key, value) in patch {
        if value.is_null() {
            target.remove(key);
        } else {
            merge_patch(target.entry(key.clone()).or_insert(Value::Null), value);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn merge_patches_of_the_rfc() {
        // The test cases of RFC 7386, appendix A.
        for (original, patch, expected) in [
            (json!({"a": "b"}), json!({"a": "c"}), json!({"a": "c"})),
            (json!({"a": "b"}), json!({"b": "c"}), json!({"a": "b", "b": "c"})),
            (json!({"a": "b"}), json!({"a": null}), json!({})),
            (json!({"a": ["b"]}), json!({"a": "c"}), json!({"a": "c"})),
            (json!({"a": {"b": "c"}}), json!({"a": {"b": "d", "c": null}}), json!({"a": {"b": "d"}})),
            (json!({"a": [{"b": "c"}]}), json!({"a": [1]}), json!({"a": [1]})),
            (json!(["a", "b"]), json!({"a": "b", "c": null}), json!({"a": "b"})),
            (json!({}), json!({"a": {"bb": {"ccc": null}}}), json!({"a": {"bb": {}}})),
        ] {
            let mut target = original;
            merge_patch(&mut target, &patch);
            assert_eq!(target, expected);
        }
    }

    #[test]
    fn a_json_patch_that_fails_changes_nothing_for_good() {
        let mut target = json!({"a": 1});
        let patch =
            json!([{"op": "replace", "path": "/a", "value": 2}, {"op": "test", "path": "/a", "value": 9}]);
        assert_eq!(json_patch(&mut target, &patch).unwrap_err().code(), 422);
        assert_eq!(target, json!({"a": 1}));
        assert_eq!(json_patch(&mut target, &json!([{"op": "fly"}])).unwrap_err().code(), 400);
    }
}
