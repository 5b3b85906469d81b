//! Resizing a pod. Source: `ValidatePodResize` of `pkg/apis/core/validation`.

use serde_json::{Value, json};

use super::ephemeral::is_static;
use super::field::{Errors, Field};
use super::pod_resources;
use super::pods::whole;
use super::tolerated::Tolerated;
use crate::builtin::defaults::quality_of_service;
use crate::status::Cause;

/// Checks a pod whose resources were changed.
pub(in crate::builtin) fn pod_resize(pod: &Value, old: &Value) -> Vec<Cause> {
    if is_static(old) {
        return vec![Cause::forbidden("", "static pods cannot be resized")];
    }
    if old["spec"]["os"]["name"] == "windows" {
        return vec![Cause::forbidden("", "windows pods cannot be resized")];
    }
    Errors::of(|errors| {
        whole(pod, Tolerated::of(old), errors);
        let (spec, before) = (Field::root(pod).child("spec"), Field::root(old).child("spec"));
        if quality_of_service(spec.value) != quality_of_service(before.value) {
            // The error shows the class of the status, which the request does not change.
            let shown = &pod["status"]["qosClass"];
            errors.invalid(&spec.holding(shown), "Pod QOS Class may not change as a result of resizing");
        }
        let statuses = Field::root(old).child("status").child("containerStatuses");
        let running = statuses.items().find(|status| status.child("state").child("running").is_set());
        if running.is_some_and(|status| !status.child("resources").is_set()) {
            errors.forbidden(&spec, "Pod running on node without support for resize");
        }
        pod_resources::resized(&spec, &before, errors);
        let lists = ["containers", "initContainers"];
        let count = errors.len();
        for list in lists {
            same_containers(&spec.child(list), &before.child(list), list, errors);
        }
        if errors.len() == count {
            for list in lists {
                resized(&spec.child(list), &before.child(list), errors);
            }
        }
    })
}

fn same_containers(new: &Field<'_>, old: &Field<'_>, list: &str, errors: &mut Errors) {
    if new.items().count() != old.items().count() {
        errors.forbidden(new, &format!("{list} may not be added or removed on resize"));
        return;
    }
    for (new, old) in new.items().zip(old.items()) {
        let name = new.child("name");
        if name.text() != old.child("name").text() {
            errors.forbidden(&name, &format!("{list} may not be renamed or reordered on resize"));
        }
    }
}

/// Checks that only `cpu` and `memory` change, not of plain init containers, and that no request or limit is removed.
fn resized(new: &Field<'_>, old: &Field<'_>, errors: &mut Errors) {
    for (new, old) in new.items().zip(old.items()) {
        let (resources, before) = (new.child("resources"), old.child("resources"));
        let is_init = new.path.starts_with("spec.initContainers");
        if is_init && old.child("restartPolicy").text() != "Always" && resources.value != before.value {
            errors.forbidden(&resources, "resources for non-sidecar init containers are immutable");
            continue;
        }
        for part in ["requests", "limits"] {
            let amounts = resources.child(part);
            if is_removed(&amounts, &before.child(part)) {
                errors.forbidden(&amounts, &format!("resource {part} cannot be removed"));
            }
        }
        if fixed(resources.value) != fixed(before.value) {
            let spec = new.at("spec");
            errors.forbidden(&spec, "only cpu and memory resources are mutable");
        }
    }
}

/// `resourcesRemoved`.
pub(super) fn is_removed(new: &Field<'_>, old: &Field<'_>) -> bool {
    old.entries().iter().any(|(name, _)| !new.key(name).is_set())
}

/// Returns the resources that a resize may not change.
pub(super) fn fixed(resources: &Value) -> Value {
    let mut fixed = resources.clone();
    for part in ["requests", "limits"] {
        let Some(amounts) = fixed.get_mut(part).and_then(Value::as_object_mut) else { continue };
        amounts.retain(|name, _| !matches!(name.as_str(), "cpu" | "memory"));
        if amounts.is_empty() {
            crate::meta::object_mut(&mut fixed).remove(part);
        }
    }
    if fixed == json!({}) { Value::Null } else { fixed }
}
