//! The store's one writer.

use std::fmt;
use std::sync::Arc;

use hashbrown::HashSet;

use super::index::{Function, Values};
use super::state::State;
use super::{ObjectKey, Store, Undecodable};

/// Writes to the store. There is one per store: it is not `Clone`.
pub struct StoreWriter<K> {
    store: Store<K>,
    /// The index functions as last seen, so that they run without the lock.
    functions: Vec<Function<K>>,
}

/// One difference between two states of the store.
#[derive(Debug)]
pub enum Change<K: ?Sized> {
    /// A new object.
    Added {
        /// Its key.
        key: ObjectKey,
        /// Its state.
        new: Arc<K>,
    },
    /// Another state of a known object.
    Updated {
        /// Its key.
        key: ObjectKey,
        /// The former state.
        old: Arc<K>,
        /// The present state.
        new: Arc<K>,
    },
    /// An object that is gone.
    Deleted {
        /// Its key.
        key: ObjectKey,
        /// The last state the store knew.
        last: Arc<K>,
    },
}

impl<K: ?Sized> Clone for Change<K> {
    fn clone(&self) -> Self {
        match self {
            Self::Added { key, new } => Self::Added { key: key.clone(), new: Arc::clone(new) },
            Self::Updated { key, old, new } => {
                Self::Updated { key: key.clone(), old: Arc::clone(old), new: Arc::clone(new) }
            }
            Self::Deleted { key, last } => Self::Deleted { key: key.clone(), last: Arc::clone(last) },
        }
    }
}

/// What a replacement did.
#[derive(Debug)]
pub struct Replacement<K> {
    /// The differences: deletions first, then the rest in the order given.
    pub changes: Vec<Change<K>>,
}

impl<K: Send + Sync + 'static> StoreWriter<K> {
    pub(super) fn new(store: Store<K>) -> Self {
        Self { store, functions: Vec::new() }
    }

    /// A reader.
    #[must_use]
    pub fn reader(&self) -> Store<K> {
        self.store.clone()
    }

    /// Puts an object in the store and answers the state it replaces.
    pub fn insert(&mut self, key: &ObjectKey, object: Arc<K>) -> Option<Arc<K>> {
        let shared = Arc::clone(&self.store.shared);
        let hash = shared.hash(key.namespace(), key.name());
        loop {
            let values = self.index_values(&object);
            let mut state = shared.write();
            if values.len() == state.indexes().len() {
                return state.insert(hash, key, object, &values);
            }
            self.fetch_functions(&state);
        }
    }

    /// Removes an object and answers its last state.
    pub fn remove(&mut self, key: &ObjectKey) -> Option<Arc<K>> {
        let shared = &self.store.shared;
        let hash_of = |key: &ObjectKey| shared.hash(key.namespace(), key.name());
        shared.write().remove(hash_of(key), key, hash_of)
    }

    /// Makes `objects` the store's whole content, by difference. Keys in `undecodable` exist on the server too:
    /// their last known state stays, or is the one in `objects`. Readers see the former state or the new one, nothing between.
    pub fn replace(
        &mut self,
        objects: Vec<(ObjectKey, Arc<K>)>,
        undecodable: &[ObjectKey],
    ) -> Replacement<K> {
        self.replace_within(None, objects, undecodable)
    }

    /// [`Self::replace`] of one namespace's content, or of all.
    pub(crate) fn replace_within(
        &mut self,
        namespace: Option<&str>,
        objects: Vec<(ObjectKey, Arc<K>)>,
        undecodable: &[ObjectKey],
    ) -> Replacement<K> {
        let is_within = |key: &ObjectKey| namespace.is_none_or(|namespace| namespace == key.namespace());
        let shared = Arc::clone(&self.store.shared);
        // Nothing can be absent from an empty store, whose only writer this is.
        let present: Option<HashSet<ObjectKey>> = (!self.store.is_empty())
            .then(|| objects.iter().map(|(key, _)| key).chain(undecodable).cloned().collect());
        let undecodable: HashSet<&ObjectKey> = undecodable.iter().collect();
        loop {
            let values: Vec<Vec<Values>> = if self.functions.is_empty() {
                Vec::new()
            } else {
                objects.iter().map(|(_, object)| self.index_values(object)).collect()
            };
            let mut state = shared.write();
            if self.functions.len() != state.indexes().len() {
                // An indexer was added since the functions were fetched.
                self.fetch_functions(&state);
                continue;
            }
            state.retain_undecodable(|key| !is_within(key) || undecodable.contains(key));
            // Putting an object in the store forgets that it does not decode.
            let known = if undecodable.is_empty() { Vec::new() } else { state.undecodable() };
            let hash_of = |key: &ObjectKey| shared.hash(key.namespace(), key.name());
            let is_absent = |present: &HashSet<_>, key: &ObjectKey| is_within(key) && !present.contains(key);
            let absent = present
                .as_ref()
                .map(|present| remove_all(&mut state, |key| is_absent(present, key), hash_of));
            let mut changes = absent.unwrap_or_default();
            changes.reserve(objects.len());
            let new = objects.len().saturating_sub(state.len());
            state.reserve(new);
            for (place, (key, new)) in objects.into_iter().enumerate() {
                let values = values.get(place).map(Vec::as_slice).unwrap_or_default();
                let hash = shared.hash(key.namespace(), key.name());
                changes.push(match state.insert(hash, &key, Arc::clone(&new), values) {
                    None => Change::Added { key, new },
                    Some(old) => Change::Updated { key, old, new },
                });
            }
            for (key, why) in known {
                state.mark_undecodable(key, why);
            }
            return Replacement { changes };
        }
    }

    /// Records the resource version up to which the store is complete.
    pub fn set_resource_version(&mut self, version: &str) {
        self.store.shared.write().set_resource_version(version);
    }

    /// Records that the object exists but could not be decoded; a later [`Self::insert`] or [`Self::remove`]
    /// of the key clears it.
    pub fn mark_undecodable(&mut self, key: ObjectKey, why: Undecodable) {
        self.store.shared.write().mark_undecodable(key, why);
    }

    fn index_values(&self, object: &K) -> Vec<Values> {
        self.functions.iter().map(|function| function(object)).collect()
    }

    fn fetch_functions(&mut self, state: &State<K>) {
        self.functions = state.indexes().iter().map(|index| Arc::clone(index.function())).collect();
    }
}

/// Deletes what `is_absent`, in the order of the keys.
fn remove_all<K>(
    state: &mut State<K>,
    is_absent: impl Fn(&ObjectKey) -> bool,
    hash_of: impl Fn(&ObjectKey) -> u64 + Copy,
) -> Vec<Change<K>> {
    let absent = state.entries().filter(|(key, _)| is_absent(key));
    let mut absent: Vec<ObjectKey> = absent.map(|(key, _)| key.clone()).collect();
    absent.sort();
    let removed = absent.into_iter().filter_map(|key| {
        let last = state.remove(hash_of(&key), &key, hash_of)?;
        Some(Change::Deleted { key, last })
    });
    removed.collect()
}

impl<K> fmt::Debug for StoreWriter<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("StoreWriter").field(&self.store).finish()
    }
}
