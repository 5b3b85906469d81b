//! Builds the Service and ServiceMonitor of the metrics, and for secure ones, the certificate and the roles
//! of their readers.

use serde_json::{Value, json};

use super::certificates::issued;
use super::objects::{metadata, selector, service};
use super::rights::{RBAC, granted, labels};
use crate::config::DeploySettings;

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
    if settings.metrics_secure {
        let certificates = format!("--metrics-cert-path={CERTIFICATES}");
        out.extend(["--metrics-secure".to_string(), "--metrics-authorize".to_string(), certificates]);
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

/// The ServiceMonitor: Prometheus reads secure metrics with its own token.
pub(super) fn service_monitor(settings: &DeploySettings) -> Value {
    let scheme = scheme(settings);
    let mut endpoint = json!({"path": "/metrics", "port": scheme, "scheme": scheme});
    if settings.metrics_secure {
        endpoint["bearerTokenFile"] = json!("/var/run/secrets/kubernetes.io/serviceaccount/token");
        endpoint["tlsConfig"] = json!({
            "ca": {"secret": {"key": "ca.crt", "name": secret_name(settings)}},
            "serverName": host(settings),
        });
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
