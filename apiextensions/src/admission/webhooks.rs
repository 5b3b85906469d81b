//! The checks of webhook configurations in kube-apiserver (1.36).

use kubesmith_apimachinery::field::{Cause, Path};
use kubesmith_apimachinery::names;
use serde_json::{Value, json};

use super::rules::{check_conditions, check_rule, check_selector, one_of};
use super::{Compiler, list, member, strings};
use crate::structural::webhook::validate_client_config;

fn hooks(object: &Value) -> &[Value] {
    object["webhooks"].as_array().map_or(&[], Vec::as_slice)
}

/// Returns the faults of a ValidatingWebhookConfiguration or MutatingWebhookConfiguration; `old` is the stored one.
pub fn webhook_configuration(object: &Value, old: Option<&Value>) -> Vec<Cause> {
    let mut causes = Vec::new();
    let lenient = Lenient::towards(old);
    let mut seen: Vec<&str> = Vec::new();
    for (i, hook) in hooks(object).iter().enumerate() {
        let path = Path::new("webhooks").index(i);
        check_hook(hook, old.is_some_and(|old| same_conditions(object, old)), lenient, &path, &mut causes);
        check_review_versions(hook, lenient, &path.child("admissionReviewVersions"), &mut causes);
        let name = member(hook, "name");
        if !lenient.names && !name.is_empty() && seen.contains(&name) {
            causes.push(Cause::duplicate(path.child("name"), name));
        }
        seen.push(name);
    }
    causes
}

/// The faults that are accepted because the stored configuration has them already.
#[derive(Clone, Copy, Default)]
struct Lenient {
    side_effects: bool,
    versions: bool,
    names: bool,
}

impl Lenient {
    fn towards(old: Option<&Value>) -> Self {
        let Some(old) = old else { return Self::default() };
        let names: Vec<&str> = hooks(old).iter().map(|hook| member(hook, "name")).collect();
        Self {
            side_effects: hooks(old)
                .iter()
                .any(|h| !matches!(member(h, "sideEffects"), "None" | "NoneOnDryRun")),
            versions: hooks(old).iter().any(|h| {
                let versions = strings(&h["admissionReviewVersions"]);
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
    check_name(member(hook, "name"), &path.child("name"), causes);
    for (i, rule) in list(hook, "rules").enumerate() {
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

fn check_review_versions(hook: &Value, lenient: Lenient, path: &Path, causes: &mut Vec<Cause>) {
    let versions = strings(&hook["admissionReviewVersions"]);
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

#[cfg(test)]
mod tests {
    use serde_json::json;

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
        let causes = webhook_configuration(&configuration(change), None);
        causes.into_iter().map(|cause| format!("{}: {}", cause.field, cause.message())).collect()
    }

    #[test]
    fn webhook_errors_have_the_text_of_kube_apiserver() {
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
    fn stored_webhook_configuration_is_accepted_when_unchanged() {
        let old = configuration(json!({"sideEffects": "Some"}));
        assert!(webhook_configuration(&old, Some(&old)).is_empty());
        assert_eq!(webhook_configuration(&old, None).len(), 1);
    }
}
