//! Emits MutatingWebhookConfiguration and ValidatingWebhookConfiguration: `manifests.yaml`.

use serde_json::{Value, json};

use super::manifest;
use crate::config::WebhookSettings;
use crate::ir::{Manifests, Webhook};
use crate::output::{Kind, OutputTree};

/// controller-gen's name of the file.
const FILE: &str = "manifests.yaml";

/// Emits the file; no file without a webhook.
pub fn emit(manifests: &Manifests, settings: &WebhookSettings) -> OutputTree {
    let objects: Vec<Value> =
        [true, false].into_iter().filter_map(|mutating| object(manifests, mutating)).collect();
    manifest::tree(FILE, Kind::Webhook, &settings.header, &objects)
}

fn object(manifests: &Manifests, mutating: bool) -> Option<Value> {
    let mut webhooks: Vec<&Webhook> =
        manifests.webhooks.iter().filter(|webhook| webhook.mutating == mutating).collect();
    if webhooks.is_empty() {
        return None;
    }
    webhooks.sort_by(|a, b| a.object.name.cmp(&b.object.name));
    let named = manifests.configurations.iter().filter(|configuration| configuration.mutating == mutating);
    let name = named.filter_map(|configuration| configuration.name.as_deref()).next();
    let (kind, usual_name) = match mutating {
        true => ("MutatingWebhookConfiguration", "mutating-webhook-configuration"),
        false => ("ValidatingWebhookConfiguration", "validating-webhook-configuration"),
    };
    Some(json!({
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": kind,
        "metadata": {"name": name.unwrap_or(usual_name)},
        "webhooks": webhooks.iter().map(|webhook| json!(webhook.object)).collect::<Vec<_>>(),
    }))
}
