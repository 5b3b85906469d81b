//! Metrics for Prometheus: those of the runtime under the names of client-go and controller-runtime, and the program's own.
//!
//! A [`Registry`] collects the metrics of clients, informers, queues, controllers and webhooks. A program registers its own
//! metrics of the crate [`prometheus_client`] beside them.
//!
//! ```
//! use kubesmith_runtime::metrics::Registry;
//! use kubesmith_runtime::metrics::prometheus_client::metrics::counter::Counter;
//!
//! let registry = Registry::new();
//! let pods: Counter = Counter::default();
//! registry.register("pods_seen", "Pods seen", pods.clone());
//! pods.inc();
//! assert!(registry.encode().contains("pods_seen_total 1\n"));
//! ```
//!
//! [`Registry::merge`] takes a whole registry, for instance one with a prefix:
//!
//! ```
//! use kubesmith_runtime::metrics::{CONTENT_TYPE, Registry, prometheus_client};
//! use prometheus_client::metrics::gauge::Gauge;
//!
//! let mut own = prometheus_client::registry::Registry::with_prefix("zones");
//! let open: Gauge = Gauge::default();
//! own.register("open", "Open zones", open.clone());
//! let registry = Registry::new();
//! registry.merge(own);
//! open.set(3);
//! assert!(registry.encode().contains("zones_open 3\n") && CONTENT_TYPE.contains("openmetrics"));
//! ```

mod families;
mod process;
#[cfg(test)]
mod tests;

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use prometheus_client::encoding::text::{encode_eof, encode_registry};
use prometheus_client::metrics::gauge;
use prometheus_client::registry::Metric;

use families::{Families, Series};
pub use prometheus_client;

pub(crate) use prometheus_client::metrics::counter::Counter;
pub(crate) use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};

/// A gauge of floating-point numbers.
pub(crate) type Gauge = gauge::Gauge<f64, std::sync::atomic::AtomicU64>;

/// `Content-Type` of [`Registry::encode`]'s text.
pub const CONTENT_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// A set of metrics. Clones share it.
#[derive(Clone)]
pub struct Registry(Arc<Inner>);

struct Inner {
    /// The runtime's metrics.
    families: Families,
    /// Encodes `families`.
    runtime: prometheus_client::registry::Registry,
    /// The program's own metrics.
    program: Mutex<Vec<Arc<prometheus_client::registry::Registry>>>,
    has_process: AtomicBool,
}

impl Registry {
    /// Returns an empty set.
    #[must_use]
    pub fn new() -> Self {
        let families = Families::default();
        let mut runtime = prometheus_client::registry::Registry::default();
        runtime.register_collector(Box::new(families.clone()));
        Self(Arc::new(Inner {
            families,
            runtime,
            program: Mutex::default(),
            has_process: AtomicBool::new(false),
        }))
    }

    /// Registers a metric of the program. The name of a counter is given without `_total`. Each name must be registered
    /// once, and not be one of the runtime's.
    pub fn register(&self, name: impl Into<String>, help: impl Into<String>, metric: impl Metric) {
        let mut registry = prometheus_client::registry::Registry::default();
        registry.register(name, help, metric);
        self.merge(registry);
    }

    /// Adds all metrics of another registry.
    pub fn merge(&self, registry: prometheus_client::registry::Registry) {
        self.program().push(Arc::new(registry));
    }

    /// Adds the metrics of the process (`process_resident_memory_bytes` and others), unless they are there.
    pub(crate) fn add_process(&self) {
        if !self.0.has_process.swap(true, Ordering::Relaxed) {
            let mut registry = prometheus_client::registry::Registry::default();
            registry.register_collector(Box::new(process::ProcessCollector::new()));
            self.merge(registry);
        }
    }

    /// Returns all metrics in the OpenMetrics text format: those of the runtime ordered by name and labels, then the
    /// program's.
    #[must_use]
    pub fn encode(&self) -> String {
        // Metrics may call functions of the program, so none is encoded under the lock.
        let program = self.program().clone();
        let mut text = String::new();
        let mut registries =
            std::iter::once(&self.0.runtime).chain(program.iter().map(|registry| &**registry));
        let encoded = registries.try_for_each(|registry| encode_registry(&mut text, registry));
        // Writing to a String cannot fail, so an error is a metric's own.
        if encoded.and_then(|()| encode_eof(&mut text)).is_err() {
            tracing::error!("a metric cannot be encoded");
        }
        text
    }

    fn program(&self) -> MutexGuard<'_, Vec<Arc<prometheus_client::registry::Registry>>> {
        self.0.program.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the counter with this name and these labels; the same one on each call.
    ///
    /// If the name belongs to another type of metric, the returned counter works but is not exposed, and an error is
    /// logged. This holds for the methods below too.
    pub(crate) fn counter(&self, name: &str, help: &str, labels: &[(&str, &str)]) -> Counter {
        let new = Series::Counter(Counter::default());
        match self.0.families.series(name, help, labels, new) {
            Some(Series::Counter(counter)) => counter,
            _ => Counter::default(),
        }
    }

    /// Returns the gauge with this name and these labels.
    pub(crate) fn gauge(&self, name: &str, help: &str, labels: &[(&str, &str)]) -> Gauge {
        let new = Series::Gauge(Gauge::default());
        match self.0.families.series(name, help, labels, new) {
            Some(Series::Gauge(gauge)) => gauge,
            _ => Gauge::default(),
        }
    }

    /// Returns the histogram with this name and these labels. `bounds` apply to a new histogram.
    pub(crate) fn histogram(
        &self,
        name: &str,
        help: &str,
        labels: &[(&str, &str)],
        bounds: impl IntoIterator<Item = f64>,
    ) -> Histogram {
        let new = Histogram::new(bounds);
        match self.0.families.series(name, help, labels, Series::Histogram(new.clone())) {
            Some(Series::Histogram(histogram)) => histogram,
            _ => new,
        }
    }

    /// Registers a gauge whose value is read when the text is made; `None` leaves it out. Replaces a gauge with the same
    /// name and labels.
    pub(crate) fn gauge_fn<F>(&self, name: &str, help: &str, labels: &[(&str, &str)], read: F)
    where
        F: Fn() -> Option<f64> + Send + Sync + 'static,
    {
        self.0.families.replace(name, help, labels, Series::GaugeFn(Arc::new(read)));
    }

    /// Registers gauges as [`gauge_fn`](Self::gauge_fn) does, one for each value of the label `by`.
    pub(crate) fn gauges_fn<F>(
        &self,
        name: &str,
        help: &str,
        labels: &[(&str, &str)],
        by: &'static str,
        read: F,
    ) where
        F: Fn() -> Vec<(String, f64)> + Send + Sync + 'static,
    {
        self.0.families.replace(name, help, labels, Series::GaugesFn(by, Arc::new(read)));
    }

    /// Registers a counter as [`gauge_fn`](Self::gauge_fn) registers a gauge.
    pub(crate) fn counter_fn<F>(&self, name: &str, help: &str, labels: &[(&str, &str)], read: F)
    where
        F: Fn() -> Option<u64> + Send + Sync + 'static,
    {
        self.0.families.replace(name, help, labels, Series::CounterFn(Arc::new(read)));
    }
}

impl Default for Registry {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Registry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Registry").field("runtime", &self.0.families).finish_non_exhaustive()
    }
}
