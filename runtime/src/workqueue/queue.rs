//! The queue's async shell: one lock around the [`Core`], and workers that wait without a task in between.
//!
//! Idle workers are a list of wakers under the same lock. An `add` that makes a key ready wakes one of them after
//! the lock is gone. One idle worker, the keeper, has a timer armed for the earliest deadline; whoever takes the
//! keeper off duty wakes another one for it. Keys are hashed before the lock is taken.

use std::fmt;
use std::future::Future;
use std::hash::{BuildHasher, Hash, RandomState};
use std::ops::Deref;
use std::pin::Pin;
use std::sync::{Arc, PoisonError, Weak};
use std::task::{Context, Poll, Waker, ready};
use std::time::{Duration, Instant};

use tokio::time::Sleep;

use super::DEFAULT_PRIORITY;
use super::core::{Added, Core, SlotId, deadline};
use super::limiter::{RateLimiter, default_rate_limiter};
use super::metrics::{Numbers, Times};
use crate::metrics::Registry;
use crate::sync::{Mutex, MutexGuard, Notify};

/// What can be queued. Keys are cloned once each time they are handed out, so they should be cheap to clone.
/// Their `Eq`, `Clone` and `Drop` run under the queue's lock and must not use the queue.
pub trait QueueKey: Eq + Hash + Clone + Send + 'static {}

impl<T: Eq + Hash + Clone + Send + 'static> QueueKey for T {}

/// A delaying, rate-limited queue of distinct keys. Clones share the queue.
///
/// See the [module](super) for the rules and an example.
pub struct Queue<T> {
    shared: Arc<Shared<T>>,
}

struct Shared<T> {
    name: String,
    hasher: RandomState,
    limiter: Box<dyn RateLimiter<T>>,
    /// Where given, the clock is read at each step of a key.
    times: Option<Times>,
    state: Mutex<State<T>>,
    /// Told when a shut down queue has run empty.
    drained: Notify,
}

/// Guarded by `Shared::state`; wakers are called after the lock is gone.
struct State<T> {
    core: Core<T>,
    idle: Vec<Idle>,
    next_worker: u64,
    /// The idle worker with an armed timer, and the deadline it is armed for.
    keeper: Option<(u64, Instant)>,
    /// Delayed adds, which is what client-go counts as retries.
    retries: u64,
    /// Whether `shut_down` has called off a drain.
    drain_called_off: bool,
}

struct Idle {
    worker: u64,
    waker: Waker,
}

/// Settings of a [`Queue`].
pub struct QueueBuilder<T> {
    name: String,
    limiter: Option<Box<dyn RateLimiter<T>>>,
    registry: Option<Registry>,
}

impl<T: QueueKey> QueueBuilder<T> {
    /// Replaces [`default_rate_limiter`].
    #[must_use]
    pub fn rate_limiter(mut self, limiter: impl RateLimiter<T> + 'static) -> Self {
        self.limiter = Some(Box::new(limiter));
        self
    }

    /// Counts in `registry` under the names that start with `workqueue_`. Without it no clock is read for metrics.
    #[must_use]
    pub fn metrics(mut self, registry: &Registry) -> Self {
        self.registry = Some(registry.clone());
        self
    }

    /// Makes the queue.
    pub fn build(self) -> Queue<T> {
        let state = State {
            core: Core::new(),
            idle: Vec::new(),
            next_worker: 0,
            keeper: None,
            retries: 0,
            drain_called_off: false,
        };
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
                state: Mutex::new(state),
                drained: Notify::new(),
            }
        });
        Queue { shared }
    }
}

impl<T: QueueKey> Queue<T> {
    /// A queue with the [default rate limiter](default_rate_limiter). `name` appears in metrics and logs.
    pub fn new(name: impl Into<String>) -> Self {
        Self::builder(name).build()
    }

    /// Settings for a queue called `name`.
    pub fn builder(name: impl Into<String>) -> QueueBuilder<T> {
        QueueBuilder { name: name.into(), limiter: None, registry: None }
    }

    /// The queue's name.
    pub fn name(&self) -> &str {
        &self.shared.name
    }

    /// Queues `item` unless it waits already.
    pub fn add(&self, item: T) {
        self.add_with_priority(item, DEFAULT_PRIORITY);
    }

    /// Queues `item`; keys of a higher priority are handed out first. A key that waits already gets the higher of
    /// both priorities.
    pub fn add_with_priority(&self, item: T, priority: i32) {
        let hash = self.shared.hasher.hash_one(&item);
        let now = self.shared.metrics_now();
        let mut state = self.shared.lock();
        let mut ready = state.promote();
        if state.core.add(hash, item, priority, now) == Added::Ready {
            ready += 1;
        }
        wake(state, ready);
    }

