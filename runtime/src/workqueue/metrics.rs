//! A queue's metrics, under client-go's names.

use std::time::{Duration, Instant};

use crate::metrics::{Histogram, Registry, exponential_buckets};

/// The numbers of a queue that are read on each scrape.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Numbers {
    pub(super) adds: u64,
    pub(super) retries: u64,
    /// The sum of the times that keys have been in processing.
    pub(super) unfinished: Duration,
    pub(super) longest_running: Duration,
}

/// The durations of a queue; kept only if it has a registry.
pub(super) struct Times {
    queue: Histogram,
    work: Histogram,
}

impl Times {
    /// Registers the seven metrics of the queue `name`. When the queue is dropped, `read` returns `None` and
    /// `depths` nothing. `workqueue_depth` has a label for the priority, as in controller-runtime's priority queue.
    pub(super) fn register<F, D>(registry: &Registry, name: &str, read: F, depths: D) -> Self
    where
        F: Fn() -> Option<Numbers> + Clone + Send + Sync + 'static,
        D: Fn() -> Vec<(i32, usize)> + Send + Sync + 'static,
    {
        let labels = [("name", name), ("controller", name)];
        // Bounds as in controller-runtime's metrics: 10 ns to 1000 s.
        let bounds = || exponential_buckets(10e-9, 10.0, 12);
        let gauge = |name: &str, help: &str, of: fn(Numbers) -> f64| {
            let read = read.clone();
            registry.gauge_fn(name, help, &labels, move || read().map(of));
        };
        let help = "Current depth of workqueue by workqueue and priority";
        registry.gauges_fn("workqueue_depth", help, &labels, "priority", move || {
            depths().into_iter().map(|(priority, depth)| (priority.to_string(), depth as f64)).collect()
        });
        gauge(
            "workqueue_unfinished_work_seconds",
            "How many seconds of work is in progress and has not been observed by work_duration",
            |numbers| numbers.unfinished.as_secs_f64(),
        );
        gauge(
            "workqueue_longest_running_processor_seconds",
            "How many seconds the longest running key has been in work",
            |numbers| numbers.longest_running.as_secs_f64(),
        );
        let counter = |name: &str, help: &str, of: fn(Numbers) -> u64| {
            let read = read.clone();
            registry.counter_fn(name, help, &labels, move || read().map(of));
        };
        counter("workqueue_adds_total", "Total number of adds handled by workqueue", |numbers| numbers.adds);
        counter("workqueue_retries_total", "Total number of retries handled by workqueue", |numbers| {
            numbers.retries
        });
        let histogram = |name: &str, help: &str| registry.histogram(name, help, &labels, bounds());
        Times {
            queue: histogram(
                "workqueue_queue_duration_seconds",
                "How long in seconds an item stays in workqueue before being requested",
            ),
            work: histogram(
                "workqueue_work_duration_seconds",
                "How long in seconds processing an item from workqueue takes",
            ),
        }
    }

    pub(super) fn handed_out(&self, queued_at: Option<Instant>, now: Instant) {
        if let Some(queued_at) = queued_at {
            self.queue.observe(now.saturating_duration_since(queued_at).as_secs_f64());
        }
    }

    pub(super) fn done(&self, started_at: Option<Instant>, now: Instant) {
        if let Some(started_at) = started_at {
            self.work.observe(now.saturating_duration_since(started_at).as_secs_f64());
        }
    }
}
