//! JSON patch, by the rules of evanphx/json-patch v4, which kube-apiserver uses.
//!
//! The library is laxer than RFC 6902:
//!
//! - a field that the object lacks reads as null: `test` for null passes, `replace` sets the field, `copy` copies null;
//! - an operation without `value` has the value null;
//! - indices are what Go's `strconv.Atoi` reads, such as `01` and `+1`, and negative ones count from the end of the list;
//! - `replace` takes the path of the whole document.
//!
//! It is stricter in one place: `add`, `copy`, `move` and `remove` refuse the path of the whole document.

use serde_json::Value;

use super::{MAX_DEPTH, is_deeper};
use crate::golang;

/// The limit of bytes of JSON that the `copy` operations of one patch may add: kube-apiserver's limit of a request's
/// body.
const COPY_LIMIT: usize = 3 * 1024 * 1024;

/// The reason why a JSON patch does not apply, in the words of evanphx/json-patch.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum JsonPatchError {
    /// The operation is unknown, or it names none.
    #[error("Unexpected kind: {0}")]
    Operation(String),
    /// `path` or `from` is missing, or not a string.
    #[error("{operation} operation failed to decode {member}: missing value")]
    Member {
        /// The operation.
        operation: &'static str,
        /// `path` or `from`.
        member: &'static str,
    },
    /// The object or list that a path leads into does not exist.
    #[error("{operation} operation does not apply: {missing}: {path}: missing value")]
    Parent {
        /// The operation.
        operation: &'static str,
        /// The path that leads nowhere, such as `doc is missing from path`.
        missing: &'static str,
        /// The path, in quotes for some operations.
        path: String,
    },
    /// A list lacks the index that `replace` names.
    #[error("replace operation does not apply: doc is missing key: {0}: missing value")]
    Replace(String),
    /// The last part of a path does not exist in the object or list.
    #[error("{context}: {reason}")]
    Element {
        /// The failed operation and its place.
        context: String,
        /// The reason why the place does not exist.
        reason: ElementError,
    },
    /// A value differs from the one that `test` gives.
    #[error("testing value {0} failed: test failed")]
    Test(String),
    /// `replace` of the whole document with a scalar.
    #[error("replace operation value must be object or array")]
    Root,
    /// `copy` operations add too much.
    #[error("Unable to complete the copy, the accumulated size increase of copy is {size}, exceeding the limit {limit}", limit = COPY_LIMIT)]
    CopyLimit {
        /// The number of bytes that the operations would add.
        size: usize,
    },
    /// A value would nest deeper than [`MAX_DEPTH`].
    #[error("the patched object nests deeper than {} levels", MAX_DEPTH)]
    Depth,
}

/// The reason why an object or list has no such place.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ElementError {
    /// The object has no such field.
    #[error("Unable to remove nonexistent key: {0}: missing value")]
    Field(String),
    /// The index is outside of the list.
    #[error("Unable to access invalid index: {0}: invalid index referenced")]
    Bounds(i64),
    /// The index is not a number.
    #[error("strconv.Atoi: parsing {}: invalid syntax", golang::quote(.0))]
    Index(String),
    /// The index of a new item is not a number.
    #[error("value was not a proper array index: '{0}': strconv.Atoi: parsing {quoted}: invalid syntax", quoted = golang::quote(.0))]
    NewIndex(String),
}

/// Applies the operations in order, and returns the patched document.
///
/// # Errors
/// Returns the error of the first operation that does not apply.
///
/// ```
/// use kubesmith_apimachinery::patch::json_patch;
/// use serde_json::json;
///
/// let patch = [json!({"op": "replace", "path": "/spec/replicas", "value": 3})];
/// assert_eq!(json_patch(&json!({"spec": {}}), &patch)?, json!({"spec": {"replicas": 3}}));
/// # Ok::<(), kubesmith_apimachinery::patch::JsonPatchError>(())
/// ```
pub fn json_patch(document: &Value, patch: &[Value]) -> Result<Value, JsonPatchError> {
    let mut patching = Patching { document: document.clone(), copied: 0 };
    for operation in patch {
        let operation = Operation(operation);
        match operation.0["op"].as_str() {
            Some("add") => patching.add(operation)?,
            Some("remove") => patching.remove(operation)?,
            Some("replace") => patching.replace(operation)?,
            Some("move") => patching.move_value(operation)?,
            Some("test") => patching.test(operation)?,
            Some("copy") => patching.copy(operation)?,
            other => return Err(JsonPatchError::Operation(other.unwrap_or("unknown").to_owned())),
        }
    }
    Ok(patching.document)
}