    /// Queues `item` when `delay` has passed. Of several delays the one that ends first counts; adding the key
    /// without delay meanwhile does not call off the delay.
    pub fn add_after(&self, item: T, delay: Duration) {
        self.add_after_with_priority(item, delay, DEFAULT_PRIORITY);
    }

    /// As [`add_after`](Self::add_after), with a priority for the time when the delay has passed.
    pub fn add_after_with_priority(&self, item: T, delay: Duration, priority: i32) {
        if delay.is_zero() {
            return self.add_with_priority(item, priority);
        }
        let hash = self.shared.hasher.hash_one(&item);
        let deadline = deadline(now(), delay);
        let mut state = self.shared.lock();
        if state.core.add_at(hash, item, priority, deadline) != Added::Ignored {
            state.retries += 1;
        }
        let waker = state.waker_for_timer();
        drop(state);
        waker.into_iter().for_each(Waker::wake);
    }

    /// Queues `item` after the delay that the rate limiter gives it, and counts the failure.
    pub fn add_rate_limited(&self, item: T) {
        self.add_rate_limited_with_priority(item, DEFAULT_PRIORITY);
    }

    /// As [`add_rate_limited`](Self::add_rate_limited), with a priority for the time when the delay has passed.
    pub fn add_rate_limited_with_priority(&self, item: T, priority: i32) {
        let delay = self.shared.limiter.when(&item, now());
        self.add_after_with_priority(item, delay, priority);
    }

    /// Forgets the failures of `item`, so that its next delay is the shortest again. Does not touch what is queued.
    pub fn forget(&self, item: &T) {
        self.shared.limiter.forget(item);
    }

    /// How often `item` was added rate-limited since it was forgotten.
    pub fn num_requeues(&self, item: &T) -> usize {
        self.shared.limiter.num_requeues(item)
    }

    /// Waits for a key. `None` means that the queue is shut down and empty: the worker can end.
    ///
    /// # Cancel safety
    ///
    /// The future may be dropped at any time: a key is only taken when it is returned, and a wake-up that was meant
    /// for a dropped future goes to another worker.
    pub fn get(&self) -> Get<'_, T> {
        Get { queue: self, worker: None, sleep: None }
    }

    /// Takes a key if one is ready.
    pub fn try_get(&self) -> Option<Item<'_, T>> {
        let now = self.shared.metrics_now();
        let mut state = self.shared.lock();
        let ready = state.promote();
        let popped = state.core.pop(now)?;
        wake(state, ready.saturating_sub(1));
        self.shared.handed_out(popped.queued_at, now);
        Some(Item { queue: self, slot: popped.slot, priority: popped.priority, key: popped.key })
    }

    /// How many keys wait to be handed out; those that are processed or delayed are not counted.
    pub fn len(&self) -> usize {
        let mut state = self.shared.lock();
        let ready = state.promote();
        let len = state.core.len();
        wake(state, ready);
        len
    }

    /// Whether no key waits to be handed out.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many keys are handed out and not done.
    pub fn processing(&self) -> usize {
        self.shared.lock().core.processing()
    }

    /// How many keys wait for a delay to pass.
    pub fn delayed(&self) -> usize {
        self.shared.lock().core.delayed()
    }

    /// Ignores what is added from now on and forgets what is delayed. Keys that are ready are still handed out, then
    /// [`get`](Self::get) returns `None`. Ends the waiting of [`shut_down_with_drain`](Self::shut_down_with_drain).
    pub fn shut_down(&self) {
        self.close(true);
        self.shared.drained.notify_waiters();
    }

    /// Shuts down and waits until every key that was ready or in work is done. Somebody must be taking the keys, or
    /// this never ends.
    ///
    /// # Cancel safety
    ///
    /// The queue is shut down by the call itself; dropping the future only ends the waiting.
    pub fn shut_down_with_drain(&self) -> Drain<'_, T> {
        self.close(false);
        Drain { queue: self }
    }

    /// Whether the queue has been shut down.
    pub fn is_shut_down(&self) -> bool {
        self.shared.lock().core.is_shut_down()
    }

    fn close(&self, call_off_drain: bool) {
        let mut state = self.shared.lock();
        state.promote();
        state.core.shut_down();
        state.drain_called_off = call_off_drain;
        let idle = std::mem::take(&mut state.idle);
        drop(state);
        idle.into_iter().for_each(|idle| idle.waker.wake());
    }
}

/// Waits for a drain to end; made by [`Queue::shut_down_with_drain`].
#[must_use = "the queue is shut down already, but nobody waits for its workers"]
pub struct Drain<'q, T> {
    queue: &'q Queue<T>,
}

