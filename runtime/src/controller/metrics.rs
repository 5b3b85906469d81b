//! A controller's metrics, under controller-runtime's names.

use crate::metrics::{Counter, Gauge, Histogram, Registry};

/// Bounds of controller-runtime's `reconcile_time_seconds`.
const TIME_BOUNDS: [f64; 40] = [
    0.005, 0.01, 0.025, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.25,
    1.5, 1.75, 2.0, 2.5, 3.0, 3.5, 4.0, 4.5, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 15.0, 20.0, 25.0, 30.0, 40.0,
    50.0, 60.0,
];

/// A controller's metrics.
pub(super) struct Metrics {
    pub(super) success: Counter,
    pub(super) error: Counter,
    pub(super) requeue: Counter,
    pub(super) requeue_after: Counter,
    pub(super) errors: Counter,
    pub(super) terminal_errors: Counter,
    pub(super) panics: Counter,
    pub(super) timeouts: Counter,
    pub(super) time: Histogram,
    pub(super) active_workers: Gauge,
}

impl Metrics {
    pub(super) fn register(registry: &Registry, controller: &str, workers: usize) -> Self {
        let label = [("controller", controller)];
        let total = |result: &str| {
            registry.counter(
                "controller_runtime_reconcile_total",
                "Total number of reconciliations per controller",
                &[("controller", controller), ("result", result)],
            )
        };
        let counter = |name: &str, help: &str| registry.counter(name, help, &label);
        registry
            .gauge(
                "controller_runtime_max_concurrent_reconciles",
                "Maximum number of concurrent reconciles per controller",
                &label,
            )
            .set(workers as f64);
        Metrics {
            success: total("success"),
            error: total("error"),
            requeue: total("requeue"),
            requeue_after: total("requeue_after"),
            errors: counter(
                "controller_runtime_reconcile_errors_total",
                "Total number of reconciliation errors per controller",
            ),
            terminal_errors: counter(
                "controller_runtime_terminal_reconcile_errors_total",
                "Total number of terminal reconciliation errors per controller",
            ),
            panics: counter(
                "controller_runtime_reconcile_panics_total",
                "Total number of reconciliation panics per controller",
            ),
            timeouts: counter(
                "controller_runtime_reconcile_timeouts_total",
                "Total number of reconciliation timeouts per controller",
            ),
            time: registry.histogram(
                "controller_runtime_reconcile_time_seconds",
                "Length of time per reconciliation per controller",
                &label,
                TIME_BOUNDS,
            ),
            active_workers: registry.gauge(
                "controller_runtime_active_workers",
                "Number of currently used workers per controller",
                &label,
            ),
        }
    }
}
