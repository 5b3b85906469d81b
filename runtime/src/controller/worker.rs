//! A controller's life: it waits for caches, runs its workers and ends them.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

use futures::future::{OptionFuture, join_all};
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep_until, timeout};
use tokio_util::sync::CancellationToken;

use super::error::ControllerError;
use super::metrics::Metrics;
use super::process::{ErrorPolicy, Shared};
use super::reconcile::{Action, ReconcileError, Reconciler};
use super::sharded::{IsOurs, NotShared, Sharing, Source};
use super::state::ControllerState;
use super::waiting::Phase;
use super::watches::Watches;
use crate::cache::ObjectKey;
use crate::deadline::after;
use crate::metrics::Registry;
use crate::sharding::Shard;
use crate::workqueue::{Queue, QueueKey};

/// The time limit of filling caches (controller-runtime's `CacheSyncTimeout`).
const DEFAULT_CACHE_SYNC_TIMEOUT: Duration = Duration::from_secs(120);
/// The time limit of ending workers (controller-runtime's `GracefulShutdownTimeout`).
const DEFAULT_SHUTDOWN_GRACE: Duration = Duration::from_secs(30);

type Ready = Pin<Box<dyn Future<Output = ()> + Send>>;

/// A cache that must be filled before the first key is taken.
struct Cache {
    name: String,
    ready: Ready,
    /// The reason why it is not filled, if known.
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
    error_policy: Option<ErrorPolicy<R::Key>>,
    caches: Vec<Cache>,
    cache_sync_timeout: Duration,
    shutdown_grace: Duration,
    registry: Option<Registry>,
    state: Option<ControllerState>,
    sharing: Sharing<R::Key>,
}

impl<R: Reconciler> Controller<R> {
    /// Makes a controller with one worker, no reconcile timeout and unlimited retries.
    pub fn new(name: impl Into<String>, queue: Queue<R::Key>, reconciler: R) -> Self {
        Controller {
            name: name.into(),
            queue,
            reconciler,
            workers: 1,
            max_retries: None,
            reconcile_timeout: None,
            error_policy: None,
            caches: Vec::new(),
            cache_sync_timeout: DEFAULT_CACHE_SYNC_TIMEOUT,
            shutdown_grace: DEFAULT_SHUTDOWN_GRACE,
            registry: None,
            state: None,
            sharing: Sharing::default(),
        }
    }

    /// Returns the controller's state, which can be read while it runs. Failing and slow keys are recorded from the
    /// first call on.
    pub fn state(&mut self) -> ControllerState {
        let Controller { name, workers, queue, state, .. } = self;
        state.get_or_insert_with(|| ControllerState::new(name, *workers, queue)).clone()
    }

    /// Sets how many keys are reconciled at once; at least one.
    #[must_use]
    pub fn workers(mut self, workers: usize) -> Self {
        self.workers = workers.max(1);
        self
    }

    /// Drops a key after this many retries. By default a key is retried for ever.
    #[must_use]
    pub fn max_retries(mut self, retries: usize) -> Self {
        self.max_retries = Some(retries);
        self
    }

    /// Aborts a reconcile after this time and counts it as an error.
    #[must_use]
    pub fn reconcile_timeout(mut self, timeout: Duration) -> Self {
        self.reconcile_timeout = Some(timeout);
        self
    }

    /// Lets `policy` decide what follows a failed reconcile. `None` retries the key after the rate limiter's delay,
    /// as without a policy. An action resets the key's failures. [Terminal](ReconcileError::terminal) errors drop
    /// the key regardless.
    #[must_use]
    pub fn error_policy(
        mut self,
        policy: impl Fn(&R::Key, &ReconcileError) -> Option<Action> + Send + Sync + 'static,
    ) -> Self {
        self.error_policy = Some(Box::new(policy));
        self
    }

    /// Takes no key before `ready` has ended. `cache` names it in errors. May be called several times.
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

    /// Sets how long the caches may take to fill; 2 minutes by default.
    #[must_use]
    pub fn cache_sync_timeout(mut self, timeout: Duration) -> Self {
        self.cache_sync_timeout = timeout;
        self
    }

    /// Sets how long the queue may take to drain after the stop, before workers are aborted; 30 s by default.
    #[must_use]
    pub fn shutdown_grace(mut self, grace: Duration) -> Self {
        self.shutdown_grace = grace;
        self
    }

    /// Works only on the keys that `shard` assigns to this replica, and drops others when they are taken from the
    /// queue. [`Manager::add`](crate::manager::Manager::add) calls this if the manager shares work.
    #[must_use]
    pub fn sharded(mut self, shard: &Shard) -> Self {
        self.sharing.shard = Some(shard.clone());
        self
    }

    /// Sets the text by which keys are assigned, which must be the same on every replica. A
    /// [`ControllerBuilder`](super::ControllerBuilder) sets it to `namespace/name`.
    #[must_use]
    pub fn shard_by(mut self, text: impl Fn(&R::Key) -> String + Send + Sync + 'static) -> Self {
        self.sharing.hash = Some(Box::new(move |key| Shard::hash(&text(key))));
        self
    }

