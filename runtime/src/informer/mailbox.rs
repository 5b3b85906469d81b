//! The changes that wait for one handler.
//!
//! Up to a limit, changes wait separately. Beyond it, a change is merged with the waiting change of the same
//! object, and an object that was added and deleted meanwhile is not delivered at all. The limit, the existing
//! objects and the objects that the handler knows bound the memory, however many names come and go. The order per
//! object is kept, and the last state is always delivered.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, PoisonError};

use hashbrown::HashMap;

use super::{Deleted, EventKind};
use crate::cache::ObjectKey;
use crate::sync::{Mutex, MutexGuard, Notify};

/// One call to make.
#[derive(Debug)]
pub(super) enum Delivery<K: ?Sized> {
    Add {
        key: ObjectKey,
        object: Arc<K>,
        initial: bool,
    },
    Update {
        key: ObjectKey,
        old: Arc<K>,
        new: Arc<K>,
    },
    Delete(Deleted<K>),
    /// A deletion merged with earlier changes. The handler knows an older state, so the last one is delivered
    /// first.
    Gone {
        deleted: Deleted<K>,
        known: Arc<K>,
    },
    /// The end of the handler's initial list.
    Synced,
}

impl<K: ?Sized> Delivery<K> {
    fn key(&self) -> Option<&ObjectKey> {
        match self {
            Self::Add { key, .. } | Self::Update { key, .. } => Some(key),
            Self::Delete(deleted) | Self::Gone { deleted, .. } => Some(deleted.key()),
            Self::Synced => None,
        }
    }

    /// Returns the kind of event and its object.
    pub(super) fn subject(&self) -> Option<(EventKind, ObjectKey)> {
        let kind = match self {
            Self::Add { .. } => EventKind::Add,
            Self::Update { .. } => EventKind::Update,
            Self::Delete(_) | Self::Gone { .. } => EventKind::Delete,
            Self::Synced => return None,
        };
        Some((kind, self.key()?.clone()))
    }

    /// Merges two deliveries, neither of which was made; `None` if they cancel out.
    fn then(self, later: Self) -> Option<Self> {
        Some(match (self, later) {
            (
                Self::Add { initial, .. },
                Self::Add { key, object, .. } | Self::Update { key, new: object, .. },
            ) => Self::Add { key, object, initial },
            // The handler has never seen the object.
            (Self::Add { .. }, Self::Delete(_)) => return None,
            (Self::Update { old, .. }, Self::Delete(deleted)) => Self::Gone { deleted, known: old },
            (
                Self::Gone { known: old, .. },
                Self::Add { key, object: new, .. } | Self::Update { key, new, .. },
            ) => Self::Update { key, old, new },
            (
                Self::Update { old, .. },
                Self::Add { key, object: new, .. } | Self::Update { key, new, .. },
            ) => Self::Update { key, old, new },
            // The handler knows the deleted object, and a new one has its name.
            (Self::Delete(gone), Self::Add { key, object: new, .. } | Self::Update { key, new, .. }) => {
                Self::Update { key, old: Arc::clone(gone.object()), new }
            }
            (_, later) => later,
        })
    }
}

impl<K: ?Sized> Clone for Delivery<K> {
    fn clone(&self) -> Self {
        match self {
            Self::Add { key, object, initial } => {
                Self::Add { key: key.clone(), object: Arc::clone(object), initial: *initial }
            }
            Self::Update { key, old, new } => {
                Self::Update { key: key.clone(), old: Arc::clone(old), new: Arc::clone(new) }
            }
            Self::Delete(deleted) => Self::Delete(deleted.clone()),
            Self::Gone { deleted, known } => {
                Self::Gone { deleted: deleted.clone(), known: Arc::clone(known) }
            }
            Self::Synced => Self::Synced,
        }
    }
}

pub(super) struct Mailbox<K: ?Sized> {
    /// Locked for a push or a swap, never while a handler runs.
    queue: Mutex<Queue<K>>,
    wake: Notify,
    limit: usize,
    merged: AtomicU64,
    /// Taken, and not yet handled.
    in_hand: AtomicUsize,
}

/// The waiting deliveries, in order; `None` where two changes have cancelled out.
pub(super) type Waiting<K> = VecDeque<Option<Delivery<K>>>;

