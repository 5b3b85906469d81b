//! Webhook configurations: defaults and checks (kube-apiserver 1.36).

use kubesmith_apiextensions::structural::webhook::validate_client_config;
use kubesmith_apimachinery::field::{Cause, Path};
use kubesmith_apimachinery::names;
use serde_json::{Value, json};

use super::Stage;
use crate::admission::Compiler;
use crate::meta;
use crate::status;

/// How many match conditions a webhook may have.
const MAX_CONDITIONS: usize = 64;

fn hooks_mut(object: &mut Value) -> impl Iterator<Item = &mut Value> {
    object.get_mut("webhooks").and_then(Value::as_array_mut).into_iter().flatten()
}

fn hooks(object: &Value) -> &[Value] {
    object["webhooks"].as_array().map_or(&[], Vec::as_slice)
}

pub(super) fn fill(object: &mut Value, key: &str, value: Value) {
    if let Value::Object(map) = object
        && map.get(key).is_none_or(Value::is_null)
    {
        map.insert(key.to_owned(), value);
    }
}

pub(crate) fn default_validating(object: &mut Value, _: Stage) {
    for hook in hooks_mut(object) {
        default_hook(hook);
    }
}

pub(crate) fn default_mutating(object: &mut Value, _: Stage) {
    for hook in hooks_mut(object) {
        default_hook(hook);
        fill(hook, "reinvocationPolicy", json!("Never"));
    }
}

fn default_hook(hook: &mut Value) {
    for (key, value) in [
        ("failurePolicy", json!("Fail")),
        ("matchPolicy", json!("Equivalent")),
        ("namespaceSelector", json!({})),
        ("objectSelector", json!({})),
        ("timeoutSeconds", json!(10)),
    ] {
        fill(hook, key, value);
    }
    for rule in hook.get_mut("rules").and_then(Value::as_array_mut).into_iter().flatten() {
        fill(rule, "scope", json!("*"));
    }
    if let Some(service) = hook.get_mut("clientConfig").and_then(|config| config.get_mut("service")) {
        fill(service, "port", json!(443));
    }
}

pub(crate) fn check(object: &Value, old: Option<&Value>) -> Vec<status::Cause> {
    let mut causes = Vec::new();
    let lenient = Lenient::towards(old);
    let mut seen: Vec<&str> = Vec::new();
    for (i, hook) in hooks(object).iter().enumerate() {
        let path = Path::new("webhooks").index(i);
        check_hook(hook, old.is_some_and(|old| same_conditions(object, old)), lenient, &path, &mut causes);
        check_review_versions(hook, lenient, &path.child("admissionReviewVersions"), &mut causes);
        let name = meta::member(hook, "name");
        if !lenient.names && !name.is_empty() && seen.contains(&name) {
            causes.push(Cause::duplicate(path.child("name"), name));
        }
        seen.push(name);
    }
    causes.into_iter().map(status::Cause::from).collect()
}

/// What is let through because the stored configuration has it already.
#[derive(Clone, Copy, Default)]
struct Lenient {
    side_effects: bool,
    versions: bool,
    names: bool,
}

impl Lenient {
    fn towards(old: Option<&Value>) -> Self {
        let Some(old) = old else { return Self::default() };
        let names: Vec<&str> = hooks(old).iter().map(|hook| meta::member(hook, "name")).collect();
        Self {
            side_effects: hooks(old)
                .iter()
                .any(|h| !matches!(meta::member(h, "sideEffects"), "None" | "NoneOnDryRun")),
            versions: hooks(old).iter().any(|h| {
                let versions = meta::strings(&h["admissionReviewVersions"]);
                !versions.is_empty() && !versions.iter().any(|v| is_known_version(v))
            }),
            names: names.iter().enumerate().any(|(i, name)| names[..i].contains(name)),
        }
    }
}

fn is_known_version(version: &str) -> bool {
    matches!(version, "v1" | "v1beta1")
}

fn same_conditions(new: &Value, old: &Value) -> bool {
    let conditions = |object: &Value| -> Vec<Value> {
        hooks(object).iter().map(|hook| hook["matchConditions"].clone()).collect()
    };
    conditions(new) == conditions(old)
}

