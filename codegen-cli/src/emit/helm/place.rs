//! Adapts objects to a release: its namespace, and the few values that several objects share.

use serde_json::{Value, json};

use super::template::{Action, Template};
use crate::config::HelmSettings;

/// The label of every namespace with its name.
const NAME_LABEL: &str = "kubernetes.io/metadata.name";

/// Replaces the deployment's namespace by the release's, and the name of the service account.
pub(super) fn in_release(object: &mut Value, template: &mut Template, settings: &HelmSettings) {
    let namespace = settings.deploy.namespace.as_str();
    let account = settings.deploy.object("controller-manager");
    let is_definition = object["kind"] == "CustomResourceDefinition";
    let is_admission = api_group(object) == "admissionregistration.k8s.io";
    if is_admission {
        requirements(object, namespace, &template.inline("{{ .Release.Namespace | quote }}"));
    }
    walk(object, &mut Vec::new(), &mut |path, text| {
        // Schemas may contain the same words in defaults.
        if is_definition && path.first().is_some_and(|key| key == "spec") && path[1] != "conversion" {
            return;
        }
        if is_admission && text.contains(ACCOUNT) {
            *text = accounts(text, namespace, &account, template);
        }
        let key = path.iter().rev().find(|key| !key.is_empty()).map_or("", String::as_str);
        let is_in_subject = path.iter().any(|key| key == "subjects");
        match key {
            "namespace" | NAME_LABEL if text == namespace => {
                *text = template.inline("{{ .Release.Namespace | quote }}");
            }
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

fn api_group(object: &Value) -> &str {
    object["apiVersion"].as_str().and_then(|version| version.split_once('/')).map_or("", |(group, _)| group)
}

/// Replaces the namespace in selectors that list names of namespaces.
fn requirements(value: &mut Value, namespace: &str, release: &str) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(|item| requirements(item, namespace, release)),
        Value::Object(members) => {
            let is_of_names = members.get("key").is_some_and(|key| key == NAME_LABEL);
            for (key, member) in members {
                match member.as_array_mut().filter(|_| is_of_names && key == "values") {
                    Some(names) => names
                        .iter_mut()
                        .filter(|name| *name == namespace)
                        .for_each(|name| *name = json!(release)),
                    None => requirements(member, namespace, release),
                }
            }
        }
        _ => {}
    }
}

/// The start of the names of service accounts, and of their groups (`k8s.io/apiserver/pkg/authentication/serviceaccount`).
const ACCOUNT: &str = "system:serviceaccount";

/// Replaces the namespace, and the manager's account, in names of service accounts and their groups.
fn accounts(text: &str, namespace: &str, account: &str, template: &mut Template) -> String {
    let release = template.inline("{{ .Release.Namespace }}");
    let own = template.inline("{{ .Values.serviceAccount.name }}");
    let text =
        with_name(text, &format!("{ACCOUNT}:{namespace}:{account}"), &format!("{ACCOUNT}:{release}:{own}"));
    let text = text.replace(&format!("{ACCOUNT}:{namespace}:"), &format!("{ACCOUNT}:{release}:"));
    with_name(&text, &format!("{ACCOUNT}s:{namespace}"), &format!("{ACCOUNT}s:{release}"))
}

/// Replaces a name where it is not the start of a longer one.
fn with_name(text: &str, name: &str, new: &str) -> String {
    let mut parts = text.split(name);
    let mut out = parts.next().unwrap_or_default().to_string();
    for part in parts {
        let goes_on = part.trim_start_matches(['.', '-']).starts_with(|c: char| c.is_ascii_alphanumeric());
        out.push_str(if goes_on { name } else { new });
        out.push_str(part);
    }
    out
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
