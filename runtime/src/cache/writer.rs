//! The store's only writer.

use std::fmt;
use std::sync::Arc;

use hashbrown::HashSet;

use super::index::{Function, Values};
use super::state::State;
use super::{ObjectKey, Store, Undecodable};

/// Writes to the store. Each store has one writer, which is not `Clone`.
pub struct StoreWriter<K> {
    store: Store<K>,
    /// The index functions as last read, so that they run without the lock.
    functions: Vec<Function<K>>,
}

/// A difference between two states of the store.
#[derive(Debug)]
pub enum Change<K: ?Sized> {
    /// A new object.
    Added {
        /// Its key.
        key: ObjectKey,
        /// Its state.
        new: Arc<K>,
    },
    /// A new state of a known object.
    Updated {
        /// Its key.
        key: ObjectKey,
        /// The former state.
        old: Arc<K>,
        /// The present state.
        new: Arc<K>,
    },
    /// A deleted object.
    Deleted {
        /// Its key.
        key: ObjectKey,
        /// Its last known state.
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

/// The result of a replacement.
#[derive(Debug)]
pub struct Replacement<K> {
    /// The differences: deletions first, then the others in the given order.
    pub changes: Vec<Change<K>>,
}

impl<K: Send + Sync + 'static> StoreWriter<K> {
    pub(super) fn new(store: Store<K>) -> Self {
        Self { store, functions: Vec::new() }
    }

    /// Returns a reader.
    #[must_use]
    pub fn reader(&self) -> Store<K> {
        self.store.clone()
    }

    /// Stores an object and returns the state that it replaces.
    pub fn insert(&mut self, key: &ObjectKey, object: Arc<K>) -> Option<Arc<K>> {
        let shared = Arc::clone(&self.store.shared);
        loop {
            let values = self.index_values(&object);
            let mut state = shared.write();
            if values.len() == state.indexes().len() {
                return state.insert(key, object, &values);
            }
            self.fetch_functions(&state);
        }
    }

    /// Removes an object and returns its last state.
    pub fn remove(&mut self, key: &ObjectKey) -> Option<Arc<K>> {
        self.store.shared.write().remove(key)
    }

    /// Makes `objects` the whole content of the store and returns the differences. Keys in `undecodable` exist on
    /// the server too: they keep their last known state, or get the one in `objects`. Readers see the former state
    /// or the new one, nothing in between.
    pub fn replace(
        &mut self,
        objects: Vec<(ObjectKey, Arc<K>)>,
        undecodable: &[ObjectKey],
    ) -> Replacement<K> {
        self.replace_within(None, objects, undecodable)
    }

    /// Does [`Self::replace`] for the content of one namespace, or of all.
    pub(crate) fn replace_within(
        &mut self,
        namespace: Option<&str>,
        objects: Vec<(ObjectKey, Arc<K>)>,
        undecodable: &[ObjectKey],
    ) -> Replacement<K> {
        let shared = Arc::clone(&self.store.shared);
        let scope = Scope::new(namespace, self.keys_of(&objects), undecodable);
        loop {
            let values = self.values_of_all(&objects);
            let mut state = shared.write();
            if self.functions.len() != state.indexes().len() {
                // An indexer was added after the functions were read.
                self.fetch_functions(&state);
                continue;
            }
            state.undecodable.retain(&|key| scope.stays_undecodable(key));
            // Storing an object clears its record as undecodable.
            let known = if undecodable.is_empty() { Vec::new() } else { state.undecodable.to_vec() };
            let mut changes = Vec::with_capacity(objects.len());
            for key in scope.absent(&state) {
                if let Some(last) = state.remove(&key) {
                    changes.push(Change::Deleted { key, last });
                }
            }
            let new = objects.len().saturating_sub(state.len());
            state.reserve(new);
            let mut values = values.into_iter();
            for (key, new) in objects {
                let values = values.next().unwrap_or_default();
                changes.push(match state.insert(&key, Arc::clone(&new), &values) {
                    None => Change::Added { key, new },
                    Some(old) => Change::Updated { key, old, new },
                });
            }
            for (key, why) in known {
                state.undecodable.insert(key, why);
            }
            return Replacement { changes };
        }
    }

    /// Records the resource version up to which the store is complete.
    pub fn set_resource_version(&mut self, version: &str) {
        self.store.shared.write().set_resource_version(version);
    }

    /// Records that the object exists but could not be decoded. A later [`Self::insert`] or [`Self::remove`] of the
    /// key clears the record.
    pub fn mark_undecodable(&mut self, key: ObjectKey, why: Undecodable) {
        self.store.shared.write().undecodable.insert(key, why);
    }

    /// Returns the keys that the store is to have; `None` if no key can be absent because the store is empty and
    /// this is its only writer.
    fn keys_of(&self, objects: &[(ObjectKey, Arc<K>)]) -> Option<Vec<ObjectKey>> {
        if self.store.is_empty() {
            return None;
        }
        let mut keys = Vec::with_capacity(objects.len());
        for (key, _) in objects {
            keys.push(key.clone());
        }
        Some(keys)
    }

    /// Computes the values of each object; empty if there is no index.
    fn values_of_all(&self, objects: &[(ObjectKey, Arc<K>)]) -> Vec<Vec<Values>> {
        let mut values = Vec::new();
        if !self.functions.is_empty() {
            for (_, object) in objects {
                values.push(self.index_values(object));
            }
        }
        values
    }

    fn index_values(&self, object: &K) -> Vec<Values> {
        let mut values = Vec::with_capacity(self.functions.len());
        for function in &self.functions {
            values.push(function(object));
        }
        values
    }

    fn fetch_functions(&mut self, state: &State<K>) {
        self.functions.clear();
        for index in state.indexes() {
            self.functions.push(Arc::clone(index.function()));
        }
    }
}

/// The scope and the keys of a replacement. It is not generic over the kind, so it is compiled once.
struct Scope<'a> {
    namespace: Option<&'a str>,
    present: Option<HashSet<ObjectKey>>,
    undecodable: HashSet<&'a ObjectKey>,
}

impl<'a> Scope<'a> {
    fn new(namespace: Option<&'a str>, keys: Option<Vec<ObjectKey>>, undecodable: &'a [ObjectKey]) -> Self {
        let present = keys.map(|keys| keys.into_iter().chain(undecodable.iter().cloned()).collect());
        Self { namespace, present, undecodable: undecodable.iter().collect() }
    }

    fn contains(&self, key: &ObjectKey) -> bool {
        self.namespace.is_none_or(|namespace| namespace == key.namespace())
    }

    fn stays_undecodable(&self, key: &ObjectKey) -> bool {
        !self.contains(key) || self.undecodable.contains(key)
    }

    /// Returns the stored keys that the replacement does not contain, in order.
    fn absent<K>(&self, state: &State<K>) -> Vec<ObjectKey> {
        match &self.present {
            Some(present) => state.keys_of(&|key| self.contains(key) && !present.contains(key)),
            None => Vec::new(),
        }
    }
}

impl<K> fmt::Debug for StoreWriter<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("StoreWriter").field(&self.store).finish()
    }
}
