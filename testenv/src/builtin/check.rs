//! Checks of built-in kinds: those that people run into with hand-written objects.

use serde_json::Value;

use crate::label_selector;
use crate::names::{NameRule, quoted};
use crate::status::Cause;

fn items(value: &Value) -> impl Iterator<Item = (usize, &Value)> {
    value.as_array().into_iter().flatten().enumerate()
}

fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value[key].as_str().unwrap_or_default()
}

pub(super) fn pod(object: &Value, _: Option<&Value>) -> Vec<Cause> {
    let mut causes = Vec::new();
    pod_spec(&object["spec"], "spec", &mut causes);
    causes
}

fn pod_spec(spec: &Value, path: &str, causes: &mut Vec<Cause>) {
    if spec["containers"].as_array().is_none_or(Vec::is_empty) {
        causes.push(Cause::required(format!("{path}.containers"), ""));
    }
    let mut seen: Vec<&str> = Vec::new();
    for (i, container) in items(&spec["containers"]) {
        let path = format!("{path}.containers[{i}]");
        let name = text(container, "name");
        if name.is_empty() {
            causes.push(Cause::required(format!("{path}.name"), ""));
        } else if seen.contains(&name) {
            let message = format!("Duplicate value: {}", quoted(name));
            causes.push(Cause::new("FieldValueDuplicate", format!("{path}.name"), message));
        } else {
            for fault in NameRule::Label.check(name) {
                causes.push(Cause::invalid(format!("{path}.name"), quoted(name), &fault));
            }
        }
        seen.push(name);
        if text(container, "image").is_empty() {
            causes.push(Cause::required(format!("{path}.image"), ""));
        }
    }
    one_of(spec, path, "restartPolicy", &["Always", "OnFailure", "Never"], causes);
}

fn one_of(object: &Value, path: &str, field: &str, supported: &[&str], causes: &mut Vec<Cause>) {
    let value = text(object, field);
    if !value.is_empty() && !supported.contains(&value) {
        causes.push(Cause::not_supported(format!("{path}.{field}"), &quoted(value), supported));
    }
}

pub(super) fn service(object: &Value, _: Option<&Value>) -> Vec<Cause> {
    let mut causes = Vec::new();
    let spec = &object["spec"];
    let headless = spec["clusterIP"] == "None";
    let external = spec["type"] == "ExternalName";
    if spec["ports"].as_array().is_none_or(Vec::is_empty) && !headless && !external {
        causes.push(Cause::required("spec.ports", ""));
    }
    let count = spec["ports"].as_array().map_or(0, Vec::len);
    for (i, port) in items(&spec["ports"]) {
        let path = format!("spec.ports[{i}]");
        if count > 1 && text(port, "name").is_empty() {
            causes.push(Cause::required(format!("{path}.name"), ""));
        }
        let number = port["port"].as_i64().unwrap_or_default();
        if !(1..=65535).contains(&number) {
            let text = "must be between 1 and 65535, inclusive";
            causes.push(Cause::invalid(format!("{path}.port"), number, text));
        }
        one_of(port, &path, "protocol", &["SCTP", "TCP", "UDP"], &mut causes);
    }
    one_of(spec, "spec", "type", &["ClusterIP", "ExternalName", "LoadBalancer", "NodePort"], &mut causes);
    one_of(spec, "spec", "sessionAffinity", &["ClientIP", "None"], &mut causes);
    causes
}

fn data_keys(object: &Value, fields: &[&str], causes: &mut Vec<Cause>) {
    for field in fields {
        for key in object[*field].as_object().into_iter().flatten().map(|(k, _)| k) {
            let fits = !key.is_empty()
                && key.len() <= 253
                && key.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.'));
            if !fits {
                let text = "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. \
                            'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')";
                causes.push(Cause::invalid(format!("{field}[{key}]"), quoted(key), text));
            }
        }
    }
}

