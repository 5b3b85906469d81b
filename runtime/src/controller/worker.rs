//! The worker loop: tasks that take keys, reconcile them and put them back as the result demands.

use std::fmt;
use std::future::Future;
use std::panic::AssertUnwindSafe;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt;
use futures::future::{OptionFuture, join_all};
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep_until, timeout};
use tokio_util::sync::CancellationToken;

use super::error::ControllerError;
use super::metrics::Metrics;
use super::reconcile::{Action, ReconcileError, Reconciler};
use super::sharded::{NoHash, Sharded, Sharing, Source};
use super::state::ControllerState;
use crate::metrics::Registry;
use crate::sharding::Shard;
use crate::workqueue::{Item, Queue, QueueKey};

/// How long caches may take to fill (controller-runtime's `CacheSyncTimeout`).
const DEFAULT_CACHE_SYNC_TIMEOUT: Duration = Duration::from_secs(120);
/// How long workers may take to end (controller-runtime's `GracefulShutdownTimeout`).
const DEFAULT_SHUTDOWN_GRACE: Duration = Duration::from_secs(30);

type Ready = Pin<Box<dyn Future<Output = ()> + Send>>;

/// What must be filled before the first key is taken.
struct Cache {
    name: String,
    ready: Ready,
    /// Why it is not filled, if that is known.
    last_error: Box<dyn Fn() -> Option<String> + Send>,
}

/// Workers over a queue. See the [module](super).
pub struct Controller<R: Reconciler> {
    name: String,
    queue: Queue<R::Key>,
    reconciler: R,
    workers: usize,
    max_retries: Option<usize>,
    reconcile_timeout: Option<Duration>,
    caches: Vec<Cache>,
    cache_sync_timeout: Duration,
    shutdown_grace: Duration,
    registry: Option<Registry>,
    state: Option<ControllerState>,
    sharing: Sharing<R::Key>,
}

impl<R: Reconciler> Controller<R> {
    /// A controller called `name` with one worker, no reconcile timeout and endless retries.
    pub fn new(name: impl Into<String>, queue: Queue<R::Key>, reconciler: R) -> Self {
        Controller {
            name: name.into(),
            queue,
            reconciler,
            workers: 1,
            max_retries: None,
            reconcile_timeout: None,
            caches: Vec::new(),
            cache_sync_timeout: DEFAULT_CACHE_SYNC_TIMEOUT,
            shutdown_grace: DEFAULT_SHUTDOWN_GRACE,
            registry: None,
            state: None,
            sharing: Sharing::default(),
        }
    }

    /// A look at the controller while it runs. From the first call on it notes which keys fail and which take long.
    pub fn state(&mut self) -> ControllerState {
        let Controller { name, workers, queue, state, .. } = self;
        state.get_or_insert_with(|| ControllerState::new(name, *workers, queue)).clone()
    }

    /// How many keys are reconciled at a time; at least one.
    #[must_use]
    pub fn workers(mut self, workers: usize) -> Self {
        self.workers = workers.max(1);
        self
    }

    /// Gives a key up when it has failed and been retried this often. Without it a key is retried for ever.
    #[must_use]
    pub fn max_retries(mut self, retries: usize) -> Self {
        self.max_retries = Some(retries);
        self
    }

    /// Cuts a reconcile off after this time and counts it as an error.
    #[must_use]
    pub fn reconcile_timeout(mut self, timeout: Duration) -> Self {
        self.reconcile_timeout = Some(timeout);
        self
    }

    /// No key is taken before `ready` has ended; `cache` names it in errors. May be called several times.
    #[must_use]
    pub fn wait_for(
        self,
        cache: impl Into<String>,
        ready: impl Future<Output = ()> + Send + 'static,
    ) -> Self {
        self.wait_for_cache(cache.into(), ready, Box::new(|| None))
    }

    pub(super) fn wait_for_cache(
        mut self,
        name: String,
        ready: impl Future<Output = ()> + Send + 'static,
        last_error: Box<dyn Fn() -> Option<String> + Send>,
    ) -> Self {
        self.caches.push(Cache { name, ready: Box::pin(ready), last_error });
        self
    }

