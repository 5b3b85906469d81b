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
            resized(&spec, &before, errors);
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

/// Checks that only `cpu` and `memory` of containers change, and that no request or limit is removed. Plain init containers keep
/// theirs if they would have to be restarted for it.
fn resized(spec: &Field<'_>, before: &Field<'_>, errors: &mut Errors) {
    let pairs = |list| spec.child(list).items().zip(before.child(list).items()).collect::<Vec<_>>();
    let (containers, init_containers) = (pairs("containers"), pairs("initContainers"));
    for (new, old) in init_containers.iter().chain(&containers) {
        let (resources, before) = (new.child("resources"), old.child("resources"));
        for part in ["requests", "limits"] {
            let amounts = resources.child(part);
            if is_removed(&amounts, &before.child(part)) {
                errors.forbidden(&amounts, &format!("resource {part} cannot be removed"));
            }
        }
    }
    for (new, old) in &containers {
        if !is_only_resized(new, old) {
            errors.forbidden(spec, "only cpu and memory resources are mutable");
        }
    }
    for (new, old) in &init_containers {
        if !is_only_resized(new, old) {
            let detail = "only cpu and memory resources for init or sidecar containers are mutable";
            errors.forbidden(new, detail);
        }
        if new.child("restartPolicy").text() == "Always" || new.value == old.value {
            continue;
        }
        for policy in new.child("resizePolicy").items() {
            if policy.child("restartPolicy").text() == "RestartContainer" {
                let detail =
                    "non-sidecar init containers with a resize policy of RestartContainer cannot be resized";
                errors.forbidden(new, detail);
            }
        }
    }
}

/// Reports whether a container differs in nothing but `cpu` and `memory`. Claims of the new one are not compared
/// (`dropCPUMemoryResourcesFromContainer`).
fn is_only_resized(new: &Field<'_>, old: &Field<'_>) -> bool {
    let mut resources = new.child("resources").value.clone();
    if let Some(resources) = resources.as_object_mut() {
        resources.remove("claims");
    }
    let policies = |container: &Field<'_>| {
        container.child("resizePolicy").items().map(|it| it.value.clone()).collect::<Vec<_>>()
    };
    fixed(&resources) == fixed(old.child("resources").value) && policies(new) == policies(old)
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