fn check_hook(
    hook: &Value,
    conditions_are_known: bool,
    lenient: Lenient,
    path: &Path,
    causes: &mut Vec<Cause>,
) {
    check_name(meta::member(hook, "name"), &path.child("name"), causes);
    for (i, rule) in hook["rules"].as_array().into_iter().flatten().enumerate() {
        check_rule(rule, &path.child("rules").index(i), causes);
    }
    one_of(hook, "failurePolicy", &["Fail", "Ignore"], path, causes);
    one_of(hook, "matchPolicy", &["Equivalent", "Exact"], path, causes);
    let side_effects: &[&str] = if lenient.side_effects {
        &["None", "NoneOnDryRun", "Some", "Unknown"]
    } else {
        &["None", "NoneOnDryRun"]
    };
    if hook["sideEffects"].is_null() {
        let detail = format!("must specify one of {}", side_effects.join(", "));
        causes.push(Cause::required(path.child("sideEffects"), detail));
    }
    one_of(hook, "sideEffects", side_effects, path, causes);
    if let Some(seconds) = hook["timeoutSeconds"].as_i64().filter(|seconds| !(1..=30).contains(seconds)) {
        let detail = "the timeout value must be between 1 and 30 seconds";
        causes.push(Cause::invalid(path.child("timeoutSeconds"), seconds, detail));
    }
    for field in ["namespaceSelector", "objectSelector"] {
        check_selector(&hook[field], &path.child(field), causes);
    }
    one_of(hook, "reinvocationPolicy", &["IfNeeded", "Never"], path, causes);
    causes.extend(validate_client_config(&hook["clientConfig"], &path.child("clientConfig")));
    if !conditions_are_known {
        let path = path.child("matchConditions");
        check_conditions(&hook["matchConditions"], &Compiler::new(false), &path, causes);
    }
}

fn check_name(name: &str, path: &Path, causes: &mut Vec<Cause>) {
    let faults = names::dns1123_subdomain(name);
    if name.is_empty() {
        causes.push(Cause::required(path, ""));
    } else if !faults.is_empty() {
        causes.push(Cause::invalid(path, name, faults.join(",")));
    } else if name.split('.').count() < 3 {
        let detail = "should be a domain with at least three segments separated by dots";
        causes.push(Cause::invalid(path, name, detail));
    }
}

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
    for (i, operation) in meta::strings(&rule["operations"]).into_iter().enumerate() {
        if !OPERATIONS.contains(&operation) {
            causes.push(not_supported(&path.child("operations").index(i), operation, OPERATIONS));
        }
    }
    check_wildcard(rule, "apiGroups", "API groups", path, causes);
    check_wildcard(rule, "apiVersions", "API versions", path, causes);
    for (i, version) in meta::strings(&rule["apiVersions"]).into_iter().enumerate() {
        if version.is_empty() {
            causes.push(Cause::required(path.child("apiVersions").index(i), ""));
        }
    }
    check_resources(&rule["resources"], &path.child("resources"), causes);
    one_of(rule, "scope", &["*", "Cluster", "Namespaced"], path, causes);
}

/// A list has to have entries, and `*` makes all others superfluous.
fn check_wildcard(rule: &Value, field: &str, noun: &str, path: &Path, causes: &mut Vec<Cause>) {
    let entries = meta::strings(&rule[field]);
    if entries.is_empty() {
        causes.push(Cause::required(path.child(field), ""));
    } else if entries.len() > 1 && entries.contains(&"*") {
        let detail = format!("if '*' is present, must not specify other {noun}");
        causes.push(Cause::invalid(path.child(field), rule[field].clone(), detail));
    }
}

