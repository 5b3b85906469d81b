//! Adapts objects to a release: its namespace, and the few values that several objects share.

use serde_json::{Value, json};

use super::template::{Action, Template};
use crate::config::HelmSettings;

/// Replaces the deployment's namespace by the release's, and the name of the service account.
pub(super) fn in_release(object: &mut Value, template: &mut Template, settings: &HelmSettings) {
    let namespace = settings.deploy.namespace.as_str();
    let account = settings.deploy.object("controller-manager");
    let is_definition = object["kind"] == "CustomResourceDefinition";
    walk(object, &mut Vec::new(), &mut |path, text| {
        // Schemas may contain the same words in defaults.
        if is_definition && path.first().is_some_and(|key| key == "spec") && path[1] != "conversion" {
            return;
        }
        let key = path.iter().rev().find(|key| !key.is_empty()).map_or("", String::as_str);
        let is_in_subject = path.iter().any(|key| key == "subjects");
        match key {
            "namespace" if text == namespace => *text = template.inline("{{ .Release.Namespace | quote }}"),
            "name" if is_in_subject && *text == account => {
                *text = template.inline("{{ .Values.serviceAccount.name | quote }}");
            }
            "cert-manager.io/inject-ca-from" => {
                if let Some(name) = text.strip_prefix(namespace).and_then(|rest| rest.strip_prefix('/')) {
                    *text = format!("{}/{name}", template.inline("{{ .Release.Namespace }}"));
                }
            }
            "dnsNames" | "serverName" => {
                let whole = format!(".{namespace}.svc");
                if let Some((service, rest)) = text.split_once(&whole) {
                    *text = format!("{service}.{}.svc{rest}", template.inline("{{ .Release.Namespace }}"));
                }
            }
            "expr" => {
                let label = format!("namespace=\"{namespace}\"");
                let release = template.inline("{{ .Release.Namespace }}");
                *text = text.replace(&label, &format!("namespace=\"{release}\""));
            }
            _ => {}
        }
    });
    if object["kind"] == "ServiceAccount" {
        object["metadata"]["name"] = json!(template.inline("{{ .Values.serviceAccount.name | quote }}"));
        object["metadata"]["annotations"] =
            json!(template.add(Action::With(".Values.serviceAccount.annotations".to_string())));
    }
}

/// Visits all strings, with the path of keys; items of lists have the key "".
fn walk(value: &mut Value, path: &mut Vec<String>, visit: &mut impl FnMut(&[String], &mut String)) {
    match value {
        Value::String(text) => visit(path, text),
        Value::Array(items) => {
            for item in items {
                path.push(String::new());
                walk(item, path, visit);
                path.pop();
            }
        }
        Value::Object(members) => {
            for (key, member) in members {
                path.push(key.clone());
                walk(member, path, visit);
                path.pop();
            }
        }
        _ => {}
    }
}

/// Keeps a CRD when the release is deleted, unless the values disable this: deleting it would delete its
/// objects.
pub(super) fn keep(object: &mut Value, template: &mut Template) {
    let policy = Action::If(".Values.crds.keep".to_string(), json!("keep"));
    object["metadata"]["annotations"]["helm.sh/resource-policy"] = json!(template.add(policy));
}

/// The port of the metrics, in Services and monitors.
pub(super) fn metrics_port(object: &mut Value, template: &mut Template, settings: &HelmSettings) {
    let Some(port) = settings.deploy.metrics_port else { return };
    for place in ["/spec/ports/0/port", "/spec/ports/0/targetPort"] {
        if let Some(found) = object.pointer_mut(place).filter(|found| **found == json!(port)) {
            *found = json!(template.inline("{{ .Values.metrics.port }}"));
        }
    }
}

/// The authority of the metrics' certificate in monitors, if it is that of the webhooks. Without webhooks the certificate is
/// self-signed, and nothing can verify it.
pub(super) fn metrics_authority(object: &mut Value, template: &mut Template, settings: &HelmSettings) {
    if settings.deploy.has_issued_metrics() {
        return;
    }
    let Some(tls) = object.pointer_mut("/spec/endpoints/0/tlsConfig").and_then(Value::as_object_mut) else {
        return;
    };
    if !tls.contains_key("ca") {
        return;
    }
    let enabled = ".Values.webhooks.enabled";
    for value in tls.values_mut() {
        *value = json!(template.add(Action::If(enabled.to_string(), value.take())));
    }
    let skipped = template.add(Action::If(format!("not {enabled}"), json!(true)));
    tls.insert("insecureSkipVerify".to_string(), json!(skipped));
}