#[derive(Clone, Copy)]
struct Operation<'p>(&'p Value);

impl<'p> Operation<'p> {
    fn text(self, operation: &'static str, member: &'static str) -> Result<&'p str, JsonPatchError> {
        self.0[member].as_str().ok_or(JsonPatchError::Member { operation, member })
    }

    fn value(self) -> Value {
        self.0["value"].clone()
    }
}

struct Patching {
    document: Value,
    /// The number of bytes that the `copy` operations have added.
    copied: usize,
}

impl Patching {
    fn add(&mut self, operation: Operation<'_>) -> Result<(), JsonPatchError> {
        let path = operation.text("add", "path")?;
        let (parent, key) = parent(&mut self.document, path)
            .ok_or_else(|| missing("add", "doc is missing path", format!("\"{path}\"")))?;
        check_depth(path, &operation.0["value"])?;
        add(parent, key, operation.value())
            .map_err(|reason| element(format!("error in add for path: '{path}'"), reason))
    }

    fn remove(&mut self, operation: Operation<'_>) -> Result<(), JsonPatchError> {
        let path = operation.text("remove", "path")?;
        let (parent, key) = parent(&mut self.document, path)
            .ok_or_else(|| missing("remove", "doc is missing path", format!("\"{path}\"")))?;
        let removed = remove(parent, &key);
        removed.map(drop).map_err(|reason| element(format!("error in remove for path: '{path}'"), reason))
    }

    fn replace(&mut self, operation: Operation<'_>) -> Result<(), JsonPatchError> {
        let path = operation.text("replace", "path")?;
        check_depth(path, &operation.0["value"])?;
        if path.is_empty() {
            let value = operation.value();
            if !value.is_object() && !value.is_array() {
                return Err(JsonPatchError::Root);
            }
            self.document = value;
            return Ok(());
        }
        let (parent, key) = parent(&mut self.document, path)
            .ok_or_else(|| missing("replace", "doc is missing path", path.to_owned()))?;
        match parent {
            Value::Object(fields) => {
                fields.insert(key, operation.value());
            }
            list => {
                let place = get(list, &key).map_err(|_| JsonPatchError::Replace(path.to_owned()))?;
                if let Some(place) = place {
                    *place = operation.value();
                }
            }
        }
        Ok(())
    }

    fn move_value(&mut self, operation: Operation<'_>) -> Result<(), JsonPatchError> {
        let from = operation.text("move", "from")?;
        let (source, key) = parent(&mut self.document, from)
            .ok_or_else(|| missing("move", "doc is missing from path", from.to_owned()))?;
        let value = remove(source, &key)
            .map_err(|reason| element(format!("error in move for path: '{key}'"), reason))?;
        let path = operation.text("move", "path")?;
        let (target, key) = parent(&mut self.document, path)
            .ok_or_else(|| missing("move", "doc is missing destination path", path.to_owned()))?;
        check_depth(path, &value)?;
        add(target, key, value).map_err(|reason| element(format!("error in move for path: '{path}'"), reason))
    }

    fn test(&mut self, operation: Operation<'_>) -> Result<(), JsonPatchError> {
        let path = operation.text("test", "path")?;
        let expected = &operation.0["value"];
        let is_equal = if path.is_empty() {
            self.document == *expected
        } else {
            let (parent, key) = parent(&mut self.document, path)
                .ok_or_else(|| missing("test", "is missing path", path.to_owned()))?;
            let value = get(parent, &key);
            let value =
                value.map_err(|reason| element(format!("error in test for path: '{path}'"), reason))?;
            value.as_deref().unwrap_or(&Value::Null) == expected
        };
        if is_equal { Ok(()) } else { Err(JsonPatchError::Test(path.to_owned())) }
    }

    fn copy(&mut self, operation: Operation<'_>) -> Result<(), JsonPatchError> {
        let from = operation.text("copy", "from")?;
        let (source, key) = parent(&mut self.document, from)
            .ok_or_else(|| missing("copy", "doc is missing from path", from.to_owned()))?;
        let value = get(source, &key)
            .map_err(|reason| element(format!("error in copy for from: '{from}'"), reason))?;
        let value = value.cloned().unwrap_or_default();
        let path = operation.text("copy", "path")?;
        let (target, key) = parent(&mut self.document, path)
            .ok_or_else(|| missing("copy", "doc is missing destination path", path.to_owned()))?;
        if !value.is_null() {
            self.copied += golang::json(&value).len();
        }
        if self.copied > COPY_LIMIT {
            return Err(JsonPatchError::CopyLimit { size: self.copied });
        }
        check_depth(path, &value)?;
        add(target, key, value)
            .map_err(|reason| element("error while adding value during copy".to_owned(), reason))
    }
}

