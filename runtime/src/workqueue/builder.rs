//! A queue's settings.

use std::hash::RandomState;
use std::sync::{Arc, Weak};

use super::limiter::{RateLimiter, default_rate_limiter};
use super::metrics::Times;
use super::queue::{Queue, QueueKey, Shared, State};
use crate::metrics::Registry;
use crate::sync::{Mutex, Notify};

/// Settings of a [`Queue`].
pub struct QueueBuilder<T> {
    name: String,
    limiter: Option<Box<dyn RateLimiter<T>>>,
    registry: Option<Registry>,
}

impl<T: QueueKey> QueueBuilder<T> {
    pub(super) fn new(name: String) -> Self {
        QueueBuilder { name, limiter: None, registry: None }
    }

    /// Replaces [`default_rate_limiter`].
    #[must_use]
    pub fn rate_limiter(mut self, limiter: impl RateLimiter<T> + 'static) -> Self {
        self.limiter = Some(Box::new(limiter));
        self
    }

    /// Registers the metrics `workqueue_*` in `registry`. Without it no clock is read for metrics.
    #[must_use]
    pub fn metrics(mut self, registry: &Registry) -> Self {
        self.registry = Some(registry.clone());
        self
    }

    /// Makes the queue.
    pub fn build(self) -> Queue<T> {
        let shared = Arc::new_cyclic(|shared: &Weak<Shared<T>>| {
            let times = self.registry.map(|registry| {
                let (of_numbers, of_depths) = (shared.clone(), shared.clone());
                let numbers = move || Some(of_numbers.upgrade()?.numbers());
                let depths = move || of_depths.upgrade().map(|shared| shared.depths()).unwrap_or_default();
                Times::register(&registry, &self.name, numbers, depths)
            });
            Shared {
                name: self.name,
                hasher: RandomState::new(),
                limiter: self.limiter.unwrap_or_else(|| Box::new(default_rate_limiter())),
                times,
                state: Mutex::new(State::new()),
                drained: Notify::new(),
            }
        });
        Queue { shared }
    }
}
