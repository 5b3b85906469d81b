//! Processes one key: reconciles it, counts the outcome, and queues it again if needed.

use std::panic::AssertUnwindSafe;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use futures::FutureExt;
use tokio::time::{Instant, timeout};
use tracing::field::Empty;
use tracing::{Instrument, Span};

use super::metrics::Metrics;
use super::reconcile::{Action, ReconcileError, Reconciler};
use super::sharded::Sharded;
use super::state::ControllerState;
use crate::trace;
use crate::workqueue::{Item, Queue};

/// Decides what follows a failure; `None` leaves it to the rate limiter.
pub(super) type ErrorPolicy<T> = Box<dyn Fn(&T, &ReconcileError) -> Option<Action> + Send + Sync>;

/// The state shared by the workers of one controller.
pub(super) struct Shared<R: Reconciler> {
    pub(super) name: String,
    pub(super) queue: Queue<R::Key>,
    pub(super) reconciler: R,
    pub(super) max_retries: Option<usize>,
    pub(super) reconcile_timeout: Option<Duration>,
    pub(super) metrics: Option<Metrics>,
    pub(super) state: Option<ControllerState>,
    pub(super) error_policy: Option<ErrorPolicy<R::Key>>,
    pub(super) sharded: Option<Sharded<R::Key>>,
    /// Counts the reconciles, for their spans.
    pub(super) reconciles: AtomicU64,
}

/// The outcome of a reconcile.
enum Outcome {
    Done(Action),
    Failed(ReconcileError),
    Panicked(ReconcileError),
    TimedOut(ReconcileError),
}

impl Outcome {
    fn error(&self) -> Option<&ReconcileError> {
        match self {
            Outcome::Done(_) => None,
            Outcome::Failed(error) | Outcome::Panicked(error) | Outcome::TimedOut(error) => Some(error),
        }
    }
}

impl<R: Reconciler> Shared<R> {
    pub(super) async fn process(&self, item: &Item<'_, R::Key>) {
        let Some(sharded) = &self.sharded else { return self.work_on(item).await };
        let Some(in_work) = sharded.begin(item, &self.queue) else { return };
        tokio::select! {
            biased;
            () = in_work.cut_off() => {
                tracing::warn!(controller = self.name, key = ?item.key(), "the lease was lost, the reconcile is cut off");
                sharded.park(item);
            }
            () = self.work_on(item) => {}
        }
    }

    async fn work_on(&self, item: &Item<'_, R::Key>) {
        let start = self.metrics.as_ref().map(|metrics| {
            metrics.active_workers.inc();
            ActiveWorker { metrics, since: Instant::now() }
        });
        let since = self.state.as_ref().map(|state| (state, Instant::now()));
        let in_work = self.state.as_ref().map(|state| state.begin(item.key()));
        let outcome = self.reconcile(item).await;
        drop((start, in_work));
        let ended =
            since.map(|(state, since)| (state, since.elapsed(), outcome.error().map(ToString::to_string)));
        self.count(&outcome);
        let retried = self.requeue(item, outcome);
        if let Some((state, took, error)) = ended {
            state.note(item.key(), took, error, retried);
        }
    }

    async fn reconcile(&self, item: &Item<'_, R::Key>) -> Outcome {
        let key = item.key();
        let span = self.span(item);
        // The reconciler is called again after a panic, so its shared state must be as sound as after an error.
        let guarded = async { self.reconciler.reconcile(key).await }.instrument(span);
        let guarded = AssertUnwindSafe(guarded).catch_unwind();
        let result = match self.reconcile_timeout {
            None => guarded.await,
            Some(limit) => match timeout(limit, guarded).await {
                Ok(result) => result,
                Err(_) => {
                    let text = format!("the reconcile was cut off after {} s", limit.as_secs_f64());
                    return Outcome::TimedOut(ReconcileError::new(text));
                }
            },
        };
        match result {
            Ok(Ok(action)) => Outcome::Done(action),
            Ok(Err(error)) => Outcome::Failed(error),
            Err(panic) => Outcome::Panicked(ReconcileError::new(format!("panic: {}", panic_text(&*panic)))),
        }
    }

