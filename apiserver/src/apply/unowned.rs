//! Merges a configuration that has no manager: the patches of mutating admission policies.
//!
//! Source: `ApplyStructuredMergeDiff` of apiserver's pkg/admission/plugin/policy/mutating/patch/smd.go.

use kubesmith_apiextensions::structural::ListType;
use kubesmith_apimachinery::fieldpath::{PathElement, path_text};
use serde_json::Value;

use super::types::{Atom, Ty, Typed};
use super::walk::{self, MAX_DEPTH};
use super::{check, declared};
use crate::types::Type;

/// Returns the object with the configuration merged in. `of` is the type of a built-in kind.
///
/// # Errors
/// Returns values that do not fit the type, items without a unique key, and changes of atomic values.
pub(crate) fn merge(
    typed: &Typed,
    of: Option<&'static Type>,
    object: &Value,
    configuration: &Value,
) -> Result<Value, String> {
    match of {
        Some(of) => declared::joined(&declared::faults(configuration, of)),
        None => check::config(typed, configuration),
    }
    .map_err(|fault| format!("failed to convert patch object to typed object: {fault}"))?;
    let ty = Ty::of(typed);
    let mut whole = Vec::new();
    atomics(ty, configuration, &mut Vec::new(), &mut whole);
    if !whole.is_empty() {
        let places = whole.join(", ");
        return Err(format!(
            "invalid ApplyConfiguration: may not mutate atomic arrays, maps or structs: {places}"
        ));
    }
    // Objects of built-in kinds were decoded.
    if of.is_none() {
        check::changed(typed, object)
            .map_err(|fault| format!("failed to convert original object to typed object: {fault}"))?;
    }
    let mut configuration = configuration.clone();
    drop_from_items(&mut configuration, false);
    let mut merged =
        walk::merge(ty, object, &configuration).map_err(|fault| format!("failed to merge patch: {fault}"))?;
    drop_empty_lists(&mut merged, &configuration);
    Ok(merged)
}

fn is_empty(value: &Value) -> bool {
    value.as_array().is_some_and(Vec::is_empty)
}

/// Drops the empty lists in items of lists, for the reason of [`drop_empty_lists`].
fn drop_from_items(value: &mut Value, is_item: bool) {
    match value {
        Value::Object(map) => {
            map.retain(|_, value| !(is_item && is_empty(value)));
            map.values_mut().for_each(|value| drop_from_items(value, is_item));
        }
        Value::Array(items) => items.iter_mut().for_each(|item| drop_from_items(item, true)),
        _ => {}
    }
}

/// Drops lists that the configuration leaves empty: Go's nil slice stands for them (`convertField` of apiserver's
/// pkg/cel/mutation/dynamic), which is stored as null.
fn drop_empty_lists(merged: &mut Value, configuration: &Value) {
    let (Value::Object(merged), Value::Object(configuration)) = (merged, configuration) else { return };
    merged.retain(|name, merged| {
        let Some(given) = configuration.get(name) else { return true };
        drop_empty_lists(merged, given);
        !is_empty(merged) || !is_empty(given)
    });
}

/// Collects the atomic values: a configuration that sets a part of one would drop the rest.
fn atomics(ty: Ty<'_>, value: &Value, path: &mut Vec<PathElement>, found: &mut Vec<String>) {
    if path.len() >= MAX_DEPTH {
        return;
    }
    let atom = ty.atom(Some(value));
    let is_atomic = matches!(atom, Atom::Map { atomic: true } | Atom::List(ListType::Atomic));
    if is_atomic && !value.is_null() {
        found.push(path_text(path));
    }
    match (atom, value) {
        (Atom::Map { .. }, Value::Object(map)) => {
            for (name, value) in map {
                let (field, is_declared) = ty.field(name);
                if is_declared {
                    path.push(PathElement::Field(name.clone()));
                    atomics(field, value, path, found);
                    path.pop();
                }
            }
        }
        (Atom::List(_), Value::Array(items)) => {
            for (i, item) in items.iter().enumerate() {
                path.push(PathElement::Index(i));
                atomics(ty.item(), item, path, found);
                path.pop();
            }
        }
        _ => {}
    }
}