    /// Adds a function that enumerates all keys, so that those which this replica gains can be queued. May be
    /// called several times. A [`ControllerBuilder`](super::ControllerBuilder) calls it for each of its caches.
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
        self.keys_from_source(Arc::new(keys))
    }

    pub(super) fn keys_from_source(self, source: Source<R::Key>) -> Self {
        self.sharing.sources.add(source);
        self
    }

    pub(super) fn with_sharded_cache(mut self, is_ours: IsOurs<R::Key>) -> Self {
        self.sharing.is_ours = Some(is_ours);
        self
    }

    pub(super) fn shard_by_hash(mut self, hash: fn(&R::Key) -> u64) -> Self {
        self.sharing.hash = Some(Box::new(hash));
        self
    }

    /// Registers the metrics `controller_runtime_*` in `registry`.
    #[must_use]
    pub fn metrics(mut self, registry: &Registry) -> Self {
        self.registry = Some(registry.clone());
        self
    }

    /// Returns the controller's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns a handle that adds watches to the controller, before and while it runs.
    pub fn watches(&self) -> Watches
    where
        R: Reconciler<Key = ObjectKey>,
    {
        let Sharing { is_ours, sources, .. } = &self.sharing;
        Watches::new(self.queue.clone(), is_ours.clone(), sources.clone())
    }

    /// Returns the controller's queue.
    pub fn queue(&self) -> &Queue<R::Key> {
        &self.queue
    }

    /// Waits for the caches, works until `stop` is cancelled or the queue is shut down, drains the queue, and
    /// returns when all workers have ended.
    ///
    /// # Errors
    ///
    /// [`ControllerError`] if caches do not fill, workers do not end in time, or a worker panics outside of the
    /// reconciler. In each case the queue is shut down and no worker remains.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future aborts the workers at their next await.
    pub async fn run(self, stop: CancellationToken) -> Result<(), ControllerError> {
        let Controller { name, queue, workers, registry, shutdown_grace, .. } = self;
        // No worker takes keys after the run, however it ends.
        let _shut_down = ShutDownOnDrop(&queue);
        let state = self.state;
        let _ended = EndedOnDrop(state.as_ref());
        // Changes of other kinds queue only objects that the sharded cache has. It may have been filled after theirs.
        let of_shard = self.sharing.is_ours.is_some().then(|| self.sharing.sources.clone());
        let sharded = self.sharing.into_sharded();
        let sharded = sharded.map_err(|reason| match reason {
            NotShared::NoHash => ControllerError::NotShardable { controller: name.clone() },
            NotShared::Twice => ControllerError::ShardedTwice { controller: name.clone() },
        })?;
        if !wait_for_caches(&name, self.caches, self.cache_sync_timeout, state.as_ref(), &stop).await? {
            return Ok(());
        }
        if let Some(state) = &state {
            state.enter(Phase::Running);
        }
        if let Some(sources) = of_shard {
            sources.queue_all(&queue, |_| true);
        }
        let shared = Arc::new(Shared {
            name: name.clone(),
            queue: queue.clone(),
            reconciler: self.reconciler,
            max_retries: self.max_retries,
            reconcile_timeout: self.reconcile_timeout,
            error_policy: self.error_policy,
            metrics: registry.map(|registry| Metrics::register(&registry, &name, workers)),
            state: state.clone(),
            sharded,
            reconciles: AtomicU64::new(0),
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

/// Returns false if the controller was stopped meanwhile.
async fn wait_for_caches(
    controller: &str,
    caches: Vec<Cache>,
    limit: Duration,
    state: Option<&ControllerState>,
    stop: &CancellationToken,
) -> Result<bool, ControllerError> {
    if let Some(state) = state {
        state.enter(Phase::Caches(caches.iter().map(|cache| cache.name.clone()).collect()));
    }
    let mut pending: Vec<Option<Cache>> = caches.into_iter().map(Some).collect();
    let all = join_all(pending.iter_mut().map(|cache| async move {
        if let Some(waiting) = cache {
            waiting.ready.as_mut().await;
            state.iter().for_each(|state| state.filled(&waiting.name));
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

struct EndedOnDrop<'s>(Option<&'s ControllerState>);

impl Drop for EndedOnDrop<'_> {
    fn drop(&mut self) {
        self.0.iter().for_each(|state| state.enter(Phase::Ended));
    }
}

/// Waits until all workers end. A stop shuts the queue down, which ends them.
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
                deadline = Some(after(grace));
            }
            ended = tasks.join_next() => match ended {
                None => return result,
                Some(Ok(())) => {}
                Some(Err(source)) => {
                    queue.shut_down();
                    deadline.get_or_insert_with(|| after(grace));
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

/// Runs one worker until the queue is shut down and empty.
async fn work<R: Reconciler>(shared: Arc<Shared<R>>) {
    while let Some(item) = shared.queue.get().await {
        shared.process(&item).await;
    }
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