    /// Returns the span of a reconcile: a child of the wait in the queue, or a root if no traced change queued the key.
    fn span(&self, item: &Item<'_, R::Key>) -> Span {
        let reconcile_id = self.reconciles.fetch_add(1, Ordering::Relaxed) + 1;
        let span = tracing::info_span!(
            parent: item.wait().id(),
            "reconcile",
            controller = self.name,
            key = ?item.key(),
            reconcile_id,
            queue_seconds = Empty,
            trace_id = Empty,
        );
        if let Some(waited) = item.waited() {
            span.record("queue_seconds", waited.as_secs_f64());
        }
        if let Some(trace_id) = trace::trace_id(&span) {
            span.record("trace_id", trace_id);
        }
        span
    }

    fn count(&self, outcome: &Outcome) {
        let Some(metrics) = &self.metrics else { return };
        let counter = match outcome {
            Outcome::Done(action) if action.requeue_delay() == Some(Duration::ZERO) => Some(&metrics.requeue),
            Outcome::Done(action) if action.requeue_delay().is_some() => Some(&metrics.requeue_after),
            Outcome::Done(_) => Some(&metrics.success),
            Outcome::Failed(error) if error.is_terminal() => Some(&metrics.terminal_errors),
            Outcome::Failed(_) => None,
            Outcome::Panicked(_) => Some(&metrics.panics),
            Outcome::TimedOut(_) => Some(&metrics.timeouts),
        };
        if let Some(counter) = counter {
            counter.inc();
        }
        if !matches!(outcome, Outcome::Done(_)) {
            metrics.error.inc();
            metrics.errors.inc();
        }
    }

    /// Forgets the key's failures, and queues it again if the action has a delay; reports whether it does.
    fn follow(&self, item: &Item<'_, R::Key>, action: Action) -> bool {
        let key = item.key();
        self.queue.forget(key);
        let delay = action.requeue_delay();
        if let Some(delay) = delay {
            let priority = action.priority().unwrap_or(item.priority());
            self.queue.add_after_with_priority(key.clone(), delay, priority);
        }
        delay.is_some()
    }

    /// Queues the key again if its outcome asks for it; reports whether it does.
    fn requeue(&self, item: &Item<'_, R::Key>, outcome: Outcome) -> bool {
        let Shared { name, queue, max_retries, .. } = self;
        let key = item.key();
        let error = match outcome {
            Outcome::Done(action) => return self.follow(item, action),
            Outcome::Failed(error) | Outcome::Panicked(error) | Outcome::TimedOut(error) => error,
        };
        if error.is_terminal() {
            tracing::error!(controller = name, ?key, %error, "reconcile failed for good, the key is not retried");
            queue.forget(key);
            return false;
        }
        if let Some(action) = self.error_policy.as_ref().and_then(|policy| policy(key, &error)) {
            let delay = action.requeue_delay();
            tracing::warn!(controller = name, ?key, ?delay, %error, "reconcile failed, the error policy decides");
            return self.follow(item, action);
        }
        let retries = queue.num_requeues(key);
        if max_retries.is_some_and(|most| retries >= most) {
            tracing::error!(controller = name, ?key, retries, %error, "reconcile failed too often, the key is dropped");
            queue.forget(key);
            return false;
        }
        if error.is_conflict() {
            tracing::debug!(controller = name, ?key, retries, %error, "the object was changed meanwhile, the key is retried");
        } else {
            tracing::warn!(controller = name, ?key, retries, %error, "reconcile failed, the key is retried");
        }
        queue.add_rate_limited_with_priority(key.clone(), item.priority());
        true
    }
}

/// Counts a worker as active until dropped, so that aborted workers are counted too.
struct ActiveWorker<'m> {
    metrics: &'m Metrics,
    since: Instant,
}

impl Drop for ActiveWorker<'_> {
    fn drop(&mut self) {
        self.metrics.active_workers.dec();
        self.metrics.time.observe(self.since.elapsed().as_secs_f64());
    }
}

/// Returns the message of a panic, which is nearly always text.
fn panic_text(panic: &(dyn std::any::Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("no message")
}
