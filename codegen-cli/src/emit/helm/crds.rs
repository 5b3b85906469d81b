//! Refuses values with which a release would delete its CRDs or break them.

use serde_json::{Value, json};

use crate::config::HelmSettings;

/// The template that fails for such values; `None` without CRDs.
pub(super) fn checks(settings: &HelmSettings, definitions: &[&Value]) -> Option<String> {
    if definitions.is_empty() {
        return None;
    }
    let name = |definition: &&Value| definition["metadata"]["name"].clone();
    let names: Vec<String> = definitions.iter().map(|one| name(one).to_string()).collect();
    let service = &settings.deploy.webhook_service;
    let is_ours = |definition: &&&Value| {
        let found = definition.pointer("/spec/conversion/webhook/clientConfig/service");
        found.is_some_and(|found| {
            found["name"] == service.name.as_str() && found["namespace"] == service.namespace.as_str()
        })
    };
    let converted: Vec<Value> = definitions.iter().filter(is_ours).map(name).collect();
    Some(deletion(&names.join(" ")) + &conversion(&converted))
}

/// Helm deletes the objects that an upgrade no longer renders, unless their annotation in the cluster keeps them
/// (`pkg/kube/client.go`).
fn deletion(names: &str) -> String {
    format!(
        "{{{{- if and .Release.IsUpgrade (not .Values.crds.install) }}}}\n\
         {{{{- range list {names} }}}}\n\
         {{{{- with lookup \"apiextensions.k8s.io/v1\" \"CustomResourceDefinition\" \"\" . }}}}\n\
         {{{{- $found := .metadata.annotations | default dict }}}}\n\
         {{{{- $isOwned := and (eq (get $found \"meta.helm.sh/release-name\") $.Release.Name) \
         (eq (get $found \"meta.helm.sh/release-namespace\") $.Release.Namespace) }}}}\n\
         {{{{- if and $isOwned (ne (get $found \"helm.sh/resource-policy\") \"keep\") }}}}\n\
         {{{{- fail (printf \"crds.install: false would delete the CRD %s with all its objects: upgrade the release with \
         crds.install: true and crds.keep: true first\" .metadata.name) }}}}\n\
         {{{{- end }}}}\n{{{{- end }}}}\n{{{{- end }}}}\n{{{{- end }}}}\n"
    )
}

/// A CRD names the webhook that converts its objects. Without it, the server can read and write only one version.
fn conversion(converted: &[Value]) -> String {
    let names: Vec<&str> = converted.iter().filter_map(Value::as_str).collect();
    if names.is_empty() {
        return String::new();
    }
    let message = json!(format!(
        "webhooks.enabled: false needs crds.install: false: the manager converts the versions of {}",
        names.join(", ")
    ));
    format!(
        "{{{{- if and .Values.crds.install (not .Values.webhooks.enabled) }}}}\n\
         {{{{- fail {message} }}}}\n{{{{- end }}}}\n"
    )
}
