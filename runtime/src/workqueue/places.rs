//! The places of the keys of a queue, for people.

use std::time::Instant;

use super::queue::{Queue, QueueKey};

/// The place of a key in a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// A worker has it. It was added meanwhile if `again`, and has a delay if `until` is set.
    Processing { again: bool, until: Option<Instant> },
    /// It is ready, since this time if the queue keeps times.
    Ready { since: Option<Instant> },
    /// It is delayed until this time.
    Delayed { until: Instant },
}

impl Place {
    /// The order of a report: keys in work, ready ones, delayed ones by their time.
    fn order(self) -> (u8, Option<Instant>) {
        match self {
            Place::Processing { .. } => (0, None),
            Place::Ready { since } => (1, since),
            Place::Delayed { until } => (2, Some(until)),
        }
    }
}

/// A key, its place, and how often it was added rate-limited.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Placed<T> {
    pub(crate) key: T,
    pub(crate) place: Place,
    pub(crate) requeues: usize,
}

impl<T: QueueKey> Queue<T> {
    /// Returns the first `most` keys of the queue in a report's order, and the number of all.
    pub(crate) fn places(&self, most: usize) -> (Vec<Placed<T>>, usize) {
        let (mut keys, total) = {
            let state = self.shared.lock();
            let mut all: Vec<(usize, (&T, Place))> = state.core.places().enumerate().collect();
            let total = all.len();
            // A sort of all keys would hold the lock for longer.
            if most < total {
                all.select_nth_unstable_by_key(most, |(at, (_, place))| (place.order(), *at));
                all.truncate(most);
            }
            let first = all.into_iter().map(|(at, (key, place))| (at, key.clone(), place));
            (first.collect::<Vec<_>>(), total)
        };
        keys.sort_unstable_by_key(|(at, _, place)| (place.order(), *at));
        let placed = |(_, key, place)| {
            let requeues = self.num_requeues(&key);
            Placed { key, place, requeues }
        };
        (keys.into_iter().map(placed).collect(), total)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn places_are_in_the_order_of_a_report() {
        let queue = Queue::new("q");
        queue.add_after("late", Duration::from_secs(60));
        queue.add_rate_limited("soon");
        queue.add("taken");
        queue.add("taken later");
        let item = queue.try_get().unwrap();
        queue.add("taken");
        let (first, total) = queue.places(3);
        let keys: Vec<&str> = first.iter().map(|placed| placed.key).collect();
        assert_eq!((keys, total), (vec!["taken", "taken later", "soon"], 4));
        assert_eq!(first[0].place, Place::Processing { again: true, until: None });
        assert_eq!(first[1].place, Place::Ready { since: None });
        let now = tokio::time::Instant::now().into_std();
        assert_eq!(first[2].place, Place::Delayed { until: now + Duration::from_millis(5) });
        assert_eq!(first[2].requeues, 1);
        item.done();
    }

    #[test]
    fn first_keys_of_a_long_queue_are_in_the_order_of_their_slots() {
        let queue = Queue::new("q");
        (0..1000).for_each(|key| queue.add(key));
        for most in [0, 1, 10, 999, 1000, 1001] {
            let (first, total) = queue.places(most);
            let keys: Vec<usize> = first.iter().map(|placed| placed.key).collect();
            assert_eq!((keys, total), ((0..most.min(1000)).collect(), 1000));
        }
    }
}