fn check_resources(list: &Value, path: &Path, causes: &mut Vec<Cause>) {
    let resources = meta::strings(list);
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

fn check_review_versions(hook: &Value, lenient: Lenient, path: &Path, causes: &mut Vec<Cause>) {
    let versions = meta::strings(&hook["admissionReviewVersions"]);
    if versions.is_empty() {
        causes.push(Cause::required(path, "must specify one of v1, v1beta1"));
        return;
    }
    for (i, version) in versions.iter().enumerate() {
        if versions[..i].contains(version) {
            causes.push(Cause::invalid(path.index(i), *version, "duplicate version"));
            continue;
        }
        let faults = names::dns1035_label(version);
        causes.extend(faults.into_iter().map(|fault| Cause::invalid(path.index(i), *version, fault)));
    }
    if !lenient.versions && !versions.iter().any(|version| is_known_version(version)) {
        causes.push(Cause::invalid(path, json!(versions), "must include at least one of v1, v1beta1"));
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
    for (i, term) in selector["matchExpressions"].as_array().into_iter().flatten().enumerate() {
        check_term(term, &path.child("matchExpressions").index(i), causes);
    }
}

fn check_term(term: &Value, path: &Path, causes: &mut Vec<Cause>) {
    let values = meta::strings(&term["values"]);
    match meta::member(term, "operator") {
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
    let key = meta::member(term, "key");
    let faults = names::qualified_name(key);
    causes.extend(faults.into_iter().map(|f| Cause::invalid(path.child("key"), key, f)));
    for (i, value) in values.into_iter().enumerate() {
        let at = path.child("values").index(i);
        causes.extend(names::label_value(value).into_iter().map(|f| Cause::invalid(&at, value, f)));
    }
}

/// Checks match conditions, which may use what the compiler knows.
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
        let expression = meta::member(condition, "expression").trim();
        if expression.is_empty() {
            causes.push(Cause::required(path.child("expression"), ""));
        } else if let Err(fault) = compiler.condition(expression) {
            causes.push(Cause::invalid(path.child("expression"), expression, fault));
        }
        let name = meta::member(condition, "name");
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

#[cfg(test)]
mod tests {
    use super::*;

    fn configuration(change: Value) -> Value {
        let mut hook = json!({
            "name": "a.b.c", "clientConfig": {"url": "https://h/p"}, "sideEffects": "None",
            "admissionReviewVersions": ["v1"],
            "rules": [{"operations": ["CREATE"], "apiGroups": [""], "apiVersions": ["v1"], "resources": ["pods"]}],
        });
        for (key, value) in change.as_object().unwrap() {
            hook[key] = value.clone();
        }
        json!({"webhooks": [hook]})
    }

    fn faults(change: Value) -> Vec<String> {
        let causes = check(&configuration(change), None);
        causes.into_iter().map(|cause| format!("{}: {}", cause.field, cause.message)).collect()
    }

    #[test]
    fn what_is_left_out_is_filled_in() {
        let mut object = configuration(json!({"clientConfig": {"service": {"name": "n", "namespace": "s"}}}));
        default_mutating(&mut object, Stage::Create);
        let hook = &object["webhooks"][0];
        assert_eq!((&hook["failurePolicy"], &hook["matchPolicy"]), (&json!("Fail"), &json!("Equivalent")));
        assert_eq!((&hook["timeoutSeconds"], &hook["reinvocationPolicy"]), (&json!(10), &json!("Never")));
        assert_eq!((&hook["namespaceSelector"], &hook["rules"][0]["scope"]), (&json!({}), &json!("*")));
        assert_eq!(hook["clientConfig"]["service"]["port"], 443);
    }

    #[test]
    fn faults_are_told_as_kube_apiserver_tells_them() {
        assert!(faults(json!({})).is_empty());
        let rule = |field: &str, value: Value| {
            let mut rule = configuration(json!({}))["webhooks"][0]["rules"][0].clone();
            rule[field] = value;
            json!({"rules": [rule]})
        };
        for (change, expected) in [
            (
                json!({"name": "a"}),
                "webhooks[0].name: Invalid value: \"a\": should be a domain with at least three segments separated by dots",
            ),
            (
                json!({"sideEffects": null}),
                "webhooks[0].sideEffects: Required value: must specify one of None, NoneOnDryRun",
            ),
            (
                json!({"sideEffects": "Some"}),
                "webhooks[0].sideEffects: Unsupported value: \"Some\": supported values: \"None\", \"NoneOnDryRun\"",
            ),
            (
                json!({"timeoutSeconds": 31}),
                "webhooks[0].timeoutSeconds: Invalid value: 31: the timeout value must be between 1 and 30 seconds",
            ),
            (
                json!({"admissionReviewVersions": ["v2"]}),
                "webhooks[0].admissionReviewVersions: Invalid value: [\"v2\"]: must include at least one of v1, v1beta1",
            ),
            (
                json!({"clientConfig": {}}),
                "webhooks[0].clientConfig: Required value: exactly one of url or service is required",
            ),
            (rule("operations", json!([])), "webhooks[0].rules[0].operations: Required value"),
            (
                rule("apiGroups", json!(["*", "a"])),
                "webhooks[0].rules[0].apiGroups: Invalid value: [\"*\",\"a\"]: if '*' is present, must not specify other API groups",
            ),
            (
                rule("resources", json!(["pods/*", "pods/status"])),
                "webhooks[0].rules[0].resources[1]: Invalid value: \"pods/status\": if 'pods/*' is present, must not specify pods/status",
            ),
            (
                rule("scope", json!("Here")),
                "webhooks[0].rules[0].scope: Unsupported value: \"Here\": supported values: \"*\", \"Cluster\", \"Namespaced\"",
            ),
            (
                json!({"objectSelector": {"matchExpressions": [{"key": "a", "operator": "In"}]}}),
                "webhooks[0].objectSelector.matchExpressions[0].values: Required value: must be specified when `operator` is 'In' or 'NotIn'",
            ),
            (
                json!({"matchConditions": [{"name": "a", "expression": " "}]}),
                "webhooks[0].matchConditions[0].expression: Required value",
            ),
        ] {
            assert_eq!(faults(change), [expected]);
        }
    }

    #[test]
    fn what_is_stored_may_stay_as_it_is() {
        let old = configuration(json!({"sideEffects": "Some"}));
        assert!(check(&old, Some(&old)).is_empty());
        assert_eq!(check(&old, None).len(), 1);
    }
}