fn missing(operation: &'static str, missing: &'static str, path: String) -> JsonPatchError {
    JsonPatchError::Parent { operation, missing, path }
}

fn element(context: String, reason: ElementError) -> JsonPatchError {
    JsonPatchError::Element { context, reason }
}

fn check_depth(path: &str, value: &Value) -> Result<(), JsonPatchError> {
    let left = MAX_DEPTH.checked_sub(path.matches('/').count());
    match left.is_none_or(|left| is_deeper(value, left)) {
        true => Err(JsonPatchError::Depth),
        false => Ok(()),
    }
}

/// The object or list that holds the end of a path, and the last part of the path.
///
/// The library ignores text before the first slash, and finds nothing for a path without one.
fn parent<'d>(document: &'d mut Value, path: &str) -> Option<(&'d mut Value, String)> {
    let (_, path) = path.split_once('/')?;
    let (parents, last) = path.rsplit_once('/').map_or((None, path), |(parents, last)| (Some(parents), last));
    let mut place = document;
    for part in parents.into_iter().flat_map(|parents| parents.split('/')) {
        place = get(place, &decoded(part)).ok()??;
    }
    (place.is_object() || place.is_array()).then(|| (place, decoded(last)))
}

fn decoded(part: &str) -> String {
    // One pass, since `~01` is `~1`.
    let mut out = String::with_capacity(part.len());
    let mut rest = part;
    while let Some(at) = rest.find('~') {
        let (before, behind) = rest.split_at(at);
        out.push_str(before);
        let (c, length) = match behind.as_bytes().get(1) {
            Some(b'1') => ('/', 2),
            Some(b'0') => ('~', 2),
            _ => ('~', 1),
        };
        out.push(c);
        rest = &behind[length..];
    }
    out + rest
}

/// The value at a place; `None` for a field that the object lacks.
fn get<'v>(parent: &'v mut Value, key: &str) -> Result<Option<&'v mut Value>, ElementError> {
    match parent {
        Value::Object(fields) => Ok(fields.get_mut(key)),
        Value::Array(items) => {
            let index = index(key, items.len())?;
            Ok(items.get_mut(index))
        }
        _ => Ok(None),
    }
}

fn add(parent: &mut Value, key: String, value: Value) -> Result<(), ElementError> {
    match parent {
        Value::Object(fields) => {
            fields.insert(key, value);
        }
        Value::Array(items) if key == "-" => items.push(value),
        Value::Array(items) => {
            let index = index(&key, items.len() + 1).map_err(|error| match error {
                ElementError::Index(key) => ElementError::NewIndex(key),
                other => other,
            })?;
            items.insert(index, value);
        }
        _ => {}
    }
    Ok(())
}

fn remove(parent: &mut Value, key: &str) -> Result<Value, ElementError> {
    match parent {
        Value::Array(items) => {
            let index = index(key, items.len())?;
            Ok(items.remove(index))
        }
        Value::Object(fields) => fields.remove(key).ok_or_else(|| ElementError::Field(key.to_owned())),
        _ => Err(ElementError::Field(key.to_owned())),
    }
}

