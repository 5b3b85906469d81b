//! Sharding of a controller's keys: which keys this replica works on, which wait, and which are queued when it
//! gains them.

use std::collections::HashMap;
use std::convert::Infallible;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::sharding::{Begin, InWork, Ownership, Shard};
use crate::workqueue::{Item, LOW_PRIORITY, Queue, QueueKey};

/// Enumerates all keys that a cache has.
pub(super) type Source<T> = Arc<dyn Fn(&mut dyn FnMut(T)) + Send + Sync>;
/// Reports whether the cache of the primary kind contains an object.
pub(super) type IsOurs<T> = Arc<dyn Fn(&T) -> bool + Send + Sync>;
type Hash<T> = Box<dyn Fn(&T) -> u64 + Send + Sync>;

/// The sources of a controller, which may change while it runs.
pub(super) struct Sources<T>(Arc<Mutex<Numbered<T>>>);

struct Numbered<T> {
    next: u64,
    sources: Vec<(u64, Source<T>)>,
}

impl<T> Sources<T> {
    /// Adds a source; returns its number.
    pub(super) fn add(&self, source: Source<T>) -> u64 {
        let mut all = self.lock();
        let number = all.next;
        all.next += 1;
        all.sources.push((number, source));
        number
    }

    pub(super) fn remove(&self, number: u64) {
        self.lock().sources.retain(|(other, _)| *other != number);
    }

    fn all(&self) -> Vec<Source<T>> {
        self.lock().sources.iter().map(|(_, source)| source.clone()).collect()
    }

    fn lock(&self) -> MutexGuard<'_, Numbered<T>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T: QueueKey> Sources<T> {
    /// Queues the keys of all sources that `is_wanted` accepts.
    pub(super) fn queue_all(&self, queue: &Queue<T>, is_wanted: impl Fn(&T) -> bool) {
        for source in self.all() {
            let named = catch_unwind(AssertUnwindSafe(|| {
                source(&mut |key| {
                    if is_wanted(&key) {
                        queue.add_with_priority(key, LOW_PRIORITY);
                    }
                });
            }));
            if named.is_err() {
                tracing::error!(queue = queue.name(), "a mapping panicked; keys may be missing");
            }
        }
    }
}

impl<T> Default for Sources<T> {
    fn default() -> Self {
        Sources(Arc::new(Mutex::new(Numbered { next: 0, sources: Vec::new() })))
    }
}

impl<T> Clone for Sources<T> {
    fn clone(&self) -> Self {
        Sources(self.0.clone())
    }
}

/// The assignment of a controller's keys to replicas, if there is one.
pub(super) struct Sharing<T> {
    pub(super) shard: Option<Shard>,
    /// The filter of keys if the cache contains only the objects of a shard.
    pub(super) is_ours: Option<IsOurs<T>>,
    pub(super) hash: Option<Hash<T>>,
    pub(super) sources: Sources<T>,
}

impl<T> Default for Sharing<T> {
    fn default() -> Self {
        Sharing { shard: None, is_ours: None, hash: None, sources: Sources::default() }
    }
}

/// A controller's membership in a group.
pub(super) struct Sharded<T> {
    shard: Shard,
    hash: Hash<T>,
    sources: Sources<T>,
    /// Keys that this replica may gain, with their priorities. The lock is only held for a change.
    parked: Mutex<HashMap<T, i32>>,
}

/// The reason why a controller cannot share its keys.
pub(super) enum NotShared {
    /// It has no function that assigns keys to shares.
    NoHash,
    /// Its cache is sharded.
    Twice,
}

impl<T: QueueKey> Sharing<T> {
    /// `None` if the controller works on every key.
    pub(super) fn into_sharded(self) -> Result<Option<Sharded<T>>, NotShared> {
        let Sharing { shard, is_ours, hash, sources } = self;
        let Some(shard) = shard else { return Ok(None) };
        if is_ours.is_some() {
            return Err(NotShared::Twice);
        }
        let hash = hash.ok_or(NotShared::NoHash)?;
        Ok(Some(Sharded { shard, hash, sources, parked: Mutex::default() }))
    }
}

impl<T: QueueKey> Sharded<T> {
    /// Begins to work on the key, if this replica owns it.
    pub(super) fn begin(&self, item: &Item<'_, T>, queue: &Queue<T>) -> Option<InWork> {
        match self.shard.begin((self.hash)(item.key())) {
            Begin::Begun(in_work) => Some(in_work),
            Begin::Foreign => {
                queue.forget(item.key());
                None
            }
            Begin::Later(changes) => {
                self.park(item);
                // The change that the key waits for may have been handled before the key was parked.
                if self.shard.ownership().0 != changes {
                    self.unpark(queue);
                }
                None
            }
        }
    }

    /// Keeps the key until the share changes.
    pub(super) fn park(&self, item: &Item<'_, T>) {
        self.parked().insert(item.key().clone(), item.priority());
    }

    fn unpark(&self, queue: &Queue<T>) {
        let parked = std::mem::take(&mut *self.parked());
        for (key, priority) in parked {
            queue.add_with_priority(key, priority);
        }
    }

    /// Queues the keys that this replica gains, until it is dropped.
    pub(super) async fn follow(&self, queue: &Queue<T>) -> Infallible {
        let mut changes = self.shard.changes();
        let mut known = 0;
        let mut before: Option<Arc<Ownership>> = None;
        loop {
            let (version, after) = self.shard.ownership();
            if version > known + 1 {
                // Keys may have been lost between the two changes.
                before = None;
            }
            self.unpark(queue);
            if let Some(after) = &after {
                self.sources.queue_all(queue, |key| {
                    let key = (self.hash)(key);
                    let was_ours = before.as_ref().is_some_and(|before| before.allows(key));
                    after.allows(key) && !was_ours
                });
            }
            (known, before) = (version, after);
            // The sender lives as long as the shard.
            let _ = changes.wait_for(|version| *version > known).await;
        }
    }

    fn parked(&self) -> MutexGuard<'_, HashMap<T, i32>> {
        self.parked.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
