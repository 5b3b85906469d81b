//! The positions of a store's objects, by key. This module is not generic over the kind, so it is compiled
//! once.

use std::any::Any;
use std::collections::BTreeMap;
use std::sync::Arc;

use hashbrown::HashTable;
use hashbrown::hash_table::Entry;

use super::ObjectKey;

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
    key: ObjectKey,
    place: Place,
    object: Untyped,
}

impl Slot {
    fn hash(&self) -> u64 {
        spread(self.key.key_hash())
    }
}

/// The table takes its positions from the lowest bits and its tags from the highest.
fn spread(hash: u32) -> u64 {
    u64::from(hash).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

impl Places {
    pub(super) fn len(&self) -> usize {
        self.table.len()
    }

    pub(super) fn reserve(&mut self, additional: usize) {
        self.table.reserve(additional, Slot::hash);
    }

    pub(super) fn find(&self, key: &ObjectKey) -> Option<&Untyped> {
        self.table.find(spread(key.key_hash()), |slot| slot.key == *key).map(|slot| &slot.object)
    }

    /// Finds an object without a key.
    pub(super) fn find_named(&self, namespace: &str, name: &str) -> Option<&Untyped> {
        let hash = spread(ObjectKey::hash_of(namespace, name));
        self.table.find(hash, |slot| slot.key.is(namespace, name)).map(|slot| &slot.object)
    }

    /// Replaces the object of this key, if there is one, and returns its position.
    pub(super) fn set(&mut self, key: &ObjectKey, object: &Untyped) -> Option<Place> {
        let slot = self.table.find_mut(spread(key.key_hash()), |slot| slot.key == *key)?;
        slot.object = Arc::clone(object);
        Some(slot.place)
    }

    /// Adds a key that is not in the store.
    pub(super) fn insert(&mut self, key: ObjectKey, place: Place, object: Untyped) {
        let hash = spread(key.key_hash());
        self.table.insert_unique(hash, Slot { key, place, object }, Slot::hash);
    }

    pub(super) fn remove(&mut self, key: &ObjectKey) -> Option<Place> {
        match self.table.entry(spread(key.key_hash()), |slot| slot.key == *key, Slot::hash) {
            Entry::Occupied(entry) => Some(entry.remove().0.place),
            Entry::Vacant(_) => None,
        }
    }

    /// Records that the object of this key has another index in its bucket.
    pub(super) fn renumber(&mut self, key: &ObjectKey, member: u32) {
        if let Some(slot) = self.table.find_mut(spread(key.key_hash()), |slot| slot.key == *key) {
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
