//! Sharding of a controller's keys: which keys this replica works on, which wait, and which are queued when it
//! gains them.

use std::collections::HashMap;
use std::convert::Infallible;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, PoisonError};

use crate::sharding::{Begin, InWork, Ownership, Shard};
use crate::workqueue::{Item, LOW_PRIORITY, Queue, QueueKey};

/// Enumerates all keys that a cache has.
pub(super) type Source<T> = Box<dyn Fn(&mut dyn FnMut(T)) + Send + Sync>;
type Hash<T> = Box<dyn Fn(&T) -> u64 + Send + Sync>;

/// The assignment of a controller's keys to replicas, if there is one.
pub(super) struct Sharing<T> {
    pub(super) shard: Option<Shard>,
    /// Whether the cache contains only the objects of a shard.
    pub(super) has_sharded_cache: bool,
    pub(super) hash: Option<Hash<T>>,
    pub(super) sources: Vec<Source<T>>,
}

impl<T> Default for Sharing<T> {
    fn default() -> Self {
        Sharing { shard: None, has_sharded_cache: false, hash: None, sources: Vec::new() }
    }
}

/// A controller's membership in a group.
pub(super) struct Sharded<T> {
    shard: Shard,
    hash: Hash<T>,
    sources: Vec<Source<T>>,
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
        let Sharing { shard, has_sharded_cache, hash, sources } = self;
        let Some(shard) = shard else { return Ok(None) };
        if has_sharded_cache {
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
                self.queue_all(queue, |key| {
                    let was_ours = before.as_ref().is_some_and(|before| before.allows(key));
                    after.allows(key) && !was_ours
                });
            }
            (known, before) = (version, after);
            // The sender lives as long as the shard.
            let _ = changes.wait_for(|version| *version > known).await;
        }
    }

    fn queue_all(&self, queue: &Queue<T>, is_gained: impl Fn(u64) -> bool) {
        for source in &self.sources {
            let named = catch_unwind(AssertUnwindSafe(|| {
                source(&mut |key| {
                    if is_gained((self.hash)(&key)) {
                        queue.add_with_priority(key, LOW_PRIORITY);
                    }
                });
            }));
            if named.is_err() {
                tracing::error!(
                    queue = queue.name(),
                    "a mapping panicked; keys that were gained may be missing"
                );
            }
        }
    }

    fn parked(&self) -> std::sync::MutexGuard<'_, HashMap<T, i32>> {
        self.parked.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
