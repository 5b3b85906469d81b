//! Builds the Service and ServiceMonitor of the metrics, and for secure ones, the certificate and the roles
//! of their readers.

use serde_json::{Value, json};

use super::certificates::{self, issued};
use super::objects::{metadata, selector, service};
use super::rights::{RBAC, granted, labels};
use crate::config::{Certificates, DeploySettings};

/// The path at which kubebuilder's projects mount the certificate.
pub(super) const CERTIFICATES: &str = "/tmp/k8s-metrics-server/metrics-certs";

/// The Service, without the prefix.
pub(super) const SERVICE: &str = "controller-manager-metrics-service";

/// The Secret with the certificate, without the prefix.
const SECRET: &str = "metrics-server-cert";

/// The Secret with the certificate.
pub(super) fn secret_name(settings: &DeploySettings) -> String {
    settings.object(SECRET)
}

/// The manager's arguments: those of the flags of `ManagerFlags`.
pub(super) fn args(settings: &DeploySettings) -> Vec<String> {
    let Some(port) = settings.metrics_port else { return vec!["--metrics-bind-address=0".to_string()] };
    let mut out = vec![format!("--metrics-bind-address=:{port}")];
    // Programs that know fewer flags fail, rather than serve what they should protect.
    let more: &[&str] = match settings.metrics_secure {
        true => &["--metrics-secure", "--metrics-authorize"],
        false => &["--metrics-secure=false"],
    };
    out.extend(more.iter().map(|flag| (*flag).to_string()));
    if settings.has_issued_metrics() {
        out.push(format!("--metrics-cert-path={CERTIFICATES}"));
    }
    out
}

fn scheme(settings: &DeploySettings) -> &'static str {
    if settings.metrics_secure { "https" } else { "http" }
}

fn host(settings: &DeploySettings) -> String {
    format!("{}.{}.svc", settings.object(SERVICE), settings.namespace)
}

/// The Service, if there are metrics.
pub(super) fn metrics_service(settings: &DeploySettings) -> Option<Value> {
    let port = settings.metrics_port?;
    let port = json!({"name": scheme(settings), "port": port, "protocol": "TCP", "targetPort": port});
    Some(service(settings, SERVICE, &port))
}

/// The ServiceMonitor: Prometheus reads secure metrics with its own token. It cannot verify a self-signed certificate, as in
/// kubebuilder's projects.
pub(super) fn service_monitor(settings: &DeploySettings, has_webhooks: bool) -> Value {
    let scheme = scheme(settings);
    let mut endpoint = json!({"path": "/metrics", "port": scheme, "scheme": scheme});
    if settings.metrics_secure {
        endpoint["bearerTokenFile"] = json!("/var/run/secrets/kubernetes.io/serviceaccount/token");
        let is_kept = has_webhooks && settings.certificates == Certificates::SelfManaged;
        let secret = match settings.metrics_certificates {
            Certificates::CertManager => Some(secret_name(settings)),
            Certificates::SelfManaged => is_kept.then(|| certificates::secret_name(settings)),
        };
        endpoint["tlsConfig"] = match secret {
            Some(secret) => json!({
                "ca": {"secret": {"key": "ca.crt", "name": secret}},
                "serverName": host(settings),
            }),
            None => json!({"insecureSkipVerify": true}),
        };
    }
    json!({
        "apiVersion": "monitoring.coreos.com/v1",
        "kind": "ServiceMonitor",
        "metadata": metadata(settings, "controller-manager-metrics-monitor"),
        "spec": {"endpoints": [endpoint], "selector": {"matchLabels": selector(settings)}},
    })
}

/// cert-manager's certificate.
pub(super) fn certificate(settings: &DeploySettings) -> Value {
    issued(settings, "metrics-certs", &host(settings), &secret_name(settings))
}

/// The manager's rights to authorize readers, and the role to bind to readers. Their names are kubebuilder's.
pub(super) fn rights(settings: &DeploySettings) -> Vec<(String, Value)> {
    let rule = |group: &str, resource: &str| json!({"apiGroups": [group], "resources": [resource], "verbs": ["create"]});
    let reviews = json!([
        rule("authentication.k8s.io", "tokenreviews"),
        rule("authorization.k8s.io", "subjectaccessreviews"),
    ]);
    let mut out = granted(settings, "metrics-auth", "ClusterRole", &reviews);
    let reader = json!({
        "apiVersion": RBAC,
        "kind": "ClusterRole",
        "metadata": {"labels": labels(settings), "name": settings.object("metrics-reader")},
        "rules": [{"nonResourceURLs": ["/metrics"], "verbs": ["get"]}],
    });
    out.push(("metrics_reader_role.yaml".to_string(), reader));
    out
}
