//! Nulls that a type does not accept.
//!
//! As in Go, null counts as absent if the type does not accept it. Other nulls stay, since they may have a meaning.

use kubesmith_apimachinery::decode::Step;
use serde_json::Value;

/// The limit of nulls that are removed one by one, each at the cost of decoding again. If an object has more, all are
/// removed.
const ONE_BY_ONE: usize = 16;

/// An error, and the path to it.
pub(crate) type Located<E> = (E, Vec<Step>);

/// Decodes a value without the nulls at which `decode` fails.
///
/// # Errors
/// The first error that is not caused by a null.
pub(crate) fn read_without<T, E>(
    value: &Value,
    mut decode: impl FnMut(&Value) -> Result<T, Located<E>>,
) -> Result<T, Located<E>> {
    let mut failed = match decode(value) {
        Ok(read) => return Ok(read),
        Err(failed) => failed,
    };
    if !has_null(closest(value, &failed.1).0) {
        return Err(failed);
    }
    let mut value = value.clone();
    for _ in 0..ONE_BY_ONE {
        if !remove(&mut value, &failed.1) {
            return Err(failed);
        }
        match decode(&value) {
            Ok(read) => return Ok(read),
            // The field is required: "null" is a better message than "missing".
            Err(next) if failed.1.split_last().is_some_and(|(_, parent)| parent == next.1) => {
                return Err(failed);
            }
            Err(next) => failed = next,
        }
    }
    drop_nulls(&mut value);
    decode(&value)
}

/// Returns the last existing value on the path, and the number of steps to it. A step may be a variant's name or a
/// missing field.
fn closest<'v>(value: &'v Value, path: &[Step]) -> (&'v Value, usize) {
    let mut found = (value, 0);
    for step in path {
        let Some(next) = step.in_value(found.0) else { break };
        found = (next, found.1 + 1);
    }
    found
}

/// Removes the null at the path. If there is none, removes the nulls below, because some types are decoded as a
/// whole. Returns whether there were any.
fn remove(value: &mut Value, path: &[Step]) -> bool {
    let (found, steps) = closest(value, path);
    let path = match (found.is_null(), path[..steps].split_last()) {
        (true, Some((Step::Member(name), parent))) => {
            let members = at(value, parent).and_then(Value::as_object_mut);
            return members.is_some_and(|members| members.remove(name).is_some());
        }
        _ => &path[..steps],
    };
    at(value, path).is_some_and(drop_nulls)
}

fn at<'v>(value: &'v mut Value, path: &[Step]) -> Option<&'v mut Value> {
    path.iter().try_fold(value, |value, step| match step {
        Step::Member(name) => value.get_mut(name),
        Step::Item(index) => value.get_mut(index),
    })
}

fn has_null(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Object(members) => members.values().any(has_null),
        Value::Array(items) => items.iter().any(has_null),
        _ => false,
    }
}

/// Removes null members at any depth; returns whether there were any.
fn drop_nulls(value: &mut Value) -> bool {
    match value {
        Value::Object(members) => {
            let before = members.len();
            members.retain(|_, member| !member.is_null());
            let any = members.len() < before;
            members.values_mut().fold(any, |any, member| drop_nulls(member) | any)
        }
        Value::Array(items) => items.iter_mut().fold(false, |any, item| drop_nulls(item) | any),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde::Deserialize;
    use serde_json::json;

    use super::*;
    use crate::json::path;

    #[derive(Debug, Deserialize)]
    struct Thing {
        #[serde(default)]
        size: u8,
        #[serde(default)]
        sizes: BTreeMap<String, u8>,
        #[serde(default)]
        any: Value,
        #[serde(flatten)]
        rest: Rest,
    }

    #[derive(Debug, Deserialize)]
    struct Rest {
        #[serde(default)]
        name: String,
    }

    #[derive(Debug, Deserialize)]
    struct Strict {
        #[serde(rename = "name")]
        _name: String,
    }

    fn read<T: for<'de> Deserialize<'de>>(value: &Value) -> Result<T, String> {
        let decode = |value: &Value| {
            serde_path_to_error::deserialize(value)
                .map_err(|error| (error.to_string(), path::of_error(error.path())))
        };
        read_without(value, decode).map_err(|(message, _)| message)
    }

    #[test]
    fn only_nulls_that_do_not_fit_are_removed() {
        let thing: Thing = read(&json!({"size": null, "any": {"a": null, "b": [null]}})).unwrap();
        assert_eq!((thing.size, thing.any), (0, json!({"a": null, "b": [null]})));
        let sizes =
            read::<Thing>(&json!({"sizes": {"a": null, "b": 2, "c": null}, "any": [{"a": null}]})).unwrap();
        assert_eq!((sizes.sizes, sizes.any), (BTreeMap::from([("b".to_owned(), 2)]), json!([{"a": null}])));
        // A flattened type is decoded as a whole.
        assert_eq!(read::<Thing>(&json!({"name": null, "size": 1})).unwrap().rest.name, "");
        let many: serde_json::Map<String, Value> = (0..100).map(|at| (at.to_string(), Value::Null)).collect();
        assert!(read::<Thing>(&json!({"sizes": many})).unwrap().sizes.is_empty());
    }

    #[test]
    fn remaining_error_is_reported() {
        let error = read::<Thing>(&json!({"size": null, "sizes": {"a": "x"}})).unwrap_err();
        assert!(error.starts_with("sizes.a: invalid type: string"), "{error}");
        let error = read::<Strict>(&json!({"name": null})).unwrap_err();
        assert!(error.starts_with("name: invalid type: null"), "{error}");
        assert!(read::<Strict>(&Value::Null).is_err() && read::<Strict>(&json!({})).is_err());
    }
}