    /// How long the caches may take; 2 minutes unless told otherwise.
    #[must_use]
    pub fn cache_sync_timeout(mut self, timeout: Duration) -> Self {
        self.cache_sync_timeout = timeout;
        self
    }

    /// How long working off the queue may take after the stop, before workers are aborted; 30 s unless told
    /// otherwise.
    #[must_use]
    pub fn shutdown_grace(mut self, grace: Duration) -> Self {
        self.shutdown_grace = grace;
        self
    }

    /// Works only on the keys that `shard` gives to this replica; [`Manager::add`](crate::manager::Manager::add) calls
    /// it where the manager shares work. Others are dropped when they are taken from the queue.
    #[must_use]
    pub fn sharded(mut self, shard: &Shard) -> Self {
        self.sharing.shard = Some(shard.clone());
        self
    }

    /// The text by which a key is shared out, the same on every replica. A
    /// [`ControllerBuilder`](super::ControllerBuilder) has set it to `namespace/name`.
    #[must_use]
    pub fn shard_by(mut self, text: impl Fn(&R::Key) -> String + Send + Sync + 'static) -> Self {
        self.sharing.hash = Some(Box::new(move |key| Shard::hash(&text(key))));
        self
    }

    /// Names all keys there are: those that this replica gains are queued. May be called several times; a
    /// [`ControllerBuilder`](super::ControllerBuilder) has done so for each of its caches.
    ///
    /// ```
    /// use kubesmith_runtime::controller::{Action, Controller, reconcile_fn};
    /// use kubesmith_runtime::sharding::Sharding;
    /// use kubesmith_runtime::workqueue::Queue;
    ///
    /// # fn example(client: kube::Client) -> Result<(), Box<dyn std::error::Error>> {
    /// let sharding = Sharding::builder(client, "default", "zones", "pod-7f9c").build()?;
    /// let controller = Controller::new("zones", Queue::new("zones"), reconcile_fn(|zone: u32| async move {
    ///     println!("zone {zone} is ours");
    ///     Ok(Action::done())
    /// }))
    /// .sharded(&sharding.shard())
    /// .shard_by(u32::to_string)
    /// .keys_from(|queue| (0..100).for_each(queue));
    /// # let _ = controller;
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn keys_from(self, keys: impl Fn(&mut dyn FnMut(R::Key)) + Send + Sync + 'static) -> Self {
        self.keys_from_source(Box::new(keys))
    }

    pub(super) fn keys_from_source(mut self, source: Source<R::Key>) -> Self {
        self.sharing.sources.push(source);
        self
    }

    pub(super) fn shard_by_hash(mut self, hash: fn(&R::Key) -> u64) -> Self {
        self.sharing.hash = Some(Box::new(hash));
        self
    }

    /// Counts in `registry` under the names that start with `controller_runtime_`.
    #[must_use]
    pub fn metrics(mut self, registry: &Registry) -> Self {
        self.registry = Some(registry.clone());
        self
    }

    /// The controller's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The controller's queue.
    pub fn queue(&self) -> &Queue<R::Key> {
        &self.queue
    }

