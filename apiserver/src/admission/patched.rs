//! Checks of every object that a JSON patch of a webhook or a policy has changed.

use kubesmith_apimachinery::golang;
use serde_json::Value;

use crate::bodies::identity::SCHEME;
use crate::meta;
use crate::registry::ResourceDef;

/// Checks that a patch keeps the kind and its version, since the object is decoded as that kind. A built-in kind that
/// the patch removed is restored, as decoding takes it from the type (`Decode` of apimachinery's
/// pkg/runtime/serializer/json).
///
/// # Errors
/// Returns the fault of the object.
pub(super) fn check_kind(def: &ResourceDef, before: &Value, patched: &mut Value) -> Result<(), String> {
    if !patched.is_object() {
        return Err("couldn't get version/kind; the patched object is none".to_owned());
    }
    for name in ["apiVersion", "kind"] {
        if !def.is_custom() && meta::member(patched, name).is_empty() && before.get(name).is_some() {
            patched[name] = before[name].clone();
        }
    }
    let (version, kind) = (meta::member(patched, "apiVersion"), meta::member(patched, "kind"));
    if version == meta::member(before, "apiVersion") && kind == meta::member(before, "kind") {
        return Ok(());
    }
    if kind.is_empty() {
        return Err(format!("Object 'Kind' is missing in '{patched}'"));
    }
    let (kind, version, scheme) = (golang::quote(kind), golang::quote(version), golang::quote(SCHEME));
    Err(format!("no kind {kind} is registered for version {version} in scheme {scheme}"))
}
