//! The common parts of webhooks and admission policies: rules, selectors and match conditions.

use kubesmith_apimachinery::field::{Cause, Path};
use kubesmith_apimachinery::names;
use serde_json::Value;

use super::compiler::cause as cause_of;
use super::{Compiler, list, member, strings};

/// The limit of match conditions of a webhook or a policy.
const MAX_CONDITIONS: usize = 64;

pub(super) fn one_of(object: &Value, field: &str, supported: &[&str], path: &Path, causes: &mut Vec<Cause>) {
    if let Some(value) = object[field].as_str().filter(|value| !supported.contains(value)) {
        causes.push(not_supported(&path.child(field), value, supported));
    }
}

pub(super) fn not_supported(path: &Path, value: &str, supported: &[&str]) -> Cause {
    let supported: Vec<String> = supported.iter().map(|s| (*s).to_owned()).collect();
    Cause::not_supported(path, value, &supported)
}

pub(super) fn check_rule(rule: &Value, path: &Path, causes: &mut Vec<Cause>) {
    const OPERATIONS: &[&str] = &["*", "CONNECT", "CREATE", "DELETE", "UPDATE"];
    check_wildcard(rule, "operations", "operations", path, causes);
    for (i, operation) in strings(&rule["operations"]).into_iter().enumerate() {
        if !OPERATIONS.contains(&operation) {
            causes.push(not_supported(&path.child("operations").index(i), operation, OPERATIONS));
        }
    }
    check_wildcard(rule, "apiGroups", "API groups", path, causes);
    check_wildcard(rule, "apiVersions", "API versions", path, causes);
    for (i, version) in strings(&rule["apiVersions"]).into_iter().enumerate() {
        if version.is_empty() {
            causes.push(Cause::required(path.child("apiVersions").index(i), ""));
        }
    }
    check_resources(&rule["resources"], &path.child("resources"), causes);
    one_of(rule, "scope", &["*", "Cluster", "Namespaced"], path, causes);
}

/// Checks that a list has entries, and that `*` is the only one if present.
fn check_wildcard(rule: &Value, field: &str, noun: &str, path: &Path, causes: &mut Vec<Cause>) {
    let entries = strings(&rule[field]);
    if entries.is_empty() {
        causes.push(Cause::required(path.child(field), ""));
    } else if entries.len() > 1 && entries.contains(&"*") {
        let detail = format!("if '*' is present, must not specify other {noun}");
        causes.push(Cause::invalid(path.child(field), rule[field].clone(), detail));
    }
}

fn check_resources(list: &Value, path: &Path, causes: &mut Vec<Cause>) {
    let resources = strings(list);
    if resources.is_empty() {
        causes.push(Cause::required(path, ""));
    }
    let (mut with_all_subresources, mut of_all_resources) = (Vec::new(), Vec::new());
    for (i, resource) in resources.iter().enumerate() {
        if resource.is_empty() {
            causes.push(Cause::required(path.index(i), ""));
        }
        let Some((main, sub)) = resource.split_once('/') else { continue };
        let mut refuse = |covered: String| {
            let detail = format!("if '{covered}' is present, must not specify {resource}");
            causes.push(Cause::invalid(path.index(i), *resource, detail));
        };
        if with_all_subresources.contains(&main) {
            refuse(format!("{main}/*"));
        }
        if of_all_resources.contains(&sub) {
            refuse(format!("*/{sub}"));
        }
        if sub == "*" {
            with_all_subresources.push(main);
        }
        if main == "*" {
            of_all_resources.push(sub);
        }
    }
    if resources.len() > 1 && resources.contains(&"*/*") {
        let detail = "if '*/*' is present, must not specify other resources";
        causes.push(Cause::invalid(path, list.clone(), detail));
    }
    // Only the last entry without a subresource counts, as in the server.
    let last = resources.iter().rfind(|r| !r.is_empty() && !r.contains('/'));
    if resources.contains(&"*") && last.is_some_and(|last| *last != "*") {
        let detail = "if '*' is present, must not specify other resources without subresources";
        causes.push(Cause::invalid(path, list.clone(), detail));
    }
}

pub(super) fn check_selector(selector: &Value, path: &Path, causes: &mut Vec<Cause>) {
    let labels = path.child("matchLabels");
    for (key, value) in selector["matchLabels"].as_object().into_iter().flatten() {
        let value = value.as_str().unwrap_or_default();
        causes
            .extend(names::qualified_name(key).into_iter().map(|f| Cause::invalid(&labels, key.as_str(), f)));
        causes.extend(names::label_value(value).into_iter().map(|f| Cause::invalid(&labels, value, f)));
    }
    for (i, term) in list(selector, "matchExpressions").enumerate() {
        check_term(term, &path.child("matchExpressions").index(i), causes);
    }
}

fn check_term(term: &Value, path: &Path, causes: &mut Vec<Cause>) {
    let values = strings(&term["values"]);
    match member(term, "operator") {
        "In" | "NotIn" => {
            if values.is_empty() {
                let detail = "must be specified when `operator` is 'In' or 'NotIn'";
                causes.push(Cause::required(path.child("values"), detail));
            }
        }
        "Exists" | "DoesNotExist" => {
            if !values.is_empty() {
                let detail = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'";
                causes.push(Cause::forbidden(path.child("values"), detail));
            }
        }
        other => {
            let detail = "not a valid selector operator";
            causes.push(Cause::invalid(path.child("operator"), other, detail));
        }
    }
    let key = member(term, "key");
    let faults = names::qualified_name(key);
    causes.extend(faults.into_iter().map(|f| Cause::invalid(path.child("key"), key, f)));
    for (i, value) in values.into_iter().enumerate() {
        let at = path.child("values").index(i);
        causes.extend(names::label_value(value).into_iter().map(|f| Cause::invalid(&at, value, f)));
    }
}

/// Checks match conditions, which may use the compiler's variables.
pub(super) fn check_conditions(
    conditions: &Value,
    compiler: &Compiler,
    path: &Path,
    causes: &mut Vec<Cause>,
) {
    let conditions = conditions.as_array().map_or(&[][..], Vec::as_slice);
    if conditions.len() > MAX_CONDITIONS {
        let count = |n: usize| i64::try_from(n).unwrap_or(i64::MAX);
        causes.push(Cause::too_many(path, count(conditions.len()), count(MAX_CONDITIONS)));
    }
    let mut seen: Vec<&str> = Vec::new();
    for (i, condition) in conditions.iter().enumerate() {
        let path = path.index(i);
        let expression = member(condition, "expression").trim();
        if expression.is_empty() {
            causes.push(Cause::required(path.child("expression"), ""));
        } else if let Err(fault) = compiler.condition(expression) {
            causes.push(cause_of(path.child("expression"), expression, fault));
        }
        let name = member(condition, "name");
        if name.is_empty() {
            causes.push(Cause::required(path.child("name"), ""));
            continue;
        }
        let faults = names::qualified_name(name);
        causes.extend(faults.into_iter().map(|f| Cause::invalid(path.child("name"), name, f)));
        if seen.contains(&name) {
            causes.push(Cause::duplicate(path.child("name"), name));
        }
        seen.push(name);
    }
}
