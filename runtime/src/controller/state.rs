//! The state of a controller, for people.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use super::waiting::{KeyState, Phase, ReadKeys, Why, read_keys};
use crate::workqueue::{Placed, Queue, QueueKey};

/// The most keys with errors, and the most slow keys, that are remembered.
const MOST_KEYS: usize = 20;

/// The state of a running controller: its queue, the keys that fail, and those that take longest. Clones share it.
#[derive(Clone)]
pub struct ControllerState(Arc<Inner>);

struct Inner {
    name: String,
    workers: usize,
    queue: Box<dyn Fn() -> QueueState + Send + Sync>,
    keys: ReadKeys,
    /// Locked for a change or a copy, never while a reconciler runs.
    log: Mutex<Log>,
}

/// The sizes of a queue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct QueueState {
    /// Keys that wait for a worker.
    pub waiting: usize,
    /// Keys that a worker processes.
    pub processing: usize,
    /// Keys that wait for a delay.
    pub delayed: usize,
}

#[derive(Default)]
struct Log {
    phase: Phase,
    /// The keys in work, and since when.
    running: BTreeMap<String, Instant>,
    succeeded: u64,
    failed: u64,
    errors: BTreeMap<String, KeyError>,
    slowest: Vec<SlowKey>,
}

/// A key whose last reconcile failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyError {
    /// The key.
    pub key: String,
    /// The error of the last reconcile.
    pub message: String,
    /// The time of the failure.
    pub at: Instant,
    /// The number of failures since the last success.
    pub times: u64,
    /// Whether the key is queued again. Otherwise it waits for a change.
    pub retried: bool,
}

/// A key, and its longest reconcile.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SlowKey {
    /// The key.
    pub key: String,
    /// The duration of its longest reconcile.
    pub longest: Duration,
}

impl ControllerState {
    pub(super) fn new<T: QueueKey + fmt::Debug>(name: &str, workers: usize, queue: &Queue<T>) -> Self {
        let keys = read_keys(queue);
        let queue = queue.clone();
        let read = move || QueueState {
            waiting: queue.len(),
            processing: queue.processing(),
            delayed: queue.delayed(),
        };
        let log = Mutex::default();
        Self(Arc::new(Inner { name: name.to_owned(), workers, queue: Box::new(read), keys, log }))
    }

    /// Returns the controller's name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.0.name
    }

    /// Returns how many keys it reconciles at once.
    #[must_use]
    pub fn workers(&self) -> usize {
        self.0.workers
    }

    /// Returns the sizes of its queue now.
    #[must_use]
    pub fn queue(&self) -> QueueState {
        (self.0.queue)()
    }

    /// Returns how many reconciles have succeeded, and how many have failed.
    #[must_use]
    pub fn reconciles(&self) -> (u64, u64) {
        let log = self.log();
        (log.succeeded, log.failed)
    }

    /// Returns the keys whose last reconcile failed, the latest first: at most 20.
    #[must_use]
    pub fn errors(&self) -> Vec<KeyError> {
        let mut errors: Vec<KeyError> = self.log().errors.values().cloned().collect();
        errors.sort_by_key(|error| std::cmp::Reverse(error.at));
        errors
    }

    /// Returns the keys that took longest, the slowest first: at most 20.
    #[must_use]
    pub fn slowest(&self) -> Vec<SlowKey> {
        self.log().slowest.clone()
    }

    /// Returns the first `most` keys of the queue with the reasons for which they wait, and the number of all.
    pub(crate) fn keys(&self, most: usize) -> (Vec<KeyState>, usize) {
        let (keys, total) = (self.0.keys)(most);
        let log = self.log();
        let state = |Placed { key, place, requeues }: Placed<String>| {
            let since = log.running.get(&key).copied();
            let errors = log.errors.get(&key).map(|error| error.times);
            // Errors of some keys are forgotten if many fail.
            let errors = errors.or_else(|| (log.errors.len() < MOST_KEYS).then_some(0));
            KeyState { why: Why::new(place, requeues, since, errors), key }
        };
        (keys.into_iter().map(state).collect(), total)
    }

    /// Returns the controller's phase.
    pub(crate) fn phase(&self) -> Phase {
        self.log().phase.clone()
    }

    pub(super) fn enter(&self, phase: Phase) {
        self.log().phase = phase;
    }

    /// Records that a cache has been filled.
    pub(super) fn filled(&self, cache: &str) {
        if let Phase::Caches(pending) = &mut self.log().phase
            && let Some(at) = pending.iter().position(|name| name == cache)
        {
            pending.remove(at);
        }
    }

    /// Records that a worker has the key, until the result is dropped.
    pub(super) fn begin(&self, key: &impl fmt::Debug) -> InWork<'_> {
        let key = format!("{key:?}");
        self.log().running.insert(key.clone(), Instant::now());
        InWork { state: self, key }
    }

    /// Records how a reconcile ended, and whether the key is queued again.
    pub(super) fn note(&self, key: &impl fmt::Debug, took: Duration, error: Option<String>, retried: bool) {
        let key = format!("{key:?}");
        let mut log = self.log();
        log.note_time(&key, took);
        match error {
            None => {
                log.succeeded += 1;
                log.errors.remove(&key);
            }
            Some(message) => {
                log.failed += 1;
                log.note_error(key, message, retried);
            }
        }
    }

    fn log(&self) -> MutexGuard<'_, Log> {
        self.0.log.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A key in work.