    /// Waits for the caches, works until `stop` is cancelled or the queue is shut down, works off what is queued,
    /// and returns when all workers have ended.
    ///
    /// # Errors
    ///
    /// [`ControllerError`]: caches that do not fill, workers that do not end in time, a panic outside of the
    /// reconciler. The queue is shut down and no worker is left in each case.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future aborts the workers at their next await.
    pub async fn run(self, stop: CancellationToken) -> Result<(), ControllerError> {
        let Controller { name, queue, workers, registry, shutdown_grace, .. } = self;
        // Whatever ends the run, nobody will take keys after it.
        let _shut_down = ShutDownOnDrop(&queue);
        let sharded = self.sharing.into_sharded();
        let sharded = sharded.map_err(|NoHash| ControllerError::NotShardable { controller: name.clone() })?;
        if !wait_for_caches(&name, self.caches, self.cache_sync_timeout, &stop).await? {
            return Ok(());
        }
        let shared = Arc::new(Shared {
            name: name.clone(),
            queue: queue.clone(),
            reconciler: self.reconciler,
            max_retries: self.max_retries,
            reconcile_timeout: self.reconcile_timeout,
            metrics: registry.map(|registry| Metrics::register(&registry, &name, workers)),
            state: self.state,
            sharded,
        });
        let mut tasks = JoinSet::new();
        for _ in 0..workers {
            tasks.spawn(work(shared.clone()));
        }
        tracing::info!(controller = name, workers, "controller started");
        let follow = OptionFuture::from(shared.sharded.as_ref().map(|sharded| sharded.follow(&queue)));
        let result = tokio::select! {
            result = supervise(&name, &queue, &mut tasks, &stop, shutdown_grace) => result,
            Some(never) = follow => match never {},
        };
        tracing::info!(controller = name, "controller stopped");
        result
    }
}

/// False if it was stopped meanwhile.
async fn wait_for_caches(
    controller: &str,
    caches: Vec<Cache>,
    limit: Duration,
    stop: &CancellationToken,
) -> Result<bool, ControllerError> {
    let mut pending: Vec<Option<Cache>> = caches.into_iter().map(Some).collect();
    let all = join_all(pending.iter_mut().map(|cache| async move {
        if let Some(waiting) = cache {
            waiting.ready.as_mut().await;
        }
        *cache = None;
    }));
    let in_time = tokio::select! {
        biased;
        () = stop.cancelled() => return Ok(false),
        result = timeout(limit, all) => result.is_ok(),
    };
    if in_time {
        return Ok(true);
    }
    let waiting = pending.into_iter().flatten().map(|cache| match (cache.last_error)() {
        Some(error) => format!("{} ({error})", cache.name),
        None => cache.name,
    });
    Err(ControllerError::CacheSyncTimeout {
        controller: controller.to_owned(),
        waiting_for: waiting.collect::<Vec<_>>().join(", "),
        waited: limit,
    })
}

struct ShutDownOnDrop<'q, T: QueueKey>(&'q Queue<T>);

impl<T: QueueKey> Drop for ShutDownOnDrop<'_, T> {
    fn drop(&mut self) {
        self.0.shut_down();
    }
}

/// What the workers of one controller share.
struct Shared<R: Reconciler> {
    name: String,
    queue: Queue<R::Key>,
    reconciler: R,
    max_retries: Option<usize>,
    reconcile_timeout: Option<Duration>,
    metrics: Option<Metrics>,
    state: Option<ControllerState>,
    sharded: Option<Sharded<R::Key>>,
}

/// Waits for the end of all workers; the stop shuts the queue down, which ends them.
async fn supervise<T: QueueKey>(
    name: &str,
    queue: &Queue<T>,
    tasks: &mut JoinSet<()>,
    stop: &CancellationToken,
    grace: Duration,
) -> Result<(), ControllerError> {
    let mut deadline: Option<Instant> = None;
    let mut result = Ok(());
    loop {
        tokio::select! {
            biased;
            () = stop.cancelled(), if deadline.is_none() => {
                queue.shut_down();
                deadline = Some(Instant::now() + grace);
            }
            ended = tasks.join_next() => match ended {
                None => return result,
                Some(Ok(())) => {}
                Some(Err(source)) => {
                    queue.shut_down();
                    deadline.get_or_insert_with(|| Instant::now() + grace);
                    result = Err(ControllerError::WorkerPanicked { controller: name.to_owned(), source });
                }
            },
            () = sleep_until(deadline.unwrap_or_else(Instant::now)), if deadline.is_some() => {
                let (in_work, queued) = (queue.processing(), queue.len());
                tasks.shutdown().await;
                return Err(ControllerError::ShutdownTimeout { controller: name.to_owned(), in_work, queued, grace });
            }
        }
    }
}

