//! The metrics of a webhook, under controller-runtime's names.

use std::collections::BTreeMap;

use http::StatusCode;

use crate::metrics::{Counter, Gauge, Histogram, Registry, exponential_buckets};

/// The metrics of one path.
pub(super) struct Metrics {
    registry: Registry,
    path: String,
    /// The status codes that are exposed from the start.
    usual: BTreeMap<u16, Counter>,
    pub(super) latency: Histogram,
    in_flight: Gauge,
    pub(super) panics: Counter,
}

impl Metrics {
    /// `panics` is name and help of the counter of panics.
    pub(super) fn register(registry: &Registry, path: &str, panics: (&str, &str)) -> Self {
        let label = [("webhook", path)];
        let usual = [200, 500].map(|code| (code, requests(registry, path, code)));
        Metrics {
            registry: registry.clone(),
            path: path.to_owned(),
            usual: usual.into_iter().collect(),
            latency: registry.histogram(
                "controller_runtime_webhook_latency_seconds",
                "Histogram of the latency of processing admission requests",
                &label,
                exponential_buckets(10e-9, 10.0, 12),
            ),
            in_flight: registry.gauge(
                "controller_runtime_webhook_requests_in_flight",
                "Current number of admission requests being served.",
                &label,
            ),
            panics: registry.counter(panics.0, panics.1, &[]),
        }
    }

    /// Counts a response with this code.
    pub(super) fn answered(&self, code: StatusCode) {
        let code = code.as_u16();
        match self.usual.get(&code) {
            Some(counter) => counter.inc(),
            None => requests(&self.registry, &self.path, code).inc(),
        };
    }

    /// Counts a request as running until the value is dropped.
    pub(super) fn begin(&self) -> InFlight<'_> {
        self.in_flight.inc();
        InFlight(&self.in_flight)
    }
}

fn requests(registry: &Registry, path: &str, code: u16) -> Counter {
    registry.counter(
        "controller_runtime_webhook_requests_total",
        "Total number of admission requests by HTTP status code.",
        &[("code", &code.to_string()), ("webhook", path)],
    )
}

/// A running request.
pub(super) struct InFlight<'a>(&'a Gauge);

impl Drop for InFlight<'_> {
    fn drop(&mut self) {
        self.0.dec();
    }
}
