//! The positions of a store's objects, by key. This module is not generic over the kind, so it is compiled
//! once.

use std::any::Any;
use std::collections::BTreeMap;
use std::hash::BuildHasher;
use std::sync::Arc;

use hashbrown::HashTable;
use hashbrown::hash_table::Entry;

use super::ObjectKey;

/// Hashes keys.
#[derive(Default)]
pub(super) struct Hasher(hashbrown::DefaultHashBuilder);

impl Hasher {
    pub(super) fn hash(&self, namespace: &str, name: &str) -> u64 {
        self.0.hash_one((namespace, name))
    }

    pub(super) fn hash_key(&self, key: &ObjectKey) -> u64 {
        self.hash(key.namespace(), key.name())
    }
}

/// An object of the store. It is here as well as in its bucket, because a look-up in the bucket would cost another
/// cache miss.
pub(super) type Untyped = Arc<dyn Any + Send + Sync>;

/// The position of an object: the bucket of its namespace, and its index there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) bucket: u32,
    pub(super) member: u32,
}

#[derive(Default)]
pub(super) struct Places {
    table: HashTable<Slot>,
    /// Namespace to bucket; sorted, so that iteration is in key order.
    namespaces: BTreeMap<Arc<str>, u32>,
    /// Buckets of namespaces that have become empty.
    free: Vec<u32>,
    /// The number of buckets, including free ones.
    buckets: u32,
}

struct Slot {
    hash: u64,
    key: ObjectKey,
    place: Place,
    object: Untyped,
}

impl Places {
    pub(super) fn len(&self) -> usize {
        self.table.len()
    }

    pub(super) fn reserve(&mut self, additional: usize) {
        self.table.reserve(additional, |slot| slot.hash);
    }

    pub(super) fn find(&self, hash: u64, namespace: &str, name: &str) -> Option<&Untyped> {
        self.table.find(hash, |slot| slot.key.is(namespace, name)).map(|slot| &slot.object)
    }

    /// Replaces the object of this key, if there is one, and returns its position.
    pub(super) fn set(&mut self, hash: u64, key: &ObjectKey, object: &Untyped) -> Option<Place> {
        let slot = self.table.find_mut(hash, |slot| slot.key == *key)?;
        slot.object = Arc::clone(object);
        Some(slot.place)
    }

    /// Adds a key that is not in the store.
    pub(super) fn insert(&mut self, hash: u64, key: ObjectKey, place: Place, object: Untyped) {
        self.table.insert_unique(hash, Slot { hash, key, place, object }, |slot| slot.hash);
    }

    pub(super) fn remove(&mut self, hash: u64, key: &ObjectKey) -> Option<Place> {
        match self.table.entry(hash, |slot| slot.key == *key, |slot| slot.hash) {
            Entry::Occupied(entry) => Some(entry.remove().0.place),
            Entry::Vacant(_) => None,
        }
    }

    /// Records that the object of this key has another index in its bucket.
    pub(super) fn renumber(&mut self, hash: u64, key: &ObjectKey, member: u32) {
        if let Some(slot) = self.table.find_mut(hash, |slot| slot.key == *key) {
            slot.place.member = member;
        }
    }

    /// Returns the bucket of the namespace, and makes one if it has none.
    pub(super) fn bucket(&mut self, namespace: &str) -> u32 {
        if let Some(bucket) = self.namespaces.get(namespace) {
            return *bucket;
        }
        let bucket = self.free.pop().unwrap_or_else(|| {
            self.buckets += 1;
            self.buckets - 1
        });
        self.namespaces.insert(namespace.into(), bucket);
        bucket
    }

    /// Frees the bucket of a namespace that has become empty.
    pub(super) fn free(&mut self, namespace: &str) {
        self.free.extend(self.namespaces.remove(namespace));
    }

    pub(super) fn bucket_of(&self, namespace: &str) -> Option<u32> {
        self.namespaces.get(namespace).copied()
    }

    /// Returns the buckets in the order of their namespaces.
    pub(super) fn buckets(&self) -> Vec<u32> {
        self.namespaces.values().copied().collect()
    }

    pub(super) fn namespaces(&self) -> Vec<Arc<str>> {
        self.namespaces.keys().cloned().collect()
    }

    /// Returns the keys that `is_wanted` selects, in order.
    pub(super) fn keys(&self, is_wanted: &dyn Fn(&ObjectKey) -> bool) -> Vec<ObjectKey> {
        let wanted = self.table.iter().filter(|slot| is_wanted(&slot.key));
        let mut keys: Vec<ObjectKey> = wanted.map(|slot| slot.key.clone()).collect();
        keys.sort();
        keys
    }
}
