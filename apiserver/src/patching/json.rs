//! JSON patches as kube-apiserver's library reads RFC 6902 (evanphx/json-patch v4).
//!
//! It is laxer than the RFC in two places that clients count on: a field that is not there passes a test for null (kube-rs
//! adds its first finalizer that way), and a negative index counts from the end of a list.

use json_patch::PatchOperation;
use json_patch::jsonptr::{Pointer, PointerBuf, Token};
use serde_json::Value;

use crate::meta::{MAX_DEPTH, is_deeper};

/// How many bytes of JSON the copy operations of one patch may add; kube-apiserver's limit, which is that of a body.
const COPIED: usize = 3 * 1024 * 1024;

/// The patch does not fit the object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Unprocessable;

/// Carries out the operations one after the other; when one fails, `target` stays as it was.
pub(super) fn apply(target: &mut Value, patch: json_patch::Patch) -> Result<(), Unprocessable> {
    let mut result = target.clone();
    let mut copied = 0;
    for mut operation in patch.0 {
        count_from_the_end(&result, &mut operation);
        if let PatchOperation::Copy(copy) = &operation {
            let size = copy.from.resolve(&result).map_or(0, |value| value.to_string().len());
            copied += size;
            if copied > COPIED {
                return Err(Unprocessable);
            }
        }
        if is_too_deep(&result, &operation) {
            return Err(Unprocessable);
        }
        if !passes_for_null(&result, &operation) {
            json_patch::patch_unsafe(&mut result, &[operation]).map_err(|_| Unprocessable)?;
        }
    }
    *target = result;
    Ok(())
}

/// Whether the operation puts something in a place where it is nested too deep: repeated copies of an object into itself double
/// its depth, and what is too deep cannot be walked.
fn is_too_deep(target: &Value, operation: &PatchOperation) -> bool {
    let (path, value) = match operation {
        PatchOperation::Add(op) => (&op.path, Some(&op.value)),
        PatchOperation::Replace(op) => (&op.path, Some(&op.value)),
        PatchOperation::Copy(op) => (&op.path, op.from.resolve(target).ok()),
        PatchOperation::Move(op) => (&op.path, op.from.resolve(target).ok()),
        PatchOperation::Remove(_) | PatchOperation::Test(_) => return false,
    };
    let left = MAX_DEPTH.checked_sub(path.count());
    value.is_some_and(|value| left.is_none_or(|left| is_deeper(value, left)))
}

/// Whether the operation is a test for null of a field that its object does not have.
fn passes_for_null(target: &Value, operation: &PatchOperation) -> bool {
    let PatchOperation::Test(test) = operation else { return false };
    let Some((parent, field)) = test.path.split_back() else { return false };
    let owner = parent.resolve(target).ok().and_then(Value::as_object);
    test.value.is_null() && owner.is_some_and(|owner| !owner.contains_key(field.decoded().as_ref()))
}

fn count_from_the_end(target: &Value, operation: &mut PatchOperation) {
    match operation {
        PatchOperation::Add(op) => op.path = resolved(target, &op.path, 1),
        PatchOperation::Remove(op) => op.path = resolved(target, &op.path, 0),
        PatchOperation::Replace(op) => op.path = resolved(target, &op.path, 0),
        PatchOperation::Test(op) => op.path = resolved(target, &op.path, 0),
        PatchOperation::Move(op) => {
            op.from = resolved(target, &op.from, 0);
            op.path = resolved(target, &op.path, 1);
        }
        PatchOperation::Copy(op) => {
            op.from = resolved(target, &op.from, 0);
            op.path = resolved(target, &op.path, 1);
        }
    }
}

/// The pointer with negative indices replaced; the last one counts in a list that is longer by `growth`.
fn resolved(target: &Value, pointer: &Pointer, growth: usize) -> PointerBuf {
    let mut out = PointerBuf::new();
    let mut place = Some(target);
    let last = pointer.count().saturating_sub(1);
    for (i, token) in pointer.tokens().enumerate() {
        let index = place.and_then(Value::as_array).and_then(|list| {
            let back = token.encoded().strip_prefix('-')?.parse::<usize>().ok()?;
            let len = list.len() + if i == last { growth } else { 0 };
            len.checked_sub(back)
        });
        let token = index.map_or_else(|| token.clone().into_owned(), |n| Token::from(n).into_owned());
        place = place.and_then(|value| match value {
            Value::Object(map) => map.get(token.decoded().as_ref()),
            Value::Array(list) => token.encoded().parse::<usize>().ok().and_then(|n| list.get(n)),
            _ => None,
        });
        out.push_back(token);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn run(mut target: Value, patch: Value) -> Result<Value, Unprocessable> {
        apply(&mut target, serde_json::from_value(patch).unwrap()).map(|()| target)
    }

    #[test]
    fn what_is_not_there_passes_a_test_for_null() {
        let patch = json!([{"op": "test", "path": "/a/b", "value": null}, {"op": "add", "path": "/a/b", "value": [1]}]);
        assert_eq!(run(json!({"a": {}}), patch.clone()).unwrap(), json!({"a": {"b": [1]}}));
        assert!(run(json!({"a": {"b": []}}), patch.clone()).is_err());
        assert!(run(json!({}), patch).is_err());
        assert!(run(json!({}), json!([{"op": "test", "path": "/a", "value": 1}])).is_err());
    }

    #[test]
    fn negative_indices_count_from_the_end() {
        let list = || json!({"a": [1, 2, 3]});
        assert_eq!(run(list(), json!([{"op": "remove", "path": "/a/-1"}])).unwrap(), json!({"a": [1, 2]}));
        assert_eq!(
            run(list(), json!([{"op": "add", "path": "/a/-1", "value": 4}])).unwrap(),
            json!({"a": [1, 2, 3, 4]})
        );
        assert!(run(list(), json!([{"op": "replace", "path": "/a/-4", "value": 0}])).is_err());
    }

    #[test]
    fn copies_that_double_an_object_end() {
        let doubling: Vec<Value> =
            (0..64).map(|i| json!({"op": "copy", "from": "", "path": format!("/{i}")})).collect();
        assert_eq!(run(json!({"a": 1}), Value::Array(doubling)), Err(Unprocessable));
    }
}