impl<'q, T: QueueKey> IntoFuture for Drain<'q, T> {
    type Output = ();
    type IntoFuture = Pin<Box<dyn Future<Output = ()> + Send + 'q>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(async move {
            let shared = &self.queue.shared;
            loop {
                let mut notified = std::pin::pin!(shared.drained.notified());
                notified.as_mut().enable();
                let ended = {
                    let state = shared.lock();
                    state.drain_called_off || state.is_drained()
                };
                if ended {
                    return;
                }
                notified.await;
            }
        })
    }
}

impl<T> Shared<T> {
    fn lock(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The time, if it is wanted for metrics.
    fn metrics_now(&self) -> Option<Instant> {
        self.times.as_ref().map(|_| now())
    }

    fn handed_out(&self, queued_at: Option<Instant>, now: Option<Instant>) {
        if let (Some(times), Some(now)) = (&self.times, now) {
            times.handed_out(queued_at, now);
        }
    }
}

impl<T: QueueKey> Shared<T> {
    /// Keys that are ready, by priority.
    fn depths(&self) -> Vec<(i32, usize)> {
        let mut state = self.lock();
        let ready = state.promote();
        let depths = state.core.depths();
        wake(state, ready);
        depths
    }

    fn numbers(&self) -> Numbers {
        let now = now();
        let mut state = self.lock();
        let ready = state.promote();
        let numbers = state.core.started_at().fold(
            Numbers { adds: state.core.adds(), retries: state.retries, ..Numbers::default() },
            |numbers, started_at| {
                let running = now.saturating_duration_since(started_at);
                Numbers {
                    unfinished: numbers.unfinished + running,
                    longest_running: numbers.longest_running.max(running),
                    ..numbers
                }
            },
        );
        wake(state, ready);
        numbers
    }
}

impl<T: QueueKey> State<T> {
    fn is_drained(&self) -> bool {
        self.core.is_shut_down() && self.core.len() == 0 && self.core.processing() == 0
    }

    /// Makes due keys ready; the clock is only asked while keys are delayed.
    fn promote(&mut self) -> usize {
        if self.core.delayed() == 0 { 0 } else { self.core.promote(now()) }
    }

    /// A worker to wake because a key is ready, the keeper last.
    fn take_idle(&mut self) -> Option<Waker> {
        let keeper = self.keeper.map(|(worker, _)| worker);
        let last = self.idle.len().checked_sub(1)?;
        let at = if last > 0 && Some(self.idle[last].worker) == keeper { last - 1 } else { last };
        Some(self.idle.swap_remove(at).waker)
    }

    /// A worker to wake because its timer is armed too late, or because no idle worker has one armed.
    fn waker_for_timer(&mut self) -> Option<Waker> {
        let deadline = self.core.next_deadline()?;
        match self.keeper {
            Some((_, armed)) if armed <= deadline => None,
            Some((keeper, _)) => {
                let at = self.idle.iter().position(|idle| idle.worker == keeper)?;
                Some(self.idle.swap_remove(at).waker)
            }
            None => self.idle.pop().map(|idle| idle.waker),
        }
    }

    /// Takes `worker` out of the idle ones and off the timer. True if it had been waiting in the list.
    fn leave(&mut self, worker: u64) -> bool {
        if self.keeper.is_some_and(|(keeper, _)| keeper == worker) {
            self.keeper = None;
        }
        match self.idle.iter().position(|idle| idle.worker == worker) {
            Some(at) => {
                self.idle.swap_remove(at);
                true
            }
            None => false,
        }
    }
}

/// Wakes idle workers for `ready` keys, after the lock is gone.
fn wake<T: QueueKey>(mut state: MutexGuard<'_, State<T>>, ready: usize) {
    if ready == 0 || state.idle.is_empty() {
        return;
    }
    let first = state.take_idle();
    let others: Vec<Waker> = (1..ready).map_while(|_| state.take_idle()).collect();
    drop(state);
    first.into_iter().chain(others).for_each(Waker::wake);
}

fn now() -> Instant {
    tokio::time::Instant::now().into_std()
}

/// Waits for a key; made by [`Queue::get`].
#[must_use = "futures do nothing unless polled"]
pub struct Get<'q, T: QueueKey> {
    queue: &'q Queue<T>,
    /// This future's number among the idle workers, once it had to wait.
    worker: Option<u64>,
    sleep: Option<Pin<Box<Sleep>>>,
}

/// What one look at the queue gave.
enum Look<'q, T: QueueKey> {
    Key(Item<'q, T>),
    Closed,
    /// Nothing ready; with a deadline, this worker keeps the timer.
    Wait(Option<Instant>),
}

