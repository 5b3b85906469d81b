//! The scheduling of a pod: tolerations, affinity, spread, node selectors.
//!
//! Source: `pkg/apis/core/validation`.

use kubesmith_apimachinery::names;
use serde_json::Value;

use super::field::{Errors, Field, NOT_AN_OPERATOR};
use crate::names::NameRule;

/// `ValidateTolerations`.
pub(super) fn tolerations(list: &Field<'_>, errors: &mut Errors) {
    for toleration in list.items() {
        let (key, operator, value) =
            (toleration.child("key"), toleration.child("operator"), toleration.child("value"));
        let effect = toleration.child("effect");
        if !key.is_empty() {
            errors.qualified_name(&key);
        } else if operator.text() != "Exists" {
            let text = Value::from(operator.text());
            let detail =
                "operator must be Exists when `key` is empty, which means \"match all values and all keys\"";
            errors.invalid(&operator.holding(&text), detail);
        }
        if toleration.child("tolerationSeconds").is_set() && effect.text() != "NoExecute" {
            let text = Value::from(effect.text());
            errors.invalid(
                &effect.holding(&text),
                "effect must be 'NoExecute' when `tolerationSeconds` is set",
            );
        }
        match operator.text() {
            "" | "Equal" => {
                let faults = names::label_value(value.text());
                if !faults.is_empty() {
                    errors.invalid(&value.at(operator.path.clone()), &faults.join(";"));
                }
            }
            "Exists" if !value.is_empty() => {
                errors.invalid(
                    &value.at(operator.path.clone()),
                    "value must be empty when `operator` is 'Exists'",
                );
            }
            "Exists" => {}
            // The feature gate `TaintTolerationComparisonOperators` is off.
            "Lt" | "Gt" => errors.not_supported(&operator, &["Equal", "Exists", "Lt", "Gt"]),
            _ => errors.not_supported(&operator, &["Equal", "Exists"]),
        }
        if !effect.is_empty() {
            taint_effect(&effect, errors);
        }
    }
}

/// `validateTaintEffect`.
pub(super) fn taint_effect(effect: &Field<'_>, errors: &mut Errors) {
    errors.one_of(effect, &["NoSchedule", "PreferNoSchedule", "NoExecute"]);
}

/// `validateAffinity`.
pub(super) fn affinity(affinity: &Field<'_>, errors: &mut Errors) {
    const REQUIRED: &str = "requiredDuringSchedulingIgnoredDuringExecution";
    const PREFERRED: &str = "preferredDuringSchedulingIgnoredDuringExecution";
    let nodes = affinity.child("nodeAffinity");
    if nodes.child(REQUIRED).is_set() {
        node_selector(&nodes.child(REQUIRED), errors);
    }
    for term in nodes.child(PREFERRED).items() {
        weight(&term.child("weight"), errors);
        node_selector_term(&term.child("preference"), false, errors);
    }
    for kind in ["podAffinity", "podAntiAffinity"] {
        let pods = affinity.child(kind);
        for term in pods.child(REQUIRED).items() {
            pod_affinity_term(&term, errors);
        }
        for term in pods.child(PREFERRED).items() {
            weight(&term.child("weight"), errors);
            pod_affinity_term(&term.child("podAffinityTerm"), errors);
        }
    }
}

fn weight(field: &Field<'_>, errors: &mut Errors) {
    if !(1..=100).contains(&field.number_or_zero()) {
        errors.invalid(field, "must be in the range 1-100");
    }
}

/// `ValidateNodeSelector`.
pub(super) fn node_selector(selector: &Field<'_>, errors: &mut Errors) {
    let terms = selector.child("nodeSelectorTerms");
    if terms.is_empty() {
        errors.required(&terms, "must have at least one node selector term");
    }
    for term in terms.items() {
        node_selector_term(&term, true, errors);
    }
}

fn node_selector_term(term: &Field<'_>, checks_values: bool, errors: &mut Errors) {
    for requirement in term.child("matchExpressions").items() {
        node_requirement(&requirement, checks_values, errors);
    }
    for requirement in term.child("matchFields").items() {
        let values = requirement.child("values");
        match requirement.child("operator").text() {
            "In" | "NotIn" if values.texts().len() != 1 => {
                let detail =
                    "must be only one value when `operator` is 'In' or 'NotIn' for node field selector";
                errors.required(&values, detail);
            }
            "In" | "NotIn" => {}
            _ => errors.invalid(&requirement.child("operator"), NOT_AN_OPERATOR),
        }
        if requirement.child("key").text() != "metadata.name" {
            errors.invalid(&requirement.child("key"), "not a valid field selector key");
            continue;
        }
        for value in values.items() {
            errors.all_invalid(&value, NameRule::Subdomain.check(value.text()));
        }
    }
}