/// What an immutable object's update may not touch.
fn immutable(object: &Value, old: Option<&Value>, fields: &[&str], causes: &mut Vec<Cause>) {
    let Some(old) = old.filter(|old| old["immutable"] == true) else { return };
    for field in fields.iter().chain(&["immutable"]) {
        if object[*field] != old[*field] {
            causes.push(Cause::forbidden(*field, "field is immutable when `immutable` is set"));
        }
    }
}

pub(super) fn config_map(object: &Value, old: Option<&Value>) -> Vec<Cause> {
    let mut causes = Vec::new();
    data_keys(object, &["data", "binaryData"], &mut causes);
    immutable(object, old, &["data", "binaryData"], &mut causes);
    causes
}

pub(super) fn secret(object: &Value, old: Option<&Value>) -> Vec<Cause> {
    let mut causes = Vec::new();
    data_keys(object, &["data"], &mut causes);
    immutable(object, old, &["data"], &mut causes);
    if old.is_some_and(|old| old["type"] != object["type"]) {
        causes.push(Cause::invalid("type", &object["type"], "field is immutable"));
    }
    causes
}

pub(super) fn lease(object: &Value, _: Option<&Value>) -> Vec<Cause> {
    let mut causes = Vec::new();
    let spec = &object["spec"];
    for field in ["leaseDurationSeconds", "leaseTransitions"] {
        let Some(number) = spec[field].as_i64() else { continue };
        let (least, text) = if field == "leaseTransitions" {
            (0, "must be greater than or equal to 0")
        } else {
            (1, "must be greater than 0")
        };
        if number < least {
            causes.push(Cause::invalid(format!("spec.{field}"), number, text));
        }
    }
    causes
}

pub(super) fn deployment(object: &Value, old: Option<&Value>) -> Vec<Cause> {
    workload(object, old)
}

/// Kinds with a selector, a template and perhaps a number of replicas.
pub(super) fn workload(object: &Value, old: Option<&Value>) -> Vec<Cause> {
    let mut causes = Vec::new();
    let spec = &object["spec"];
    if let Some(replicas) = spec["replicas"].as_i64().filter(|n| *n < 0) {
        causes.push(Cause::invalid("spec.replicas", replicas, "must be greater than or equal to 0"));
    }
    let selector = &spec["selector"];
    let labels = &spec["template"]["metadata"]["labels"];
    if label_selector::is_empty(selector) {
        causes.push(Cause::required("spec.selector", ""));
    } else if !label_selector::matches(selector, labels) {
        let shown = if labels.is_null() { "null".to_owned() } else { labels.to_string() };
        let text = "`selector` does not match template `labels`";
        causes.push(Cause::invalid("spec.template.metadata.labels", shown, text));
    }
    if old.is_some_and(|old| old["spec"]["selector"] != *selector) {
        causes.push(Cause::invalid("spec.selector", selector, "field is immutable"));
    }
    pod_spec(&spec["template"]["spec"], "spec.template.spec", &mut causes);
    causes
}

pub(super) fn role_binding(object: &Value, old: Option<&Value>) -> Vec<Cause> {
    let mut causes = Vec::new();
    if text(&object["roleRef"], "name").is_empty() {
        causes.push(Cause::required("roleRef.name", ""));
    }
    one_of(&object["roleRef"], "roleRef", "kind", &["ClusterRole", "Role"], &mut causes);
    if old.is_some_and(|old| old["roleRef"] != object["roleRef"]) {
        causes.push(Cause::invalid("roleRef", &object["roleRef"], "cannot change roleRef"));
    }
    causes
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn an_immutable_config_map_stays_as_it_is() {
        let old = json!({"data": {"a": "1"}, "immutable": true});
        let new = json!({"data": {"a": "2"}, "immutable": true});
        assert_eq!(config_map(&new, Some(&old)).len(), 1);
        assert!(config_map(&old, Some(&old)).is_empty());
    }
}