impl<'q, T: QueueKey> Get<'q, T> {
    fn look(&mut self, waker: &Waker) -> Look<'q, T> {
        let shared = &self.queue.shared;
        let now = shared.metrics_now();
        let mut state = shared.lock();
        let ready = state.promote();
        if let Some(popped) = state.core.pop(now) {
            let timer = self.worker.take().and_then(|worker| {
                state.leave(worker);
                state.waker_for_timer()
            });
            wake(state, ready.saturating_sub(1));
            timer.into_iter().for_each(Waker::wake);
            shared.handed_out(popped.queued_at, now);
            return Look::Key(Item {
                queue: self.queue,
                slot: popped.slot,
                priority: popped.priority,
                key: popped.key,
            });
        }
        if state.core.is_shut_down() {
            if let Some(worker) = self.worker.take() {
                state.leave(worker);
            }
            return Look::Closed;
        }
        let worker = match self.worker {
            Some(worker) => worker,
            None => {
                state.next_worker += 1;
                *self.worker.insert(state.next_worker)
            }
        };
        match state.idle.iter_mut().find(|idle| idle.worker == worker) {
            Some(idle) => idle.waker.clone_from(waker),
            None => state.idle.push(Idle { worker, waker: waker.clone() }),
        }
        let deadline = state.core.next_deadline();
        let on_duty = state.keeper.is_none_or(|(keeper, _)| keeper == worker);
        state.keeper = if on_duty { deadline.map(|deadline| (worker, deadline)) } else { state.keeper };
        Look::Wait(deadline.filter(|_| on_duty))
    }
}

impl<'q, T: QueueKey> Future for Get<'q, T> {
    type Output = Option<Item<'q, T>>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let progress = ready!(tokio::task::coop::poll_proceed(context));
        loop {
            match self.look(context.waker()) {
                Look::Key(item) => {
                    progress.made_progress();
                    return Poll::Ready(Some(item));
                }
                Look::Closed => {
                    progress.made_progress();
                    return Poll::Ready(None);
                }
                Look::Wait(None) => {
                    self.sleep = None;
                    return Poll::Pending;
                }
                Look::Wait(Some(deadline)) => {
                    let deadline = tokio::time::Instant::from_std(deadline);
                    let sleep =
                        self.sleep.get_or_insert_with(|| Box::pin(tokio::time::sleep_until(deadline)));
                    if sleep.deadline() != deadline {
                        sleep.as_mut().reset(deadline);
                    }
                    ready!(sleep.as_mut().poll(context));
                }
            }
        }
    }
}

impl<T: QueueKey> Drop for Get<'_, T> {
    fn drop(&mut self) {
        let Some(worker) = self.worker else { return };
        let mut state = self.queue.shared.lock();
        let was_woken = !state.leave(worker);
        let timer = state.waker_for_timer();
        let ready = usize::from(was_woken && state.core.len() > 0);
        wake(state, ready);
        timer.into_iter().for_each(Waker::wake);
    }
}

/// A key in work. Dropping it tells the queue that the key is done: it may be handed out again from then on.
///
/// Dereferences to the key.
#[must_use = "dropping the item ends its processing"]
pub struct Item<'q, T: QueueKey> {
    queue: &'q Queue<T>,
    slot: SlotId,
    priority: i32,
    key: T,
}

impl<T: QueueKey> Item<'_, T> {
    /// The key.
    pub fn key(&self) -> &T {
        &self.key
    }

    /// The priority with which the key was handed out.
    pub fn priority(&self) -> i32 {
        self.priority
    }

    /// Ends the processing; the same as dropping the item.
    pub fn done(self) {}
}

impl<T: QueueKey> Deref for Item<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.key
    }
}

impl<T: QueueKey> Drop for Item<'_, T> {
    fn drop(&mut self) {
        let shared = &self.queue.shared;
        let now = shared.metrics_now();
        let mut state = shared.lock();
        let (ready, started_at) = state.core.done(self.slot, now);
        let drained = state.is_drained();
        wake(state, usize::from(ready));
        if drained {
            shared.drained.notify_waiters();
        }
        if let (Some(times), Some(now)) = (&shared.times, now) {
            times.done(started_at, now);
        }
    }
}

impl<T> Clone for Queue<T> {
    fn clone(&self) -> Self {
        Queue { shared: self.shared.clone() }
    }
}

impl<T> fmt::Debug for Queue<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Queue").field("name", &self.shared.name).finish_non_exhaustive()
    }
}

impl<T: QueueKey + fmt::Debug> fmt::Debug for Item<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Item").field(&self.key).finish()
    }
}
