//! The selectors in an access review: a list or watch is asked about with its selectors, which webhooks may look at.
//! RBAC does not.
//!
//! kube-apiserver's pkg/apis/authorization/validation and pkg/registry/authorization/util.

use kubesmith_apimachinery::{fields, labels, names};
use serde_json::Value;

use crate::meta;
use crate::names::quoted;
use crate::status::Cause;

const AT: &str = "spec.resourceAttributes";

/// `validateResourceAttributes`. Operators that the server does not know are no error: clients may be newer.
pub(super) fn check(attributes: &Value) -> Vec<Cause> {
    let mut causes = Vec::new();
    for name in ["fieldSelector", "labelSelector"] {
        let selector = &attributes[name];
        if selector.is_null() {
            continue;
        }
        let path = format!("{AT}.{name}");
        let raw = meta::member(selector, "rawSelector");
        let requirements = requirements(selector);
        if !raw.is_empty() && !requirements.is_empty() {
            let text = "may not specified at the same time as requirements";
            causes.push(Cause::invalid(format!("{path}.rawSelector"), quoted(raw), text));
        }
        if raw.is_empty() && requirements.is_empty() {
            let text = format!("when {path} is specified, requirements or rawSelector is required");
            causes.push(Cause::required(format!("{path}.requirements"), &text));
        }
        for (at, requirement) in requirements.iter().enumerate() {
            let path = format!("{path}.requirements[{at}]");
            if name == "fieldSelector" {
                check_field(requirement, &path, &mut causes);
            } else {
                check_label(requirement, &path, &mut causes);
            }
        }
    }
    causes
}

/// `ValidateFieldSelectorRequirement`.
fn check_field(requirement: &Value, path: &str, causes: &mut Vec<Cause>) {
    if meta::member(requirement, "key").is_empty() {
        causes.push(Cause::required(format!("{path}.key"), "must be specified"));
    }
    check_values(requirement, path, causes);
}

/// `ValidateLabelSelectorRequirement`.
fn check_label(requirement: &Value, path: &str, causes: &mut Vec<Cause>) {
    check_values(requirement, path, causes);
    let key = meta::member(requirement, "key");
    let faults = names::qualified_name(key);
    causes.extend(faults.into_iter().map(|fault| Cause::invalid(format!("{path}.key"), quoted(key), &fault)));
    for (at, value) in meta::strings(&requirement["values"]).into_iter().enumerate() {
        let faults = names::label_value(value).into_iter();
        causes.extend(
            faults.map(|fault| Cause::invalid(format!("{path}.values[{at}]"), quoted(value), &fault)),
        );
    }
}

/// Checks that there are values if the operator takes them, and only then.
fn check_values(requirement: &Value, path: &str, causes: &mut Vec<Cause>) {
    let has_values = requirement["values"].as_array().is_some_and(|values| !values.is_empty());
    let path = format!("{path}.values");
    match meta::member(requirement, "operator") {
        "In" | "NotIn" if !has_values => {
            causes.push(Cause::required(path, "must be specified when `operator` is 'In' or 'NotIn'"));
        }
        "Exists" | "DoesNotExist" if has_values => {
            let text = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'";
            causes.push(Cause::forbidden(path, text));
        }
        _ => {}
    }
}

/// `BuildEvaluationError`: says which selectors are ignored since they cannot be read; empty if none.
pub(super) fn evaluation_error(attributes: &Value) -> String {
    let field = &attributes["fieldSelector"];
    let label = &attributes["labelSelector"];
    let field_is_malformed = fields::Selector::parse(meta::member(field, "rawSelector")).is_err();
    let label_is_malformed = meta::member(label, "rawSelector").parse::<labels::Selector>().is_err();
    let errors = [
        ("fieldSelector", field_is_malformed, ignored(field, is_known_field)),
        ("labelSelector", label_is_malformed, ignored(label, is_known_label)),
    ];
    let errors = errors.into_iter().filter_map(|(name, is_malformed, ignored)| {
        let how = if is_malformed { "ignored" } else { ignored? };
        Some(format!("{AT}.{name} {how} due to parse error"))
    });
    errors.collect::<Vec<_>>().join("; ")
}

/// How much of the requirements is ignored, if any is.
fn ignored(selector: &Value, is_known: fn(&Value) -> bool) -> Option<&'static str> {
    let requirements = requirements(selector);
    match requirements.iter().filter(|requirement| is_known(requirement)).count() {
        known if known == requirements.len() => None,
        0 => Some("ignored"),
        _ => Some("partially ignored"),
    }
}

/// `fieldSelectorAsSelector`: a field can be compared with one value.
fn is_known_field(requirement: &Value) -> bool {
    let values = requirement["values"].as_array().map_or(0, Vec::len);
    matches!(meta::member(requirement, "operator"), "In" | "NotIn") && values == 1
}

/// `labelSelectorAsSelector`.
fn is_known_label(requirement: &Value) -> bool {
    matches!(meta::member(requirement, "operator"), "In" | "NotIn" | "Exists" | "DoesNotExist")
}

fn requirements(selector: &Value) -> &[Value] {
    selector["requirements"].as_array().map_or(&[], Vec::as_slice)
}
