//! Lists that merge: lists of objects by a key, lists of scalars as sets.

use serde_json::{Map, Value};

use super::{DIRECTIVE, Field, Outcome, PatchMeta, StrategicMergeError, merge_map, unknown_directive};
use crate::golang;

/// The form of a list's items.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Items {
    Objects,
    Scalars,
}

/// Returns the form of the lists' items; `None` if there are no items.
///
/// # Errors
/// The items have several types, or they are lists.
pub(super) fn check_types(lists: &[&[Value]]) -> Outcome<Option<Items>> {
    let mut items = lists.iter().flat_map(|list| list.iter());
    let Some(first) = items.next() else { return Ok(None) };
    if first.is_array() {
        return Err(StrategicMergeError::ListOfLists);
    }
    if items.any(|item| golang::type_name(item) != golang::type_name(first)) {
        let lists: Vec<Value> = lists.iter().map(|list| Value::Array(list.to_vec())).collect();
        return Err(StrategicMergeError::MixedItems(golang::display(&Value::Array(lists))));
    }
    Ok(Some(if first.is_object() { Items::Objects } else { Items::Scalars }))
}

/// Merges `changes` into `original`. With `is_deletion`, removes them, if they are scalars.
pub(super) fn merge_list<T: PatchMeta>(
    original: Vec<Value>,
    changes: Vec<Value>,
    field: &Field<T>,
    is_deletion: bool,
) -> Outcome<Vec<Value>> {
    match check_types(&[&original, &changes])? {
        None => Ok(original),
        Some(Items::Scalars) if is_deletion => {
            Ok(original.into_iter().filter(|item| !changes.contains(item)).collect())
        }
        Some(Items::Scalars) => {
            let mut merged: Vec<Value> = Vec::with_capacity(original.len() + changes.len());
            for item in original.iter().chain(&changes) {
                if !merged.contains(item) {
                    merged.push(item.clone());
                }
            }
            ordered(merged, &changes, &original, None)
        }
        Some(Items::Objects) => {
            let key = field.merge_key.ok_or(StrategicMergeError::NoMergeKey)?;
            let (original, changes) = carry_out_directives(original, changes, key)?;
            let merged = merge_objects(original.clone(), &changes, key, field.of)?;
            ordered(merged, &changes, &original, Some(key))
        }
    }
}

/// Applies the items with `$patch`, and returns the items that stay in the object and in the patch.
fn carry_out_directives(
    mut original: Vec<Value>,
    changes: Vec<Value>,
    key: &str,
) -> Outcome<(Vec<Value>, Vec<Value>)> {
    let mut replaces = false;
    let mut kept = Vec::with_capacity(changes.len());
    for change in changes {
        let Value::Object(fields) = &change else { continue };
        match fields.get(DIRECTIVE).map(Value::as_str) {
            None => kept.push(change),
            Some(Some("delete")) => {
                let wanted = key_of(fields, key)?;
                // Every match goes, since lists may repeat a key.
                original.retain(|item| item.get(key) != Some(wanted));
            }
            Some(Some("replace")) => replaces = true,
            Some(Some("merge")) => return Err(StrategicMergeError::MergeDirective),
            Some(_) => return Err(unknown_directive(fields)),
        }
    }
    Ok(if replaces { (kept, Vec::new()) } else { (original, kept) })
}

fn key_of<'i>(item: &'i Map<String, Value>, key: &str) -> Outcome<&'i Value> {
    item.get(key).ok_or_else(|| StrategicMergeError::MergeKey {
        map: golang::display(&Value::Object(item.clone())),
        key: key.to_owned(),
    })
}

fn merge_objects<T: PatchMeta>(
    mut original: Vec<Value>,
    changes: &[Value],
    key: &str,
    of: Option<T>,
) -> Outcome<Vec<Value>> {
    for change in changes {
        let Value::Object(fields) = change else { continue };
        let wanted = key_of(fields, key)?;
        match original.iter_mut().find(|item| item.get(key) == Some(wanted)) {
            Some(Value::Object(item)) => *item = merge_map(std::mem::take(item), fields.clone(), of)?,
            _ => original.push(change.clone()),
        }
    }
    Ok(original)
}

/// Orders the items of a merged list: those in `order` by it, the others by the list before. Items that only the patch has come
/// before the items after which the list before does not have them.
///
/// Source: `normalizeElementOrder` and `mergeSortedSlice`.
pub(super) fn ordered(
    merged: Vec<Value>,
    order: &[Value],
    before: &[Value],
    key: Option<&str>,
) -> Outcome<Vec<Value>> {
    for item in merged.iter().chain(order) {
        if let (Some(key), Value::Object(fields)) = (key, item) {
            key_of(fields, key)?;
        }
    }
    let (mut patched, mut others): (Vec<Value>, Vec<Value>) =
        merged.into_iter().partition(|item| place(order, item, key).is_some());
    patched.sort_by_key(|item| place(order, item, key));
    others.sort_by_key(|item| place(before, item, key));
    let mut out = Vec::with_capacity(patched.len() + others.len());
    let mut others = others.into_iter().peekable();
    for item in patched {
        let limit = place(before, &item, key);
        while let Some(other) = others
            .next_if(|other| place(before, other, key).zip(limit).is_some_and(|(other, limit)| other < limit))
        {
            out.push(other);
        }
        out.push(item);
    }
    out.extend(others);
    Ok(out)
}

/// The place of an item in a list; objects are compared by the key.
fn place(list: &[Value], item: &Value, key: Option<&str>) -> Option<usize> {
    list.iter().position(|other| is_same(item, other, key))
}

fn is_same(left: &Value, right: &Value, key: Option<&str>) -> bool {
    match key {
        Some(key) if left.is_object() => left.get(key) == right.get(key),
        _ => left == right,
    }
}

/// Checks that the items of a patch are in `$setElementOrder`, in its order.
///
/// # Errors
/// They are not, or an item lacks the key.
pub(super) fn check_order(changes: &[Value], order: &[Value], key: Option<&str>) -> Outcome<()> {
    if changes.is_empty() || order.is_empty() {
        return Ok(());
    }
    let mut expected = order.iter();
    for change in changes.iter().filter(|change| change.get(DIRECTIVE).is_none()) {
        let mut is_found = false;
        for one in expected.by_ref() {
            if let Some(key) = key {
                key_of(object(change)?, key)?;
                key_of(object(one)?, key)?;
            }
            is_found = is_same(change, one, key);
            if is_found {
                break;
            }
        }
        if !is_found {
            let display = |list: &[Value]| golang::display(&Value::Array(list.to_vec()));
            return Err(StrategicMergeError::Order { list: display(changes), order: display(order) });
        }
    }
    Ok(())
}

fn object(item: &Value) -> Outcome<&Map<String, Value>> {
    item.as_object().ok_or(StrategicMergeError::Type {
        expected: "map[string]interface {}",
        actual: golang::type_name(item),
    })
}
