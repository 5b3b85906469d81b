//! The queue's async shell: one lock around the [`Core`], and workers that wait without a task in between.
//!
//! Idle workers are a list of wakers under the same lock. An `add` that makes a key ready wakes one of them after it
//! releases the lock. One idle worker, the keeper, has a timer for the earliest deadline; a step that takes the keeper off
//! this duty wakes another idle worker for it. Keys are hashed before the lock is taken, except for traces.

use std::collections::HashMap;
use std::fmt;
use std::future::Future;
use std::hash::{BuildHasher, Hash, RandomState};
use std::sync::{Arc, PoisonError};
use std::task::Waker;
use std::time::{Duration, Instant};

use super::DEFAULT_PRIORITY;
use super::builder::QueueBuilder;
use super::core::{Added, Core, Popped, deadline};
use super::get::{Get, Item};
use super::limiter::RateLimiter;
use super::metrics::{Numbers, Times};
use super::trace::{self, Waiting};
use crate::sync::{Mutex, MutexGuard, Notify};

/// The type of the keys. A key is cloned each time it is handed out, so clones should be cheap. `Eq`, `Clone`,
/// `Drop`, and with traces `Hash` and the layers of the subscriber, run under the queue's lock and must not use the queue.
pub trait QueueKey: Eq + Hash + Clone + Send + 'static {}

impl<T: Eq + Hash + Clone + Send + 'static> QueueKey for T {}

/// A delaying, rate-limited queue of distinct keys. Clones share the queue.
///
/// See the [module](super) for the rules and an example.
pub struct Queue<T> {
    pub(super) shared: Arc<Shared<T>>,
}

pub(super) struct Shared<T> {
    pub(super) name: String,
    pub(super) hasher: RandomState,
    pub(super) limiter: Box<dyn RateLimiter<T>>,
    /// Durations for metrics; the clock is read for them only if this is set.
    pub(super) times: Option<Times>,
    pub(super) state: Mutex<State<T>>,
    /// Notified when a queue that is shut down runs empty.
    pub(super) drained: Notify,
}

/// Guarded by `Shared::state`; wakers are called after the lock is released.
pub(super) struct State<T> {
    pub(super) core: Core<T>,
    /// The keys whose wait is traced.
    traced: HashMap<T, Waiting>,
    pub(super) idle: Vec<Idle>,
    pub(super) next_worker: u64,
    /// The idle worker with an armed timer, and the deadline it is armed for.
    pub(super) keeper: Option<(u64, Instant)>,
    /// Delayed adds, which client-go counts as retries.
    retries: u64,
    /// `shut_down` has ended the wait of a drain.
    drain_called_off: bool,
}

pub(super) struct Idle {
    pub(super) worker: u64,
    pub(super) waker: Waker,
}

impl<T: QueueKey> Queue<T> {
    /// Makes a queue with the [default rate limiter](super::default_rate_limiter). `name` appears in metrics and
    /// logs.
    pub fn new(name: impl Into<String>) -> Self {
        Self::builder(name).build()
    }

    /// Starts the settings of a queue called `name`.
    pub fn builder(name: impl Into<String>) -> QueueBuilder<T> {
        QueueBuilder::new(name.into())
    }

    /// Returns the queue's name.
    pub fn name(&self) -> &str {
        &self.shared.name
    }

    /// Queues `item` unless it is waiting already.
    pub fn add(&self, item: T) {
        self.add_with_priority(item, DEFAULT_PRIORITY);
    }

    /// Queues `item`. Keys of a higher priority are handed out first. A waiting key gets the higher of both
    /// priorities.
    pub fn add_with_priority(&self, item: T, priority: i32) {
        let hash = self.shared.hasher.hash_one(&item);
        let now = self.shared.metrics_now();
        let cause = trace::cause().map(|cause| (item.clone(), cause));
        let mut state = self.shared.lock();
        // Before the key is added, so that a subscriber that panics leaves no key without a worker.
        if let Some((item, cause)) = cause.filter(|_| !state.core.is_shut_down()) {
            let waiting = state.traced.entry(item);
            waiting
                .and_modify(|waiting| waiting.add(&cause))
                .or_insert_with(|| Waiting::new(&self.shared.name, &cause));
        }
        let mut ready = state.promote();
        if state.core.add(hash, item, priority, now) == Added::Ready {
            ready += 1;
        }
        wake(state, ready);
    }

    /// Queues `item` after `delay`. Of several delays the earliest deadline counts. Adding the key without delay
    /// does not cancel the delay.
    pub fn add_after(&self, item: T, delay: Duration) {
        self.add_after_with_priority(item, delay, DEFAULT_PRIORITY);
    }

    /// As [`add_after`](Self::add_after), with the priority for after the delay.
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

    /// Counts a failure of `item` and queues it after the rate limiter's delay.
    pub fn add_rate_limited(&self, item: T) {
        self.add_rate_limited_with_priority(item, DEFAULT_PRIORITY);
    }

    /// As [`add_rate_limited`](Self::add_rate_limited), with the priority for after the delay.
    pub fn add_rate_limited_with_priority(&self, item: T, priority: i32) {
        let delay = self.shared.limiter.when(&item, now());
        self.add_after_with_priority(item, delay, priority);
    }

    /// Resets the failures of `item`, so that its next delay is the shortest again. The queue itself does not
    /// change.
    pub fn forget(&self, item: &T) {
        self.shared.limiter.forget(item);
    }

