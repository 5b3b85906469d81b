//! The resources of a pod as a whole. Source: `validatePodResources` and `validatePodLevelResourcesResize` of
//! `pkg/apis/core/validation`.

use serde_json::Value;

use super::field::{Errors, Field};
use super::resize::{fixed, is_removed};
use super::resources::{amounts, claim_names, is_huge_pages, resource_name};
use crate::amounts::{aggregate, quantities};

/// Checks the resources of a pod; `claims` are the names of its claims.
pub(super) fn check(spec: &Field<'_>, claims: &[&str], errors: &mut Errors) {
    let resources = spec.child("resources");
    if !resources.is_set() {
        return;
    }
    if spec.child("os").child("name").text() == "windows" {
        errors.forbidden(&resources, "may not be set for a windows pod");
        return;
    }
    let own = resources.child("claims");
    if own.is_set() {
        errors.forbidden(&own, "claims may not be set for Resources at pod-level");
    }
    amounts(&resources, name, errors);
    claim_names(&own, claims, errors);
    consistency(spec, &resources, errors);
}

/// `validatePodResourceName`: the resources that a pod may request as a whole.
fn name(name: &str, field: &Field<'_>, errors: &mut Errors) {
    if resource_name(name, field, errors) && !matches!(name, "cpu" | "memory") && !is_huge_pages(name) {
        let text = Value::from(name);
        errors.not_supported(&field.holding(&text), &["cpu", "hugepages-", "memory"]);
    }
}

/// `validatePodResourceConsistency`: the containers together request at most what the pod does, and none has a higher limit.
fn consistency(spec: &Field<'_>, resources: &Field<'_>, errors: &mut Errors) {
    for part in ["requests", "limits"] {
        let of_pod = quantities(resources.child(part).value);
        for (name, sum) in aggregate(spec.value, part) {
            let is_checked = part == "requests" || is_huge_pages(&name);
            if is_checked && of_pod.get(&name).is_some_and(|own| sum > *own) {
                let detail = format!("must be greater than or equal to aggregate container {part} of {sum}");
                errors.invalid(&resources.child(part).key(&name), &detail);
            }
        }
    }
    let most = quantities(resources.child("limits").value);
    for (i, container) in spec.child("containers").items().enumerate() {
        let limits = container.child("resources").child("limits");
        for (name, limit) in quantities(limits.value) {
            if let Some(most) = most.get(&name).filter(|most| limit > **most) {
                let place = format!("{}.containers[{i}][{name}].limits", resources.path);
                let detail = format!("must be less than or equal to pod limits of {most}");
                errors.invalid(&limits.key(&name).at(place), &detail);
            }
        }
    }
}

/// Checks a change of the resources: only processors and memory change, and nothing is removed.
pub(super) fn resized(spec: &Field<'_>, old: &Field<'_>, errors: &mut Errors) {
    let (new, old) = (spec.child("resources"), old.child("resources"));
    let is_used =
        |resources: &Field<'_>| ["requests", "limits"].iter().any(|part| !resources.child(part).is_empty());
    if !is_used(&new) && !is_used(&old) {
        return;
    }
    if old.is_set() && !new.is_set() {
        errors.forbidden(&new, "pod-level resources cannot be removed");
        return;
    }
    for part in ["requests", "limits"] {
        if is_removed(&new.child(part), &old.child(part)) {
            errors.forbidden(&new.child(part), &format!("pod-level resource {part} cannot be removed"));
        }
    }
    if fixed(new.value) != fixed(old.value) {
        errors.forbidden(spec, "only cpu and memory resources are mutable at pod-level");
    }
}
