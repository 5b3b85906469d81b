//! Builds the manager's alerts for Prometheus: a PrometheusRule over the metrics that the runtime exports
//! under client-go's and controller-runtime's names.

use serde_json::{Value, json};

use super::metrics::SERVICE;
use super::objects::metadata;
use crate::config::DeploySettings;

/// An alert.
struct Alert {
    name: &'static str,
    /// The PromQL expression; `@` is replaced by the labels that select the manager's metrics.
    expression: &'static str,
    /// The time for which the expression must hold.
    after: &'static str,
    severity: &'static str,
    summary: &'static str,
}

/// The alert about a replica whose shard nobody else has.
const SHARD_DOWN: &str = "ShardDown";

const ALERTS: [Alert; 11] = [
    Alert {
        name: "ManagerDown",
        // `absent` of a comparison would have no labels.
        expression: "sum by (job, namespace) (up{@}) == 0 or absent(up{@})",
        after: "5m",
        severity: "critical",
        summary: "No replica of the manager answers Prometheus.",
    },
    Alert {
        name: SHARD_DOWN,
        expression: "up{@} == 0",
        after: "5m",
        severity: "critical",
        summary: "A replica does not answer Prometheus, so perhaps nobody reconciles the objects of its shard.",
    },
    Alert {
        name: "NoLeader",
        expression: "max by (namespace, name) (leader_election_master_status{@}) == 0",
        after: "5m",
        severity: "critical",
        summary: "No replica leads, so nothing is reconciled.",
    },
    Alert {
        name: "ReconcileErrors",
        expression: "sum by (namespace, controller) (rate(controller_runtime_reconcile_errors_total{@}[10m])) / sum by (namespace, \
                     controller) (rate(controller_runtime_reconcile_total{@}[10m])) > 0.1",
        after: "15m",
        severity: "warning",
        summary: "More than a tenth of the reconciles of a controller fail.",
    },
    Alert {
        name: "ReconcilePanics",
        expression: "sum by (namespace, controller) (increase(controller_runtime_reconcile_panics_total{@}[10m])) > 0",
        after: "0m",
        severity: "warning",
        summary: "A reconciler panicked.",
    },
    Alert {
        name: "ReconcileStuck",
        expression: "max by (namespace, name) (workqueue_longest_running_processor_seconds{@}) > 600",
        after: "5m",
        severity: "warning",
        summary: "A reconcile has been running for ten minutes.",
    },
    Alert {
        name: "QueueLags",
        expression: "histogram_quantile(0.99, sum by (namespace, name, le) (rate(workqueue_queue_duration_seconds_bucket{@}[10m]))) \
                     > 300",
        after: "15m",
        severity: "warning",
        summary: "Objects wait for more than five minutes before they are reconciled.",
    },
    Alert {
        name: "ServerErrors",
        expression: "sum by (namespace) (rate(rest_client_requests_total{@,code=~\"5..|<error>\"}[10m])) / sum by (namespace) \
                     (rate(rest_client_requests_total{@}[10m])) > 0.1",
        after: "15m",
        severity: "warning",
        summary: "More than a tenth of the requests to the API server fail.",
    },
    Alert {
        name: "CertificateErrors",
        expression: "sum by (namespace) (increase(cert_rotator_errors_total{@}[10m])) > 0",
        after: "15m",
        severity: "warning",
        summary: "The manager cannot look after the certificate of its webhooks.",
    },
    Alert {
        name: "CertificateUnusable",
        expression: "sum by (namespace) (increase(certwatcher_read_certificate_errors_total{@}[10m])) > 0",
        after: "15m",
        severity: "warning",
        summary: "A certificate of webhooks or metrics cannot be read, does not fit its key, or has expired.",
    },
    Alert {
        name: "CertificateExpires",
        // Managers and cert-manager renew a certificate when a third of its lifetime is left.
        expression: "min by (namespace) ((certwatcher_certificate_expiration_timestamp_seconds{@} - time()) / \
                     (certwatcher_certificate_expiration_timestamp_seconds{@} - \
                     certwatcher_certificate_not_before_timestamp_seconds{@})) < 0.1",
        after: "15m",
        severity: "critical",
        summary: "A certificate of webhooks or metrics expires: less than a tenth of its lifetime is left.",
    },
];

/// The PrometheusRule. `has_rotation`: the manager keeps the certificate of its webhooks.
pub(super) fn rule(settings: &DeploySettings, has_rotation: bool) -> Value {
    // The Prometheus operator adds the namespace of the Service, and other namespaces may have one of the same name.
    let job = format!("job=\"{}\",namespace=\"{}\"", settings.object(SERVICE), settings.namespace);
    let told = |alert: &&Alert| {
        (settings.leader_election || !alert.expression.contains("leader_election"))
            && (has_rotation || !alert.expression.contains("cert_rotator"))
            && (settings.is_sharded || alert.name != SHARD_DOWN)
    };
    let rules = ALERTS.iter().filter(told).map(|alert| {
        json!({
            "alert": alert.name,
            "annotations": {"summary": alert.summary},
            "expr": alert.expression.replace('@', &job),
            "for": alert.after,
            "labels": {"severity": alert.severity},
        })
    });
    json!({
        "apiVersion": "monitoring.coreos.com/v1",
        "kind": "PrometheusRule",
        "metadata": metadata(settings, "controller-manager-alerts"),
        "spec": {"groups": [{"name": settings.object("manager"), "rules": rules.collect::<Vec<_>>()}]},
    })
}
