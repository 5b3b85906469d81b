//! Updates of pods that scheduling gates hold: they may add to node selectors and node affinity. Source:
//! `ValidatePodUpdate` of `pkg/apis/core/validation`.

use serde_json::{Map, Value};

use super::field::{Errors, Field};
use crate::meta::copy_member;

const REQUIRED: &str = "requiredDuringSchedulingIgnoredDuringExecution";

/// Checks the selector and the affinity of a gated pod, and returns the new spec with those of the old one.
pub(super) fn merged(spec: &Field<'_>, old: &Value, errors: &mut Errors) -> Value {
    let mut merged = spec.value.clone();
    if old["schedulingGates"].as_array().is_none_or(Vec::is_empty) {
        return merged;
    }
    selector(&spec.child("nodeSelector"), &old["nodeSelector"], errors);
    copy_member(old, &mut merged, "nodeSelector");
    let affinity = spec.child("affinity").child("nodeAffinity");
    let before = &old["affinity"]["nodeAffinity"];
    if affinity.value == before {
        return merged;
    }
    node_affinity(&affinity, before, errors);
    if !merged["affinity"].is_object() {
        merged["affinity"] = Value::Object(Map::new());
    }
    copy_member(&old["affinity"], &mut merged["affinity"], "nodeAffinity");
    if old["affinity"].is_null() && merged["affinity"].as_object().is_some_and(Map::is_empty) {
        copy_member(old, &mut merged, "affinity");
    }
    merged
}

/// `validateNodeSelectorMutation`.
fn selector(selector: &Field<'_>, old: &Value, errors: &mut Errors) {
    if old.as_object().into_iter().flatten().any(|(key, value)| selector.value.get(key) != Some(value)) {
        errors
            .invalid(selector, "only additions to spec.nodeSelector are allowed (no mutations or deletions)");
    }
}

/// `validateNodeAffinityMutation`.
fn node_affinity(affinity: &Field<'_>, old: &Value, errors: &mut Errors) {
    let terms = affinity.child(REQUIRED).child("nodeSelectorTerms");
    let before = Field::root(old).child(REQUIRED).child("nodeSelectorTerms");
    if !before.is_empty() && terms.items().count() != before.items().count() {
        errors.invalid(&terms, "no additions/deletions to non-empty NodeSelectorTerms list are allowed");
        return;
    }
    for (term, old) in terms.items().zip(before.items()) {
        if !only_adds(&term, &old) {
            errors.invalid(&term, "only additions are allowed (no mutations or deletions)");
        }
    }
}

/// `validateNodeSelectorTermHasOnlyAdditions`.
fn only_adds(term: &Field<'_>, old: &Field<'_>) -> bool {
    let lists = ["matchExpressions", "matchFields"];
    let is_empty = |term: &Field<'_>| lists.iter().all(|list| term.child(list).is_empty());
    let begins = |list: &&str| {
        let (new, old) = (term.child(list), old.child(list));
        new.items().count() >= old.items().count()
            && new.items().zip(old.items()).all(|(new, old)| new.value == old.value)
    };
    if is_empty(old) { is_empty(term) } else { lists.iter().all(begins) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn gated_pod_may_only_add_to_where_it_may_run() {
        let terms = |terms: Value| json!({"nodeAffinity": {REQUIRED: {"nodeSelectorTerms": terms}}});
        let (a, b) = (json!({"key": "a", "operator": "Exists"}), json!({"key": "b", "operator": "Exists"}));
        let old = json!({"schedulingGates": [{"name": "g"}], "nodeSelector": {"x": "y"},
            "affinity": terms(json!([{"matchExpressions": [a]}]))});
        let update = |member: &str, value: Value| {
            let mut new = old.clone();
            new[member] = value;
            let mut result = Value::Null;
            let field = Field::root(&new).at("spec");
            let causes = Errors::of(|errors| result = merged(&field, &old, errors));
            assert_eq!(result, old);
            causes.into_iter().map(|cause| cause.field).collect::<Vec<_>>()
        };
        let no_fault: [&str; 0] = [];
        assert_eq!(update("nodeSelector", json!({"x": "y", "z": "z"})), no_fault);
        assert_eq!(update("nodeSelector", json!({"z": "z"})), ["spec.nodeSelector"]);
        assert_eq!(update("affinity", terms(json!([{"matchExpressions": [a, b]}]))), no_fault);
        let place = format!("spec.affinity.nodeAffinity.{REQUIRED}.nodeSelectorTerms");
        assert_eq!(update("affinity", terms(json!([{"matchExpressions": [b]}]))), [format!("{place}[0]")]);
        assert_eq!(update("affinity", json!(null)), [place.as_str()]);
    }
}
