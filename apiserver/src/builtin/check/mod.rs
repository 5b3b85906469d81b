//! Checks of built-in kinds: those that people run into with hand-written objects.

mod containers;
mod data;
mod network;
mod objects;
mod pods;
mod workloads;

use serde_json::Value;

pub(super) use data::{config_map, secret};
pub(super) use network::{endpoint_slice, ingress, service};
pub(super) use objects::*;
pub(super) use pods::{pod, pod_ephemeral_containers, pod_resize};
pub(super) use workloads::*;

use crate::names::quoted;
use crate::status::Cause;

fn items(value: &Value) -> impl Iterator<Item = (usize, &Value)> {
    value.as_array().into_iter().flatten().enumerate()
}

fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value[key].as_str().unwrap_or_default()
}

fn is_empty(list: &Value) -> bool {
    list.as_array().is_none_or(Vec::is_empty)
}

fn duplicate(field: String, value: &str) -> Cause {
    Cause::new("FieldValueDuplicate", field, format!("Duplicate value: {}", quoted(value)))
}

/// A whole number that may not be less than zero.
fn not_negative(object: &Value, path: &str, field: &str, causes: &mut Vec<Cause>) {
    if let Some(number) = object[field].as_i64().filter(|n| *n < 0) {
        causes.push(Cause::invalid(format!("{path}.{field}"), number, "must be greater than or equal to 0"));
    }
}

/// A field that no update may change.
fn fixed(field: &str, new: &Value, old: Option<&Value>, causes: &mut Vec<Cause>) {
    if old.is_some_and(|old| old != new) {
        causes.push(Cause::invalid(field, new, "field is immutable"));
    }
}

fn one_of(object: &Value, path: &str, field: &str, supported: &[&str], causes: &mut Vec<Cause>) {
    let value = text(object, field);
    if !value.is_empty() && !supported.contains(&value) {
        causes.push(Cause::not_supported(format!("{path}.{field}"), &quoted(value), supported));
    }
}
