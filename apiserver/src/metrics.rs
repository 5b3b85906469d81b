//! `/metrics`: the server's metrics, in the text format of Prometheus.

use std::fmt::Write as _;

use crate::features::MINOR;
use crate::server::Server;

/// The content type that kube-apiserver's client library uses by default.
pub(crate) const CONTENT_TYPE: &str = "text/plain; version=0.0.4; charset=utf-8; escaping=underscores";

/// Writes the metrics: the version, and the number of stored objects of each resource.
pub(crate) fn text(server: &Server) -> String {
    let mut out = format!(
        "# HELP kubernetes_build_info [ALPHA] A metric with a constant '1' value labeled by major and minor version.\n\
         # TYPE kubernetes_build_info gauge\nkubernetes_build_info{{major=\"1\",minor=\"{MINOR}\"}} 1\n\
         # HELP apiserver_resource_objects [ALPHA] Number of stored objects split by kind.\n\
         # TYPE apiserver_resource_objects gauge\n"
    );
    for def in server.registry().stored().iter() {
        let count = server.store.list(&def.collection, "", None).map_or(0, |snapshot| snapshot.objects.len());
        let (group, plural) = (&def.group, &def.plural);
        // Writing to a string cannot fail.
        let _ =
            writeln!(out, "apiserver_resource_objects{{group=\"{group}\",resource=\"{plural}\"}} {count}");
    }
    out
}

/// Writes the results of the health checks: `k8s.io/component-base/metrics/prometheus/slis`.
pub(crate) fn health() -> String {
    let mut out = String::new();
    let checks = ["informer-sync", "log", "ping", "shutdown"];
    for (metric, kind, status, help) in [
        ("kubernetes_healthcheck", "gauge", "", "This metric records the result of a single healthcheck."),
        (
            "kubernetes_healthchecks_total",
            "counter",
            "status=\"success\",",
            "This metric records the results of all healthcheck.",
        ),
    ] {
        // Writing to a string cannot fail.
        let _ = writeln!(out, "# HELP {metric} [STABLE] {help}\n# TYPE {metric} {kind}");
        for name in checks {
            let _ = writeln!(out, "{metric}{{name=\"{name}\",{status}type=\"readyz\"}} 1");
        }
    }
    out
}