pub(super) struct InWork<'a> {
    state: &'a ControllerState,
    key: String,
}

impl Drop for InWork<'_> {
    fn drop(&mut self) {
        self.state.log().running.remove(&self.key);
    }
}

impl Log {
    fn note_error(&mut self, key: String, message: String, retried: bool) {
        let times = self.errors.get(&key).map_or(0, |error| error.times) + 1;
        let error = KeyError { key: key.clone(), message, at: Instant::now(), times, retried };
        self.errors.insert(key, error);
        if self.errors.len() > MOST_KEYS {
            let oldest = self.errors.values().min_by_key(|error| error.at);
            if let Some(oldest) = oldest.map(|error| error.key.clone()) {
                self.errors.remove(&oldest);
            }
        }
    }

    fn note_time(&mut self, key: &str, took: Duration) {
        let is_slow = self.slowest.len() < MOST_KEYS
            || self.slowest.last().is_some_and(|fastest| took > fastest.longest);
        match self.slowest.iter_mut().find(|slow| slow.key == key) {
            Some(slow) => slow.longest = slow.longest.max(took),
            None if is_slow => self.slowest.push(SlowKey { key: key.to_owned(), longest: took }),
            None => return,
        }
        self.slowest.sort_by_key(|slow| std::cmp::Reverse(slow.longest));
        self.slowest.truncate(MOST_KEYS);
    }
}

impl fmt::Debug for ControllerState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ControllerState")
            .field("name", &self.0.name)
            .field("queue", &self.queue())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slowest_keys_and_latest_errors_are_kept() {
        let state = ControllerState::new("c", 1, &Queue::<u32>::new("c"));
        for key in 0..100_u32 {
            let took = Duration::from_millis(u64::from(key * 7 % 100));
            state.note(&key, took, Some(format!("error {key}")), true);
        }
        state.note(&99_u32, Duration::ZERO, Some("again".to_owned()), true);
        state.note(&98_u32, Duration::ZERO, None, false);
        assert_eq!(state.reconciles(), (1, 101));
        let slowest: Vec<u128> = state.slowest().iter().map(|slow| slow.longest.as_millis()).collect();
        assert_eq!(slowest, (80..100).rev().collect::<Vec<_>>());
        let errors = state.errors();
        assert_eq!((errors.len(), errors[0].key.as_str(), errors[0].times), (19, "99", 2));
        assert!(errors.iter().all(|error| error.key != "98"), "it has succeeded since");
    }
}
