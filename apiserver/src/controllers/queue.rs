//! The work queue of the controllers: each key once, in order, now or at a time.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::time::Duration;

use tokio::time::Instant;

/// The delay after a first failure; it doubles with each further one.
const FIRST_DELAY: Duration = Duration::from_millis(5);
/// The longest delay after failures.
const LONGEST_DELAY: Duration = Duration::from_secs(10);

/// The queue of all controllers.
pub(super) struct Queue<C> {
    ready: BTreeSet<(C, String)>,
    later: BTreeMap<(C, String), Instant>,
    failures: BTreeMap<(C, String), u32>,
    /// Keys that continue when no other is ready.
    unfinished: VecDeque<(C, String)>,
}

impl<C> Default for Queue<C> {
    fn default() -> Self {
        Self {
            ready: BTreeSet::new(),
            later: BTreeMap::new(),
            failures: BTreeMap::new(),
            unfinished: VecDeque::new(),
        }
    }
}

impl<C: Copy + Ord> Queue<C> {
    pub(super) fn add(&mut self, controller: C, key: String) {
        let item = (controller, key);
        // Its own events must not move it forward.
        if !self.unfinished.contains(&item) {
            self.ready.insert(item);
        }
    }

    /// Returns the next key that is due.
    pub(super) fn next(&mut self, now: Instant) -> Option<(C, String)> {
        let due: Vec<(C, String)> =
            self.later.iter().filter(|(_, at)| **at <= now).map(|(item, _)| item.clone()).collect();
        for item in due {
            self.later.remove(&item);
            self.ready.insert(item);
        }
        self.ready.pop_first().or_else(|| self.unfinished.pop_front())
    }

    /// Returns the time when the next delayed key is due.
    pub(super) fn next_timer(&self) -> Option<Instant> {
        self.later.values().min().copied()
    }

    /// Marks a key as handled; `again` is when it is due again.
    pub(super) fn done(&mut self, controller: C, key: String, again: Option<Instant>) {
        let item = (controller, key);
        self.failures.remove(&item);
        match again {
            Some(at) => self.later.insert(item, at),
            None => self.later.remove(&item),
        };
    }

    /// Marks a key as handled in part, to continue after all others.
    pub(super) fn unfinished(&mut self, controller: C, key: String) {
        let item = (controller, key);
        self.failures.remove(&item);
        self.later.remove(&item);
        if !self.unfinished.contains(&item) {
            self.unfinished.push_back(item);
        }
    }

    /// Marks a key as failed, to be retried after a delay.
    pub(super) fn failed(&mut self, controller: C, key: String, now: Instant) {
        let item = (controller, key);
        let failures = self.failures.entry(item.clone()).or_default();
        let delay = FIRST_DELAY.saturating_mul(2_u32.saturating_pow(*failures)).min(LONGEST_DELAY);
        *failures += 1;
        self.later.insert(item, now + delay);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_returned_once_in_order_when_due() {
        let (mut queue, now) = (Queue::default(), Instant::now());
        for key in ["b", "a", "b"] {
            queue.add(1, key.to_owned());
        }
        assert_eq!(queue.next(now), Some((1, "a".to_owned())));
        assert_eq!(queue.next(now), Some((1, "b".to_owned())));
        assert_eq!(queue.next(now), None);
        let soon = now + Duration::from_secs(5);
        queue.done(1, "a".to_owned(), Some(soon));
        assert_eq!((queue.next(now), queue.next_timer()), (None, Some(soon)));
        assert_eq!(queue.next(soon), Some((1, "a".to_owned())));
        assert_eq!(queue.next_timer(), None);
    }

    #[test]
    fn unfinished_keys_are_requeued_behind_all_others() {
        let (mut queue, now) = (Queue::default(), Instant::now());
        queue.unfinished(1, "b".to_owned());
        queue.unfinished(1, "a".to_owned());
        for key in ["b", "c"] {
            queue.add(1, key.to_owned());
        }
        let order: Vec<String> = std::iter::from_fn(|| queue.next(now)).map(|(_, key)| key).collect();
        assert_eq!(order, ["c", "b", "a"]);
        queue.add(1, "b".to_owned());
        assert_eq!(queue.next(now), Some((1, "b".to_owned())));
    }

    #[test]
    fn failed_key_backs_off_exponentially() {
        let (mut queue, now) = (Queue::default(), Instant::now());
        for expected in [5, 10, 20] {
            queue.failed(1, "a".to_owned(), now);
            assert_eq!(queue.next_timer(), Some(now + Duration::from_millis(expected)));
        }
        for _ in 0..100 {
            queue.failed(1, "a".to_owned(), now);
        }
        assert_eq!(queue.next_timer(), Some(now + LONGEST_DELAY));
        queue.done(1, "a".to_owned(), None);
        queue.failed(1, "a".to_owned(), now);
        assert_eq!(queue.next_timer(), Some(now + FIRST_DELAY));
    }
}
