//! Webhook configurations, admission policies and their bindings: defaults, and the checks of `kubesmith_apiextensions::admission`
//! (kube-apiserver 1.36).

use kubesmith_apiextensions::admission;
use kubesmith_apimachinery::field;
use serde_json::{Value, json};

use super::Stage;
use crate::status::Cause;

fn reported(causes: Vec<field::Cause>) -> Vec<Cause> {
    causes.into_iter().map(Cause::from).collect()
}

pub(super) fn check_webhooks(object: &Value, old: Option<&Value>) -> Vec<Cause> {
    reported(admission::webhook_configuration(object, old))
}

pub(super) fn check_validating(object: &Value, old: Option<&Value>) -> Vec<Cause> {
    reported(admission::validating_policy(object, old))
}

pub(super) fn check_mutating(object: &Value, old: Option<&Value>) -> Vec<Cause> {
    reported(admission::mutating_policy(object, old))
}

pub(super) fn check_validating_binding(object: &Value, _: Option<&Value>) -> Vec<Cause> {
    reported(admission::validating_policy_binding(object))
}

pub(super) fn check_mutating_binding(object: &Value, _: Option<&Value>) -> Vec<Cause> {
    reported(admission::mutating_policy_binding(object))
}

fn hooks_mut(object: &mut Value) -> impl Iterator<Item = &mut Value> {
    object.get_mut("webhooks").and_then(Value::as_array_mut).into_iter().flatten()
}

fn fill(object: &mut Value, key: &str, value: Value) {
    if let Value::Object(map) = object
        && map.get(key).is_none_or(Value::is_null)
    {
        map.insert(key.to_owned(), value);
    }
}

pub(super) fn default_validating(object: &mut Value, _: Stage) {
    for hook in hooks_mut(object) {
        default_hook(hook);
    }
}

pub(super) fn default_mutating(object: &mut Value, _: Stage) {
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

/// Defaults of an admission policy.
pub(super) fn default_policy(object: &mut Value, _: Stage) {
    let Some(spec) = object.get_mut("spec") else { return };
    fill(spec, "failurePolicy", json!("Fail"));
    default_match(spec.get_mut("matchConstraints"));
}

/// Defaults of the binding of an admission policy.
pub(super) fn default_binding(object: &mut Value, _: Stage) {
    let Some(spec) = object.get_mut("spec") else { return };
    default_match(spec.get_mut("matchResources"));
}

/// Defaults of `MatchResources`, if there are any.
fn default_match(resources: Option<&mut Value>) {
    let Some(resources) = resources else { return };
    for (key, value) in [
        ("matchPolicy", json!("Equivalent")),
        ("namespaceSelector", json!({})),
        ("objectSelector", json!({})),
    ] {
        fill(resources, key, value);
    }
    for key in ["resourceRules", "excludeResourceRules"] {
        for rule in resources.get_mut(key).and_then(Value::as_array_mut).into_iter().flatten() {
            fill(rule, "scope", json!("*"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn webhook_configuration_gets_defaults() {
        let mut object = json!({"webhooks": [{
            "clientConfig": {"service": {"name": "n", "namespace": "s"}},
            "rules": [{"operations": ["CREATE"], "apiGroups": [""], "apiVersions": ["v1"], "resources": ["pods"]}],
        }]});
        default_mutating(&mut object, Stage::Create);
        let hook = &object["webhooks"][0];
        assert_eq!((&hook["failurePolicy"], &hook["matchPolicy"]), (&json!("Fail"), &json!("Equivalent")));
        assert_eq!((&hook["timeoutSeconds"], &hook["reinvocationPolicy"]), (&json!(10), &json!("Never")));
        assert_eq!((&hook["namespaceSelector"], &hook["rules"][0]["scope"]), (&json!({}), &json!("*")));
        assert_eq!(hook["clientConfig"]["service"]["port"], 443);
    }
}
