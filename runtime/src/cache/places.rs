//! Where a store keeps its objects, by key. It does not know their types, so that it is compiled once for all kinds.

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

/// An object of the store. It is here as well as in its bucket: a look-up that went there would wait once more for memory.
pub(super) type Untyped = Arc<dyn Any + Send + Sync>;

/// The place of an object: the bucket of its namespace, and its number there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) bucket: u32,
    pub(super) member: u32,
}

#[derive(Default)]
pub(super) struct Places {
    table: HashTable<Slot>,
    /// Namespace to bucket, sorted, so that walking it yields keys in order.
    namespaces: BTreeMap<Arc<str>, u32>,
    /// Buckets whose namespaces have emptied.
    free: Vec<u32>,
    /// How many buckets there are, free ones included.
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

    /// Exchanges the object of the key, if there is one, and answers its place.
    pub(super) fn set(&mut self, hash: u64, key: &ObjectKey, object: &Untyped) -> Option<Place> {
        let slot = self.table.find_mut(hash, |slot| slot.key == *key)?;
        slot.object = Arc::clone(object);
        Some(slot.place)
    }

    /// Adds a key that is not there.
    pub(super) fn insert(&mut self, hash: u64, key: ObjectKey, place: Place, object: Untyped) {
        self.table.insert_unique(hash, Slot { hash, key, place, object }, |slot| slot.hash);
    }

    pub(super) fn remove(&mut self, hash: u64, key: &ObjectKey) -> Option<Place> {
        match self.table.entry(hash, |slot| slot.key == *key, |slot| slot.hash) {
            Entry::Occupied(entry) => Some(entry.remove().0.place),
            Entry::Vacant(_) => None,
        }
    }

    /// The object of this key has another number now.
    pub(super) fn renumber(&mut self, hash: u64, key: &ObjectKey, member: u32) {
        if let Some(slot) = self.table.find_mut(hash, |slot| slot.key == *key) {
            slot.place.member = member;
        }
    }

    /// The bucket of the namespace, a new one if it has none.
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

    /// The namespace has emptied.
    pub(super) fn free(&mut self, namespace: &str) {
        self.free.extend(self.namespaces.remove(namespace));
    }

    pub(super) fn bucket_of(&self, namespace: &str) -> Option<u32> {
        self.namespaces.get(namespace).copied()
    }

    /// The buckets in the order of their namespaces.
    pub(super) fn buckets(&self) -> Vec<u32> {
        self.namespaces.values().copied().collect()
    }

    pub(super) fn namespaces(&self) -> Vec<Arc<str>> {
        self.namespaces.keys().cloned().collect()
    }

    /// The keys that are wanted, in order.
    pub(super) fn keys(&self, is_wanted: &dyn Fn(&ObjectKey) -> bool) -> Vec<ObjectKey> {
        let wanted = self.table.iter().filter(|slot| is_wanted(&slot.key));
        let mut keys: Vec<ObjectKey> = wanted.map(|slot| slot.key.clone()).collect();
        keys.sort();
        keys
    }
}
