//! The move from kubectl's client-side apply to server-side apply, and back (csaupgrade and lastappliedmanager.go).

use kubesmith_apimachinery::fieldpath::{Set, path_text};
use kubesmith_apimachinery::golang;
use serde_json::Value;

use super::types::{Ty, Typed};
use super::walk::{self, Comparison};
use super::{Applied, Conflict, Manager, check, without_managed_fields};

/// The annotation in which kubectl's client-side apply keeps the last configuration.
pub(super) const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";

/// The size limit of annotations with their names, in bytes.
pub(super) const MAX_ANNOTATIONS: usize = 256 * 1024;

fn last_applied(object: &Value) -> Option<&str> {
    let text = object.get("metadata")?.get("annotations")?.get(LAST_APPLIED)?.as_str()?;
    Some(text).filter(|text| !text.is_empty())
}

/// Returns the conflicts that remain when moving to server-side apply: those about fields that client-side apply did
/// not set or that somebody changed since.
pub(super) fn conflicts_beyond(
    typed: &Typed,
    live: &Value,
    mut conflicts: Vec<Conflict>,
    manager: &Manager,
) -> Vec<Conflict> {
    if let Some(kept) = kept_since_last_applied(typed, live, manager) {
        let kept: Vec<String> = kept.paths().iter().map(|path| path_text(path)).collect();
        conflicts.retain(|conflict| !kept.contains(&conflict.field));
    }
    conflicts
}

/// Returns the fields that client-side apply set last and nobody changed since; `None` if that is unknown.
fn kept_since_last_applied(typed: &Typed, live: &Value, manager: &Manager) -> Option<Set> {
    let live = without_managed_fields(live);
    let last: Value = serde_json::from_str(last_applied(&live)?).ok()?;
    let has_kind = last.get("kind").and_then(Value::as_str).is_some_and(|kind| !kind.is_empty());
    if !has_kind || last["apiVersion"].as_str() != Some(&manager.api_version) {
        return None;
    }
    check::config(typed, &live).and_then(|()| check::config(typed, &last)).ok()?;
    let ty = Ty::of(typed);
    let changed = Comparison::between(ty, &last, &live);
    Some(walk::fields_of(ty, &last).difference(&changed.modified).difference(&changed.removed))
}

/// Updates the annotation, so that client-side apply can be used again.
pub(super) fn remember(mut result: Applied, applied: &Value, manager: &Manager) -> Applied {
    if manager.name != "kubectl" || last_applied(&result.object).is_none() {
        return result;
    }
    let mut config = applied.clone();
    if let Some(annotations) = config.pointer_mut("/metadata/annotations").and_then(Value::as_object_mut) {
        annotations.remove(LAST_APPLIED);
    }
    let text = format!("{}\n", golang::json(&config));
    if let Some(annotations) =
        result.object.pointer_mut("/metadata/annotations").and_then(Value::as_object_mut)
    {
        let old = annotations.insert(LAST_APPLIED.to_owned(), Value::String(text.clone()));
        result.changed |= old != Some(Value::String(text));
        let size = |(name, text): (&String, &Value)| name.len() + text.as_str().map_or(0, str::len);
        if annotations.iter().map(size).sum::<usize>() > MAX_ANNOTATIONS {
            annotations.remove(LAST_APPLIED);
        }
    }
    result
}