/// The index below `length` that a text names.
fn index(text: &str, length: usize) -> Result<usize, ElementError> {
    let given: i64 = text.parse().map_err(|_| ElementError::Index(text.to_owned()))?;
    let counted = match given {
        0.. => usize::try_from(given).ok(),
        _ => usize::try_from(given.unsigned_abs()).ok().and_then(|back| length.checked_sub(back)),
    };
    counted.filter(|index| *index < length).ok_or(ElementError::Bounds(given))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[track_caller]
    fn becomes(document: Value, operation: Value, expected: Value) {
        assert_eq!(json_patch(&document, &[operation]), Ok(expected));
    }

    #[track_caller]
    fn fails(document: Value, operation: Value, message: &str) {
        assert_eq!(json_patch(&document, &[operation]).unwrap_err().to_string(), message);
    }

    #[test]
    fn missing_field_reads_as_null() {
        becomes(json!({}), json!({"op": "test", "path": "/a", "value": null}), json!({}));
        becomes(json!({"a": null}), json!({"op": "test", "path": "/a"}), json!({"a": null}));
        becomes(json!({}), json!({"op": "replace", "path": "/a", "value": 1}), json!({"a": 1}));
        becomes(json!({}), json!({"op": "copy", "from": "/a", "path": "/b"}), json!({"b": null}));
        fails(
            json!({}),
            json!({"op": "test", "path": "/a", "value": 1}),
            "testing value /a failed: test failed",
        );
        fails(
            json!({}),
            json!({"op": "move", "from": "/a", "path": "/b"}),
            "error in move for path: 'a': Unable to remove nonexistent key: a: missing value",
        );
    }

    #[test]
    fn missing_value_is_null() {
        becomes(json!({}), json!({"op": "add", "path": "/a"}), json!({"a": null}));
        becomes(json!({"a": 1}), json!({"op": "replace", "path": "/a"}), json!({"a": null}));
    }

    #[test]
    fn index_parses_as_in_atoi() {
        let list = || json!({"a": [1, 2, 3]});
        becomes(list(), json!({"op": "remove", "path": "/a/01"}), json!({"a": [1, 3]}));
        becomes(list(), json!({"op": "replace", "path": "/a/+1", "value": 0}), json!({"a": [1, 0, 3]}));
        becomes(list(), json!({"op": "remove", "path": "/a/-1"}), json!({"a": [1, 2]}));
        becomes(list(), json!({"op": "add", "path": "/a/-1", "value": 4}), json!({"a": [1, 2, 3, 4]}));
        becomes(list(), json!({"op": "add", "path": "/a/-", "value": 4}), json!({"a": [1, 2, 3, 4]}));
        becomes(list(), json!({"op": "add", "path": "/a/3", "value": 4}), json!({"a": [1, 2, 3, 4]}));
        fails(
            list(),
            json!({"op": "add", "path": "/a/4", "value": 4}),
            "error in add for path: '/a/4': Unable to access invalid index: 4: invalid index referenced",
        );
        fails(
            list(),
            json!({"op": "remove", "path": "/a/x"}),
            "error in remove for path: '/a/x': strconv.Atoi: parsing \"x\": invalid syntax",
        );
        fails(
            list(),
            json!({"op": "replace", "path": "/a/-4", "value": 0}),
            "replace operation does not apply: doc is missing key: /a/-4: missing value",
        );
    }

    #[test]
    fn whole_document_can_only_be_replaced_or_tested() {
        becomes(json!({"a": 1}), json!({"op": "replace", "path": "", "value": {"b": 2}}), json!({"b": 2}));
        becomes(json!({"a": 1}), json!({"op": "test", "path": "", "value": {"a": 1}}), json!({"a": 1}));
        fails(
            json!({}),
            json!({"op": "replace", "path": "", "value": 1}),
            "replace operation value must be object or array",
        );
        fails(
            json!({}),
            json!({"op": "add", "path": "", "value": {}}),
            "add operation does not apply: doc is missing path: \"\": missing value",
        );
        fails(
            json!({}),
            json!({"op": "copy", "from": "", "path": "/a"}),
            "copy operation does not apply: doc is missing from path: : missing value",
        );
    }

    #[test]
    fn path_is_decoded_once_per_part() {
        let escaped = json!({"op": "remove", "path": "/a~1b/~01"});
        becomes(json!({"a/b": {"~1": 0}}), escaped, json!({"a/b": {}}));
        // The library ignores text before the first slash.
        becomes(json!({"b": 1}), json!({"op": "remove", "path": "x/b"}), json!({}));
    }

    #[test]
    fn operation_that_is_unknown_or_lacks_a_member_is_an_error() {
        fails(json!({}), json!({"op": "fly", "path": "/a"}), "Unexpected kind: fly");
        fails(json!({}), json!({"path": "/a"}), "Unexpected kind: unknown");
        fails(json!({}), json!({"op": "add"}), "add operation failed to decode path: missing value");
        fails(json!({}), json!({"op": "copy"}), "copy operation failed to decode from: missing value");
        fails(
            json!({"a": "x"}),
            json!({"op": "add", "path": "/a/b", "value": 1}),
            "add operation does not apply: doc is missing path: \"/a/b\": missing value",
        );
    }

    #[test]
    fn copies_are_limited_in_size_and_depth() {
        let deep = json!({"op": "copy", "from": "/a", "path": "/a/a"});
        let nesting = vec![deep; 200];
        let error = json_patch(&json!({"a": {"x": {}}}), &nesting).unwrap_err();
        assert_eq!(error, JsonPatchError::Depth);
        let text = "x".repeat(1024 * 1024);
        let copies: Vec<Value> =
            (0..3).map(|i| json!({"op": "copy", "from": "/a", "path": format!("/{i}")})).collect();
        let error = json_patch(&json!({ "a": text }), &copies).unwrap_err();
        assert!(matches!(error, JsonPatchError::CopyLimit { .. }));
    }
}
