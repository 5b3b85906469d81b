//! Applies patches of requests, and reports patches that fail.

use kubesmith_apimachinery::{golang, patch};
use serde_json::Value;

use crate::http::decode;
use crate::status::{ApiError, ApiResult};
use crate::types::Type;

/// The limit of operations in a JSON patch: kube-apiserver's limit.
const JSON_PATCH_OPERATIONS: usize = 10_000;

/// Applies a JSON patch.
pub(crate) fn json_patch(target: &mut Value, patch: &Value) -> ApiResult<()> {
    let operations = patch.as_array().map_or(&[][..], Vec::as_slice);
    if operations.len() > JSON_PATCH_OPERATIONS {
        let text = format!(
            "The allowed maximum operations in a JSON patch is {JSON_PATCH_OPERATIONS}, got {}",
            operations.len()
        );
        return Err(ApiError::entity_too_large(&text));
    }
    check_operations(operations).map_err(ApiError::bad_request)?;
    *target = patch::json_patch(target, operations).map_err(|_| ApiError::unprocessable_patch())?;
    Ok(())
}

/// Decodes a JSON patch; null has no operations (`DecodePatch` of evanphx/json-patch).
///
/// # Errors
/// Returns the fault in the words of Go's decoder.
pub(crate) fn operations(patch: &[u8]) -> Result<Vec<Value>, String> {
    match decode::json(patch)?.value {
        Value::Null => Ok(Vec::new()),
        Value::Array(operations) => check_operations(&operations).map(|()| operations),
        other => Err(golang::cannot_unmarshal(&other, "jsonpatch.Patch")),
    }
}

fn check_operations(operations: &[Value]) -> Result<(), String> {
    let other = operations.iter().find(|operation| !operation.is_object() && !operation.is_null());
    other.map_or(Ok(()), |other| Err(golang::cannot_unmarshal(other, "jsonpatch.Operation")))
}

/// Applies a strategic merge patch to an object of this type.
pub(crate) fn strategic_merge_patch(
    target: &mut Value,
    patch: &Value,
    of: Option<&'static Type>,
) -> ApiResult<()> {
    let (Value::Object(target), Value::Object(patch)) = (target, patch) else {
        return Err(ApiError::unprocessable_patch());
    };
    patch::strategic_merge_patch(target, patch.clone(), of).map_err(|error| match error.code() {
        400 => ApiError::bad_request(error.to_string()),
        422 => ApiError::unprocessable_patch(),
        _ => ApiError::unknown(error.to_string()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types;
    use serde_json::json;

    #[test]
    fn json_patch_that_fails_leaves_the_object() {
        let mut target = json!({"a": 1});
        let patch =
            json!([{"op": "replace", "path": "/a", "value": 2}, {"op": "test", "path": "/a", "value": 9}]);
        assert_eq!(json_patch(&mut target, &patch).unwrap_err().code(), 422);
        assert_eq!(target, json!({"a": 1}));
        assert_eq!(json_patch(&mut target, &json!([{"op": "fly"}])).unwrap_err().code(), 422);
        assert_eq!(json_patch(&mut target, &json!(["fly"])).unwrap_err().code(), 400);
    }

    #[track_caller]
    fn check(of: &str, mut target: Value, change: Value, expected: Value) {
        strategic_merge_patch(&mut target, &change, types::find(of)).unwrap();
        assert_eq!(target, expected);
    }

    #[test]
    fn list_merges_by_the_key_of_its_field() {
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
            json!({"ports": [{"containerPort": 81}, {"containerPort": 80}]}),
        );
        // The ports of Endpoints have no key.
        check(
            "core.EndpointSubset",
            json!({"ports": [{"port": 1}]}),
            json!({"ports": [{"port": 2}]}),
            json!({"ports": [{"port": 2}]}),
        );
        check(
            "meta.ObjectMeta",
            json!({"finalizers": ["a", "b"]}),
            json!({"$deleteFromPrimitiveList/finalizers": ["a"], "finalizers": ["c"]}),
            json!({"finalizers": ["c", "b"]}),
        );
        check(
            "core.PodSpec",
            json!({"volumes": [{"name": "v", "emptyDir": {}}]}),
            json!({"volumes": [{"name": "v", "hostPath": {"path": "/"}, "$retainKeys": ["name", "hostPath"]}]}),
            json!({"volumes": [{"name": "v", "hostPath": {"path": "/"}}]}),
        );
    }

    #[test]
    fn strategic_merge_patch_that_fails_has_a_code_for_its_error() {
        let code = |patch: Value| {
            let mut target = json!({"containers": [{"name": "a"}], "nodeSelector": {"a": "b"}});
            strategic_merge_patch(&mut target, &patch, types::find("core.PodSpec")).unwrap_err().code()
        };
        assert_eq!(code(json!({"containers": [{"name": "a", "$patch": "fly"}]})), 500);
        assert_eq!(code(json!({"nodeSelector": {"$retainKeys": [], "a": "c"}})), 400);
    }
}
