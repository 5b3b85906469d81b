//! Emits MutatingWebhookConfiguration and ValidatingWebhookConfiguration: `manifests.yaml`.

use serde_json::{Value, json};

use super::manifest;
use crate::config::WebhookService;
use crate::ir::{Manifests, WEBHOOK_SERVICE, Webhook};
use crate::output::{Kind, OutputTree};

/// controller-gen's name of the file.
pub(super) const FILE: &str = "manifests.yaml";

/// Emits the file, unless there is no webhook. `service` replaces controller-gen's name.
pub fn emit(manifests: &Manifests, header: &str, service: Option<&WebhookService>) -> OutputTree {
    manifest::tree(FILE, Kind::Webhook, header, &objects(manifests, service))
}

/// The objects of the file.
pub(crate) fn objects(manifests: &Manifests, service: Option<&WebhookService>) -> Vec<Value> {
    [true, false].into_iter().filter_map(|mutating| object(manifests, mutating, service)).collect()
}

fn object(manifests: &Manifests, mutating: bool, service: Option<&WebhookService>) -> Option<Value> {
    let mut webhooks: Vec<&Webhook> =
        manifests.webhooks.iter().filter(|webhook| webhook.mutating == mutating).collect();
    if webhooks.is_empty() {
        return None;
    }
    let older = manifests.older;
    let packages: Vec<&str> = manifests.webhooks.iter().map(package).collect();
    webhooks.sort_by_key(|webhook| {
        // Those of the packages stand in the order in which controller-gen visits these.
        let at =
            packages.iter().position(|other| *other == package(webhook)).filter(|_| older.keeps_packages);
        (at, if older.keeps_markers { "" } else { webhook.name() })
    });
    let named = manifests.configurations.iter().filter(|configuration| configuration.mutating == mutating);
    let name = named.filter_map(|configuration| configuration.name.as_deref()).next();
    let (kind, usual_name) = match mutating {
        true => ("MutatingWebhookConfiguration", "mutating-webhook-configuration"),
        false => ("ValidatingWebhookConfiguration", "validating-webhook-configuration"),
    };
    let prefix = service.map_or("", |service| service.prefix.as_str());
    let name = name.map_or_else(|| format!("{prefix}{usual_name}"), str::to_string);
    let objects = webhooks.iter().map(|webhook| &webhook.object);
    let mut out = json!({
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": kind,
        "metadata": {"name": name},
        "webhooks": objects.collect::<Vec<_>>(),
    });
    if let Some(service) = service {
        put_behind(&mut out, service);
    }
    Some(out)
}

/// The folder of a webhook's marker.
fn package(webhook: &Webhook) -> &str {
    webhook.span.file.rsplit_once('/').map_or("", |(folder, _)| folder)
}

/// Points webhooks without a service to that of the deployment, and lets cert-manager inject its authority.
fn put_behind(configuration: &mut Value, service: &WebhookService) {
    let (usual_name, usual_namespace) = WEBHOOK_SERVICE;
    let mut is_used = false;
    for webhook in configuration["webhooks"].as_array_mut().into_iter().flatten() {
        let Some(given) = webhook.pointer_mut("/clientConfig/service") else { continue };
        if given["name"] == usual_name && given["namespace"] == usual_namespace {
            given["name"] = json!(service.name);
            given["namespace"] = json!(service.namespace);
            is_used = true;
        }
    }
    if let (true, Some(certificate)) = (is_used, &service.certificate) {
        configuration["metadata"]["annotations"] = json!({"cert-manager.io/inject-ca-from": certificate});
    }
}
