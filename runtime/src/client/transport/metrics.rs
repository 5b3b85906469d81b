//! The metrics of a client, under client-go's names.

use std::time::Duration;

use http::Request;
use kube::client::Body;
use tokio::time::Instant;

use super::stack::Answer;
use crate::metrics::{Histogram, Registry};

/// Bounds of Kubernetes' own components, in seconds.
const TIME_BOUNDS: [f64; 12] = [0.005, 0.025, 0.1, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 15.0, 30.0, 60.0];

/// The registry, and the labels of the client.
pub(super) struct Metrics {
    registry: Registry,
    /// The server's host and port.
    host: String,
}

/// Measures a call until it is dropped.
pub(super) struct Timer {
    histogram: Histogram,
    since: Instant,
}

impl Metrics {
    pub(super) fn new(registry: &Registry, server: &http::Uri) -> Self {
        let host = server.authority().map(|authority| authority.as_str().to_owned()).unwrap_or_default();
        Self { registry: registry.clone(), host }
    }

    /// Counts one try.
    pub(super) fn tried<E>(&self, method: &str, answer: &Result<Answer, E>) {
        let code = match answer {
            Ok(answer) => answer.status().as_str().to_owned(),
            // client-go's label for a request without a response.
            Err(_) => "<error>".to_owned(),
        };
        let help = "Number of HTTP requests, partitioned by status code, method, and host.";
        let labels = [("code", code.as_str()), ("method", method), ("host", &self.host)];
        self.registry.counter("rest_client_requests_total", help, &labels).inc();
    }

    /// Starts to measure a call.
    pub(super) fn timer(&self, request: &Request<Body>) -> Timer {
        let help = "Request latency in seconds. Broken down by verb, and host.";
        let histogram = self.times("rest_client_request_duration_seconds", help, request.method().as_str());
        Timer { histogram, since: Instant::now() }
    }

    /// Records how long a request waited for the rate limit.
    pub(super) fn waited(&self, method: &str, time: Duration) {
        let help = "Client side rate limiter latency in seconds. Broken down by verb, and host.";
        self.times("rest_client_rate_limiter_duration_seconds", help, method).observe(time.as_secs_f64());
    }

    fn times(&self, name: &str, help: &str, method: &str) -> Histogram {
        self.registry.histogram(name, help, &[("verb", method), ("host", &self.host)], TIME_BOUNDS)
    }
}

impl Drop for Timer {
    fn drop(&mut self) {
        self.histogram.observe(self.since.elapsed().as_secs_f64());
    }
}
