//! Builds the objects for the certificate of the webhooks: cert-manager's, or those that the manager needs to
//! make its own.

use serde_json::{Value, json};

use super::metrics;
use super::objects::metadata;
use super::rights::granted;
use crate::config::DeploySettings;

/// The Secret with the certificate, without the prefix.
const SECRET: &str = "webhook-server-cert";

/// The objects that contain the certificate's authority.
#[derive(Clone, Debug, Default)]
pub(super) struct Trusting {
    /// Names of MutatingWebhookConfigurations.
    pub(super) mutating: Vec<String>,
    /// Names of ValidatingWebhookConfigurations.
    pub(super) validating: Vec<String>,
    /// Names of CRDs whose versions the manager converts.
    pub(super) definitions: Vec<String>,
}

impl Trusting {
    /// Resources, with their group and the names of their objects.
    fn resources(&self) -> impl Iterator<Item = (&'static str, &'static str, &Vec<String>)> {
        let admission = "admissionregistration.k8s.io";
        let all = [
            (admission, "mutatingwebhookconfigurations", &self.mutating),
            (admission, "validatingwebhookconfigurations", &self.validating),
            ("apiextensions.k8s.io", "customresourcedefinitions", &self.definitions),
        ];
        all.into_iter().filter(|(.., names)| !names.is_empty())
    }
}

pub(super) fn secret_name(settings: &DeploySettings) -> String {
    settings.object(SECRET)
}

pub(super) fn issuer(settings: &DeploySettings) -> Value {
    json!({
        "apiVersion": "cert-manager.io/v1",
        "kind": "Issuer",
        "metadata": metadata(settings, "selfsigned-issuer"),
        "spec": {"selfSigned": {}},
    })
}

pub(super) fn certificate(settings: &DeploySettings) -> Value {
    let host = format!("{}.{}.svc", settings.object("webhook-service"), settings.namespace);
    issued(settings, "serving-cert", &host, &secret_name(settings))
}

/// A Certificate, without the prefix of its name, for a Service's host name.
pub(super) fn issued(settings: &DeploySettings, name: &str, host: &str, secret: &str) -> Value {
    json!({
        "apiVersion": "cert-manager.io/v1",
        "kind": "Certificate",
        "metadata": metadata(settings, name),
        "spec": {
            "dnsNames": [host, format!("{host}.cluster.local")],
            "issuerRef": {"kind": "Issuer", "name": settings.object("selfsigned-issuer")},
            "secretName": secret,
        },
    })
}

/// The empty Secret for the manager to fill. Without it, the manager would need the right to create any
/// Secret.
pub(super) fn secret(settings: &DeploySettings) -> Value {
    json!({
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": metadata(settings, SECRET),
        "type": "Opaque",
    })
}

/// The manager's arguments: those of the flags of `ManagerFlags`.
pub(super) fn args(settings: &DeploySettings, trusting: &Trusting) -> Vec<String> {
    let mut out = vec![
        format!("--webhook-cert-secret={}", secret_name(settings)),
        format!("--webhook-service={}", settings.webhook_service.name),
    ];
    if settings.has_secure_metrics() && !settings.has_issued_metrics() {
        out.push(format!("--metrics-service={}", settings.object(metrics::SERVICE)));
    }
    for (_, resource, names) in trusting.resources() {
        out.extend(names.iter().map(|name| format!("--webhook-inject-ca={resource}/{name}")));
    }
    out
}

/// The manager's rights to the Secret, and to the objects with its authority.
pub(super) fn rights(settings: &DeploySettings, trusting: &Trusting) -> Vec<(String, Value)> {
    let secret = json!([{
        "apiGroups": [""],
        "resourceNames": [secret_name(settings)],
        "resources": ["secrets"],
        "verbs": ["get", "update"],
    }]);
    let rule = |(group, resource, names): (&str, &str, &Vec<String>)| json!({"apiGroups": [group], "resourceNames": names, "resources": [resource], "verbs": ["get", "patch"]});
    let injection: Vec<Value> = trusting.resources().map(rule).collect();
    let mut out = granted(settings, "cert-rotation", "Role", &secret);
    if !injection.is_empty() {
        out.extend(granted(settings, "ca-injection", "ClusterRole", &Value::Array(injection)));
    }
    out
}