/// One worker: ends when the queue is shut down and empty.
async fn work<R: Reconciler>(shared: Arc<Shared<R>>) {
    while let Some(item) = shared.queue.get().await {
        shared.process(&item).await;
    }
}

/// How a reconcile ended.
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
    async fn process(&self, item: &Item<'_, R::Key>) {
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
            metrics.active_workers.add(1.0);
            ActiveWorker { metrics, since: Instant::now() }
        });
        let since = self.state.as_ref().map(|state| (state, Instant::now()));
        let outcome = self.reconcile(item.key()).await;
        drop(start);
        if let Some((state, since)) = since {
            state.note(item.key(), since.elapsed(), outcome.error().map(ToString::to_string));
        }
        self.count(&outcome);
        self.requeue(item, outcome);
    }

    async fn reconcile(&self, key: &R::Key) -> Outcome {
        // A reconciler that panicked is called again: what it shares must be as sound as after an error.
        let guarded = AssertUnwindSafe(async { self.reconciler.reconcile(key).await }).catch_unwind();
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

    fn count(&self, outcome: &Outcome) {
        let Some(metrics) = &self.metrics else { return };
        match outcome {
            Outcome::Done(action) if action.requeue_delay() == Some(Duration::ZERO) => metrics.requeue.inc(),
            Outcome::Done(action) if action.requeue_delay().is_some() => metrics.requeue_after.inc(),
            Outcome::Done(_) => metrics.success.inc(),
            Outcome::Failed(error) if error.is_terminal() => metrics.terminal_errors.inc(),
            Outcome::Failed(_) => {}
            Outcome::Panicked(_) => metrics.panics.inc(),
            Outcome::TimedOut(_) => metrics.timeouts.inc(),
        }
        if !matches!(outcome, Outcome::Done(_)) {
            metrics.error.inc();
            metrics.errors.inc();
        }
    }

    fn requeue(&self, item: &Item<'_, R::Key>, outcome: Outcome) {
        let Shared { name, queue, max_retries, .. } = self;
        let key = item.key();
        let error = match outcome {
            Outcome::Done(action) => {
                queue.forget(key);
                if let Some(delay) = action.requeue_delay() {
                    let priority = action.priority().unwrap_or(item.priority());
                    queue.add_after_with_priority(key.clone(), delay, priority);
                }
                return;
            }
            Outcome::Failed(error) | Outcome::Panicked(error) | Outcome::TimedOut(error) => error,
        };
        if error.is_terminal() {
            tracing::error!(controller = name, ?key, %error, "reconcile failed for good, the key is not retried");
            return queue.forget(key);
        }
        let retries = queue.num_requeues(key);
        if max_retries.is_some_and(|most| retries >= most) {
            tracing::error!(controller = name, ?key, retries, %error, "reconcile failed too often, the key is dropped");
            return queue.forget(key);
        }
        if error.is_conflict() {
            tracing::debug!(controller = name, ?key, retries, %error, "the object was changed meanwhile, the key is retried");
        } else {
            tracing::warn!(controller = name, ?key, retries, %error, "reconcile failed, the key is retried");
        }
        queue.add_rate_limited_with_priority(key.clone(), item.priority());
    }
}

/// Counts one worker as active while it lives, so also when it is aborted.
struct ActiveWorker<'m> {
    metrics: &'m Metrics,
    since: Instant,
}

impl Drop for ActiveWorker<'_> {
    fn drop(&mut self) {
        self.metrics.active_workers.add(-1.0);
        self.metrics.time.observe_duration(self.since.elapsed());
    }
}

/// The message of a panic, which is nearly always text.
fn panic_text(panic: &(dyn std::any::Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("no message")
}

impl<R: Reconciler> fmt::Debug for Controller<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Controller")
            .field("name", &self.name)
            .field("queue", &self.queue)
            .field("workers", &self.workers)
            .field("max_retries", &self.max_retries)
            .field("reconcile_timeout", &self.reconcile_timeout)
            .finish_non_exhaustive()
    }
}