struct Queue<K: ?Sized> {
    items: Waiting<K>,
    /// The number of `None` in `items`.
    holes: usize,
    /// The position in `items` of each object's last change; kept only while the queue exceeds its limit.
    last: Option<HashMap<ObjectKey, usize>>,
    closed: bool,
}

impl<K: ?Sized> Mailbox<K> {
    pub(super) fn new(limit: usize) -> Self {
        let queue = Queue { items: VecDeque::new(), holes: 0, last: None, closed: false };
        Self {
            queue: Mutex::new(queue),
            wake: Notify::new(),
            limit,
            merged: AtomicU64::new(0),
            in_hand: AtomicUsize::new(0),
        }
    }

    /// Adds the deliveries in order; returns how many have not been handled.
    pub(super) fn push_all(&self, deliveries: impl Iterator<Item = Delivery<K>>) -> usize {
        self.add(|queue| deliveries.map(|delivery| u64::from(queue.push(delivery, self.limit))).sum())
    }

    /// As [`Self::push_all`], for deliveries of distinct objects, such as those of a list. If nothing waits, none
    /// can be merged.
    pub(super) fn push_distinct(&self, deliveries: impl Iterator<Item = Delivery<K>>) -> usize {
        if !self.lock().items.is_empty() {
            return self.push_all(deliveries);
        }
        // Only the informer's task adds, so the queue is still empty.
        self.add(|queue| {
            queue.items.extend(deliveries.map(Some));
            0
        })
    }

    /// Calls `push`, which returns how many deliveries were merged.
    fn add(&self, push: impl FnOnce(&mut Queue<K>) -> u64) -> usize {
        let mut queue = self.lock();
        if queue.closed {
            return 0;
        }
        let before = queue.items.len();
        let merged = push(&mut queue);
        let waiting = queue.items.len();
        drop(queue);
        if merged > 0 {
            self.merged.fetch_add(merged, Ordering::Relaxed);
        }
        if waiting > before {
            self.wake.notify_one();
        }
        waiting + self.in_hand.load(Ordering::Relaxed)
    }

    /// Waits for deliveries and exchanges them for `spare`, which must be empty. Returns `None` once closed, even
    /// if deliveries wait.
    ///
    /// # Cancel safety
    /// If the future is dropped before it completes, nothing has been taken.
    pub(super) async fn take(&self, mut spare: Waiting<K>) -> Option<Waiting<K>> {
        loop {
            {
                let mut queue = self.lock();
                if queue.closed {
                    return None;
                }
                if !queue.items.is_empty() {
                    std::mem::swap(&mut queue.items, &mut spare);
                    queue.holes = 0;
                    queue.last = None;
                    self.in_hand.store(spare.len(), Ordering::Relaxed);
                    return Some(spare);
                }
            }
            self.wake.notified().await;
        }
    }

    /// Records how many of the taken deliveries have not been handled.
    pub(super) fn set_in_hand(&self, deliveries: usize) {
        self.in_hand.store(deliveries, Ordering::Relaxed);
    }

    /// Drops waiting deliveries and refuses new ones.
    pub(super) fn close(&self) {
        let dropped = {
            let mut queue = self.lock();
            queue.closed = true;
            queue.last = None;
            std::mem::take(&mut queue.items)
        };
        drop(dropped);
        self.wake.notify_one();
    }

    pub(super) fn is_closed(&self) -> bool {
        self.lock().closed
    }

    /// Returns the number of waiting changes.
    pub(super) fn waiting(&self) -> usize {
        let queue = self.lock();
        queue.items.len() - queue.holes
    }

    /// Returns the number of merged changes.
    pub(super) fn merged(&self) -> u64 {
        self.merged.load(Ordering::Relaxed)
    }

