//! Values that kube-apiserver fills in, taken from the defaulting functions of its API packages (1.36).
//!
//! The table of types provides inner structures and members with a fixed default.

mod objects;
mod pods;
mod workloads;

use serde_json::Value;

pub(super) use objects::*;
pub(crate) use pods::quality_of_service;
pub(super) use pods::{pod, pod_template, prepare_pod};
pub(super) use workloads::*;
pub(crate) use workloads::{TEMPLATE_GENERATION, count_template_generation, shares_labels};

use super::Stage;

/// Sets `object[key]` when it is absent or null.
fn fill(object: &mut Value, key: &str, value: impl Into<Value>) {
    let Value::Object(map) = object else { return };
    if map.get(key).is_none_or(Value::is_null) {
        map.insert(key.to_owned(), value.into());
    }
}

/// Runs `f` on every element of the list `object[key]`.
fn each(object: &mut Value, key: &str, f: impl Fn(&mut Value)) {
    for item in object.get_mut(key).and_then(Value::as_array_mut).into_iter().flatten() {
        f(item);
    }
}
