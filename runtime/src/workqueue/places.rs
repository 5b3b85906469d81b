//! Where each key of a queue is, for people.

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
        let (keys, total) = {
            let state = self.shared.lock();
            let mut all: Vec<(&T, Place)> = state.core.places().collect();
            all.sort_by_key(|(_, place)| place.order());
            let total = all.len();
            let first = all.into_iter().take(most).map(|(key, place)| (key.clone(), place));
            (first.collect::<Vec<_>>(), total)
        };
        let placed = |(key, place)| {
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
}