    fn lock(&self) -> MutexGuard<'_, Queue<K>> {
        // Under the lock, only an allocation can panic.
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<K: ?Sized> Queue<K> {
    /// Adds a delivery; returns whether it was merged.
    fn push(&mut self, delivery: Delivery<K>, limit: usize) -> bool {
        if self.items.len() < limit {
            self.items.push_back(Some(delivery));
            return false;
        }
        let items = &mut self.items;
        let last = self.last.get_or_insert_with(|| {
            let keyed = items.iter().enumerate();
            keyed.filter_map(|(place, item)| Some((item.as_ref()?.key()?.clone(), place))).collect()
        });
        let Some(key) = delivery.key().cloned() else {
            items.push_back(Some(delivery));
            return false;
        };
        let waiting = last.get(&key).and_then(|place| items.get_mut(*place));
        if let Some(waiting) = waiting
            && let Some(earlier) = waiting.take()
        {
            *waiting = earlier.then(delivery);
            if waiting.is_none() {
                last.remove(&key);
                self.holes += 1;
                self.close_holes();
            }
            return true;
        }
        last.insert(key, items.len());
        items.push_back(Some(delivery));
        false
    }

    /// Closes the gaps once half of the positions are empty, so that the cost per change is constant.
    fn close_holes(&mut self) {
        if self.holes * 2 > self.items.len() {
            self.items.retain(Option::is_some);
            self.holes = 0;
            self.last = None;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use futures::FutureExt;
    use proptest::prelude::*;

    use super::*;

    fn key(name: &str) -> ObjectKey {
        ObjectKey::cluster(name)
    }

    fn add(name: &str, state: u32) -> Delivery<u32> {
        Delivery::Add { key: key(name), object: Arc::new(state), initial: true }
    }

    fn update(name: &str, old: u32, new: u32) -> Delivery<u32> {
        Delivery::Update { key: key(name), old: Arc::new(old), new: Arc::new(new) }
    }

    fn delete(name: &str, last: u32) -> Delivery<u32> {
        Delivery::Delete(Deleted::Final { key: key(name), object: Arc::new(last) })
    }

    fn show(delivery: &Delivery<u32>) -> String {
        match delivery {
            Delivery::Add { key, object, .. } => format!("+{key}{object}"),
            Delivery::Update { key, old, new } => format!("{key}{old}>{new}"),
            Delivery::Delete(deleted) | Delivery::Gone { deleted, .. } => {
                format!("-{}{}", deleted.key(), deleted.object())
            }
            Delivery::Synced => "synced".to_owned(),
        }
    }

    fn told(waiting: &Waiting<u32>) -> Vec<String> {
        waiting.iter().flatten().map(show).collect()
    }

    async fn drained(limit: usize, deliveries: Vec<Delivery<u32>>) -> Vec<String> {
        let mailbox = Mailbox::new(limit);
        mailbox.push_all(deliveries.into_iter());
        told(&mailbox.take(VecDeque::new()).await.unwrap())
    }

    #[tokio::test]
    async fn deliveries_arrive_in_order_below_the_limit() {
        let all = vec![add("a", 1), update("a", 1, 2), delete("a", 2), add("a", 3)];
        assert_eq!(drained(4, all).await, ["+a1", "a1>2", "-a2", "+a3"]);
    }

    #[tokio::test]
    async fn last_state_of_every_object_arrives_beyond_the_limit() {
        let all = vec![
            add("a", 1),
            update("b", 1, 2),
            update("a", 1, 2),
            update("b", 2, 3),
            delete("a", 2),
            add("c", 1),
            Delivery::Synced,
            add("a", 9),
            delete("c", 1),
        ];
        assert_eq!(drained(1, all).await, ["b1>3", "synced", "+a9"]);
    }

    #[tokio::test]
    async fn list_waits_in_order_and_later_changes_are_merged_with_it() {
        let mailbox = Mailbox::new(1);
        mailbox.push_distinct([add("a", 1), add("b", 1), Delivery::Synced].into_iter());
        assert!(mailbox.lock().last.is_none(), "nothing had to be looked up");
        mailbox.push_distinct(std::iter::once(update("b", 1, 2)));
        mailbox.push_all(std::iter::once(update("a", 1, 2)));
        let waiting = mailbox.take(Waiting::new()).await.unwrap();
        let shown: Vec<String> = waiting.iter().flatten().map(show).collect();
        assert_eq!(shown, ["+a2", "+b2", "synced"]);
    }

    #[tokio::test]
    async fn memory_is_bounded_by_limit_and_objects() {
        let mailbox = Mailbox::new(8);
        for round in 0..1000 {
            let names = ["a", "b", "c"];
            mailbox.push_all(names.iter().map(|name| update(name, round, round + 1)));
        }
        assert!(mailbox.lock().items.len() <= 8 + 3);
        assert_eq!(mailbox.merged(), 3000 - mailbox.lock().items.len() as u64);
    }

    #[tokio::test]
    async fn short_lived_names_use_no_memory() {
        let mailbox = Mailbox::new(4);
        for number in 0..10_000 {
            let name = format!("n{number}");
            mailbox.push_all([add(&name, 1), update(&name, 1, 2), delete(&name, 2)].into_iter());
        }
        let places = mailbox.lock().items.len();
        let waiting = mailbox.waiting();
        assert!(places <= 12 && waiting <= 4, "{places} places, {waiting} deliveries");
        mailbox.push_all(std::iter::once(add("last", 7)));
        assert_eq!(told(&mailbox.take(VecDeque::new()).await.unwrap()).pop().unwrap(), "+last7");
    }

    /// Takes random changes of a cache in turns of random length.
    #[derive(Clone, Copy, Debug)]
    enum Step {
        Put(u8, u32),
        Delete(u8),
        Take,
    }

    fn steps() -> impl Strategy<Value = Vec<Step>> {
        let step = prop_oneof![
            6 => (0..5_u8, 0..1000_u32).prop_map(|(key, state)| Step::Put(key, state)),
            3 => (0..5_u8).prop_map(Step::Delete),
            2 => Just(Step::Take),
        ];
        proptest::collection::vec(step, 0..80)
    }

    /// The handler's model of the cache; it checks that deliveries are neither repeated nor out of order.
    fn tell(known: &mut BTreeMap<String, u32>, delivery: &Delivery<u32>) -> Result<(), TestCaseError> {
        match delivery {
            Delivery::Add { key, object, .. } => {
                prop_assert_eq!(known.insert(key.to_string(), **object), None, "added twice");
            }
            Delivery::Update { key, old, new } => {
                prop_assert_eq!(
                    known.insert(key.to_string(), **new),
                    Some(**old),
                    "an update of something else"
                );
            }
            Delivery::Delete(deleted) => {
                let last = known.remove(deleted.key().as_str());
                prop_assert!(last.is_some(), "deleted without having been there");
            }
            Delivery::Gone { deleted, known: state } => {
                prop_assert_eq!(known.remove(deleted.key().as_str()), Some(**state));
            }
            Delivery::Synced => {}
        }
        Ok(())
    }

    proptest! {
        #[test]
        fn deliveries_lead_to_the_last_state(steps in steps(), limit in 1..12_usize) {
            let mailbox = Mailbox::new(limit);
            let (mut cache, mut known) = (BTreeMap::new(), BTreeMap::new());
            let take = |known: &mut BTreeMap<String, u32>| {
                let Some(Some(taken)) = mailbox.take(VecDeque::new()).now_or_never() else { return Ok(()) };
                let told = taken.iter().flatten();
                prop_assert!(told.clone().count() <= limit + 5, "bounded by limit and objects");
                prop_assert!(taken.len() <= 2 * (limit + 5), "holes are closed");
                told.clone().try_for_each(|delivery| tell(known, delivery))
            };
            for step in steps {
                let delivery = match step {
                    Step::Put(key, state) => {
                        let name = key.to_string();
                        match cache.insert(name.clone(), state) {
                            None => add(&name, state),
                            Some(old) => update(&name, old, state),
                        }
                    }
                    Step::Delete(key) => match cache.remove(&key.to_string()) {
                        Some(last) => delete(&key.to_string(), last),
                        None => continue,
                    },
                    Step::Take => {
                        take(&mut known)?;
                        continue;
                    }
                };
                mailbox.push_all(std::iter::once(delivery));
            }
            take(&mut known)?;
            prop_assert_eq!(known, cache);
        }
    }

    #[tokio::test]
    async fn close_ends_the_wait() {
        let mailbox = Mailbox::<u32>::new(1);
        mailbox.push_all(std::iter::once(add("a", 1)));
        mailbox.close();
        mailbox.push_all(std::iter::once(add("a", 2)));
        assert!(mailbox.take(VecDeque::new()).await.is_none());
    }
}