    /// Returns how often `item` was added rate-limited since the last [`forget`](Self::forget).
    pub fn num_requeues(&self, item: &T) -> usize {
        self.shared.limiter.num_requeues(item)
    }

    /// Waits for a key. Returns `None` if the queue is shut down and empty, so that the worker can end.
    ///
    /// # Cancel safety
    ///
    /// The future may be dropped at any time: it takes a key only when it returns it, and the wake-up of a dropped
    /// future passes to another worker.
    pub fn get(&self) -> Get<'_, T> {
        Get::new(self)
    }

    /// Takes a key if one is ready.
    pub fn try_get(&self) -> Option<Item<'_, T>> {
        let now = self.shared.metrics_now();
        let mut state = self.shared.lock();
        let ready = state.promote();
        let (popped, waiting) = state.pop(now)?;
        wake(state, ready.saturating_sub(1));
        self.shared.handed_out(popped.queued_at, now);
        Some(Item::new(self, popped, waiting, now))
    }

    /// Returns the number of keys that are ready. Keys in processing or delayed do not count.
    pub fn len(&self) -> usize {
        let mut state = self.shared.lock();
        let ready = state.promote();
        let len = state.core.len();
        wake(state, ready);
        len
    }

    /// Reports whether no key is ready.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the number of keys in processing.
    pub fn processing(&self) -> usize {
        self.shared.lock().core.processing()
    }

    /// Returns the number of delayed keys.
    pub fn delayed(&self) -> usize {
        self.shared.lock().core.delayed()
    }

    /// Ignores later adds and drops delayed keys. Ready keys are still handed out, then [`get`](Self::get) returns
    /// `None`. Ends the wait of [`shut_down_with_drain`](Self::shut_down_with_drain).
    pub fn shut_down(&self) {
        self.close(true);
        self.shared.drained.notify_waiters();
    }

    /// Shuts down and waits until every key that was ready or in processing is done. Workers must keep taking keys,
    /// or this never ends.
    ///
    /// # Cancel safety
    ///
    /// The call itself shuts the queue down; dropping the future only ends the wait.
    pub fn shut_down_with_drain(&self) -> impl Future<Output = ()> + Send + '_ {
        self.close(false);
        async move {
            loop {
                let mut notified = std::pin::pin!(self.shared.drained.notified());
                notified.as_mut().enable();
                let ended = {
                    let state = self.shared.lock();
                    state.drain_called_off || state.is_drained()
                };
                if ended {
                    return;
                }
                notified.await;
            }
        }
    }

    /// Reports whether the queue has been shut down.
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

impl<T> Shared<T> {
    pub(super) fn lock(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the time if metrics need it.
    pub(super) fn metrics_now(&self) -> Option<Instant> {
        self.times.as_ref().map(|_| now())
    }

    pub(super) fn handed_out(&self, queued_at: Option<Instant>, now: Option<Instant>) {
        if let (Some(times), Some(now)) = (&self.times, now) {
            times.handed_out(queued_at, now);
        }
    }
}

impl<T: QueueKey> Shared<T> {
    /// Returns the numbers of ready keys by priority.
    pub(super) fn depths(&self) -> Vec<(i32, usize)> {
        let mut state = self.lock();
        let ready = state.promote();
        let depths = state.core.depths();
        wake(state, ready);
        depths
    }

    pub(super) fn numbers(&self) -> Numbers {
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
    pub(super) fn new() -> Self {
        State {
            core: Core::new(),
            traced: HashMap::new(),
            idle: Vec::new(),
            next_worker: 0,
            keeper: None,
            retries: 0,
            drain_called_off: false,
        }
    }

    pub(super) fn is_drained(&self) -> bool {
        self.core.is_shut_down() && self.core.len() == 0 && self.core.processing() == 0
    }

    /// Hands out a key, with its wait if that is traced.
    pub(super) fn pop(&mut self, now: Option<Instant>) -> Option<(Popped<T>, Option<Waiting>)> {
        let popped = self.core.pop(now)?;
        let waiting = if self.traced.is_empty() { None } else { self.traced.remove(&popped.key) };
        Some((popped, waiting))
    }

    /// Makes due keys ready. The clock is only read while keys are delayed.
    pub(super) fn promote(&mut self) -> usize {
        if self.core.delayed() == 0 { 0 } else { self.core.promote(now()) }
    }

    /// Returns a worker to wake because a key is ready; the keeper is the last choice.
    fn take_idle(&mut self) -> Option<Waker> {
        let keeper = self.keeper.map(|(worker, _)| worker);
        let last = self.idle.len().checked_sub(1)?;
        let at = if last > 0 && Some(self.idle[last].worker) == keeper { last - 1 } else { last };
        Some(self.idle.swap_remove(at).waker)
    }

    /// Returns a worker to wake because its timer is too late, or because no idle worker has a timer.
    pub(super) fn waker_for_timer(&mut self) -> Option<Waker> {
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

    /// Removes `worker` from the idle workers and from the timer; returns whether it was idle.
    pub(super) fn leave(&mut self, worker: u64) -> bool {
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

/// Wakes idle workers for `ready` keys, after releasing the lock.
pub(super) fn wake<T: QueueKey>(mut state: MutexGuard<'_, State<T>>, ready: usize) {
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