fn node_requirement(requirement: &Field<'_>, checks_values: bool, errors: &mut Errors) {
    let values = requirement.child("values");
    match requirement.child("operator").text() {
        "In" | "NotIn" if values.is_empty() => {
            errors.required(&values, "must be specified when `operator` is 'In' or 'NotIn'");
        }
        "In" | "NotIn" => {}
        "Exists" | "DoesNotExist" if !values.is_empty() => {
            errors.forbidden(&values, "may not be specified when `operator` is 'Exists' or 'DoesNotExist'");
        }
        "Exists" | "DoesNotExist" => {}
        "Gt" | "Lt" if values.texts().len() != 1 => {
            errors.required(&values, "must be specified single value when `operator` is 'Lt' or 'Gt'");
        }
        "Gt" | "Lt" => {}
        _ => errors.invalid(&requirement.child("operator"), NOT_AN_OPERATOR),
    }
    errors.qualified_name(&requirement.child("key"));
    if checks_values {
        for value in values.items() {
            errors.all_invalid(&value, names::label_value(value.text()));
        }
    }
}

/// `validatePodAffinityTerm`.
fn pod_affinity_term(term: &Field<'_>, errors: &mut Errors) {
    errors.label_selector(&term.child("labelSelector"));
    errors.label_selector(&term.child("namespaceSelector"));
    for name in term.child("namespaces").items() {
        errors.all_invalid(&name.at(term.child("namespace").path), NameRule::Label.check(name.text()));
    }
    label_keys(term, errors);
    let key = term.child("topologyKey");
    if key.is_empty() {
        errors.required(&key, "can not be empty");
    }
    errors.qualified_name(&key);
}

/// `ValidateMatchLabelKeysAndMismatchLabelKeys`: labels of the pod, which join the selector beside them.
fn label_keys(term: &Field<'_>, errors: &mut Errors) {
    let selector = term.child("labelSelector");
    for keys in ["matchLabelKeys", "mismatchLabelKeys"].map(|keys| term.child(keys)) {
        if !keys.is_empty() && !selector.is_set() {
            errors.forbidden(&keys, "must not be specified when labelSelector is not set");
            continue;
        }
        for key in keys.items() {
            errors.qualified_name(&key);
        }
    }
    let matching = term.child("matchLabelKeys").texts();
    let mut seen: Vec<String> =
        selector.child("matchLabels").entries().into_iter().map(|(key, _)| key.to_owned()).collect();
    for expression in selector.child("matchExpressions").items() {
        let key = expression.child("key");
        // The selector has got the expression of the pod's own label by now.
        if let Some(i) = matching.iter().rposition(|other| *other == key.text())
            && seen.iter().any(|other| other == key.text())
        {
            let place = key.at(format!("{}[{i}]", term.path));
            errors.invalid(&place, "exists in both matchLabelKeys and labelSelector");
        }
        seen.push(key.text().to_owned());
    }
    let other = term.child("mismatchLabelKeys").texts();
    for key in term.child("matchLabelKeys").items().filter(|key| other.contains(&key.text())) {
        errors.invalid(&key, "exists in both matchLabelKeys and mismatchLabelKeys");
    }
}

/// `validateTopologySpreadConstraints`.
pub(super) fn spread(list: &Field<'_>, errors: &mut Errors) {
    const ACTIONS: &[&str] = &["DoNotSchedule", "ScheduleAnyway"];
    let constraints: Vec<Field<'_>> = list.items().collect();
    for (i, constraint) in constraints.iter().enumerate() {
        let (skew, key, action) = (
            constraint.child("maxSkew"),
            constraint.child("topologyKey"),
            constraint.child("whenUnsatisfiable"),
        );
        if skew.number_or_zero() <= 0 {
            let shown = Value::from(skew.number_or_zero());
            errors.invalid(&skew.holding(&shown), "must be greater than zero");
        }
        if key.is_empty() {
            errors.required(&key, "can not be empty");
        }
        if !ACTIONS.contains(&action.text()) {
            let text = Value::from(action.text());
            errors.not_supported(&action.holding(&text), ACTIONS);
        }
        let same = |other: &Field<'_>| {
            other.child("topologyKey").text() == key.text()
                && other.child("whenUnsatisfiable").text() == action.text()
        };
        if constraints[i + 1..].iter().any(same) {
            let shown = Value::from(format!("{{{}, {}}}", key.text(), action.text()));
            let place = constraint.child("{topologyKey, whenUnsatisfiable}");
            errors.duplicate(&place.holding(&shown));
        }
        let domains = constraint.child("minDomains");
        if domains.number().is_some_and(|number| number <= 0) {
            errors.invalid(&domains, "must be greater than zero");
        }
        if domains.is_set() && action.text() != "DoNotSchedule" {
            let detail =
                format!("can only use minDomains if whenUnsatisfiable=DoNotSchedule, not {}", action.text());
            errors.invalid(&domains, &detail);
        }
        for policy in ["nodeAffinityPolicy", "nodeTaintsPolicy"] {
            errors.optional_one_of(&constraint.child(policy), &["Honor", "Ignore"]);
        }
        label_keys(constraint, errors);
        errors.label_selector(&constraint.child("labelSelector"));
    }
}
