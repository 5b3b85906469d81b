//! A worker's wait for a key, and its result.

use std::fmt;
use std::future::Future;
use std::ops::Deref;
use std::pin::Pin;
use std::task::{Context, Poll, Waker, ready};
use std::time::{Duration, Instant};

use tokio::time::Sleep;
use tracing::Span;

use super::core::{Popped, SlotId};
use super::queue::{Idle, Queue, QueueKey, wake};
use super::trace::Waiting;

/// Waits for a key; made by [`Queue::get`].
#[must_use = "futures do nothing unless polled"]
pub struct Get<'q, T: QueueKey> {
    queue: &'q Queue<T>,
    /// This future's number among the idle workers, once it had to wait.
    worker: Option<u64>,
    sleep: Option<Pin<Box<Sleep>>>,
}

/// The result of one attempt to take a key.
enum Attempt<'q, T: QueueKey> {
    Key(Item<'q, T>),
    Closed,
    /// No key is ready; with a deadline, this worker keeps the timer.
    Wait(Option<Instant>),
}

impl<'q, T: QueueKey> Get<'q, T> {
    pub(super) fn new(queue: &'q Queue<T>) -> Self {
        Get { queue, worker: None, sleep: None }
    }

    fn attempt(&mut self, waker: &Waker) -> Attempt<'q, T> {
        let shared = &self.queue.shared;
        let now = shared.metrics_now();
        let mut state = shared.lock();
        let ready = state.promote();
        if let Some((popped, waiting)) = state.pop(now) {
            let timer = self.worker.take().and_then(|worker| {
                state.leave(worker);
                state.waker_for_timer()
            });
            wake(state, ready.saturating_sub(1));
            timer.into_iter().for_each(Waker::wake);
            shared.handed_out(popped.queued_at, now);
            return Attempt::Key(Item::new(self.queue, popped, waiting, now));
        }
        if state.core.is_shut_down() {
            if let Some(worker) = self.worker.take() {
                state.leave(worker);
            }
            return Attempt::Closed;
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
        Attempt::Wait(deadline.filter(|_| on_duty))
    }
}

impl<'q, T: QueueKey> Future for Get<'q, T> {
    type Output = Option<Item<'q, T>>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let progress = ready!(tokio::task::coop::poll_proceed(context));
        loop {
            match self.attempt(context.waker()) {
                Attempt::Key(item) => {
                    progress.made_progress();
                    return Poll::Ready(Some(item));
                }
                Attempt::Closed => {
                    progress.made_progress();
                    return Poll::Ready(None);
                }
                Attempt::Wait(None) => {
                    self.sleep = None;
                    return Poll::Pending;
                }
                Attempt::Wait(Some(deadline)) => {
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

/// A key in processing. Dropping it ends the processing, so that the key may be handed out again.
///
/// Dereferences to the key.
#[must_use = "dropping the item ends its processing"]
pub struct Item<'q, T: QueueKey> {
    queue: &'q Queue<T>,
    slot: SlotId,
    priority: i32,
    waited: Option<Duration>,
    wait: Span,
    key: T,
}

impl<'q, T: QueueKey> Item<'q, T> {
    pub(super) fn new(
        queue: &'q Queue<T>,
        popped: Popped<T>,
        waiting: Option<Waiting>,
        now: Option<Instant>,
    ) -> Self {
        let waited = now.zip(popped.queued_at).map(|(now, since)| now.saturating_duration_since(since));
        let wait = waiting.map_or_else(Span::none, Waiting::end);
        Item { queue, slot: popped.slot, priority: popped.priority, waited, wait, key: popped.key }
    }

    /// Returns the key.
    pub fn key(&self) -> &T {
        &self.key
    }

    /// Returns the priority with which the key was handed out.
    pub fn priority(&self) -> i32 {
        self.priority
    }

    /// Returns how long the key waited since it became ready; `None` for a queue without metrics.
    pub(crate) fn waited(&self) -> Option<Duration> {
        self.waited
    }

    /// Returns the span of the wait; disabled unless a traced change queued the key.
    pub(crate) fn wait(&self) -> &Span {
        &self.wait
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

impl<T: QueueKey + fmt::Debug> fmt::Debug for Item<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Item").field(&self.key).finish()
    }
}
