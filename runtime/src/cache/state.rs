//! What the store's lock guards.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use hashbrown::HashTable;
use hashbrown::hash_table::Entry;

use super::bucket::Bucket;
use super::index::{AnyIndex, Key, NoSuchIndex, UserIndex, Values};
use super::{Listing, ObjectKey};

pub(super) struct State<K> {
    table: HashTable<Slot<K>>,
    /// Namespace to place in `buckets`, sorted, so that walking it yields keys in order.
    namespaces: BTreeMap<Arc<str>, u32>,
    /// Buckets are reused when their namespace empties.
    buckets: Vec<Bucket<K>>,
    free: Vec<u32>,
    indexes: Vec<Box<dyn AnyIndex<K>>>,
    /// All objects in order; made when asked for, dropped at the next change.
    all: OnceLock<Listing<K>>,
    undecodable: BTreeMap<ObjectKey, Undecodable>,
    resource_version: String,
}

struct Slot<K> {
    hash: u64,
    key: ObjectKey,
    object: Arc<K>,
    bucket: u32,
    place: u32,
}

/// Why an object that exists on the server is not in the store in its present state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Undecodable {
    /// What the decoder said.
    pub message: String,
    /// The resource version that could not be decoded, if it could be read.
    pub resource_version: Option<String>,
}

impl<K> State<K> {
    pub(super) fn new() -> Self {
        Self {
            table: HashTable::new(),
            namespaces: BTreeMap::new(),
            buckets: Vec::new(),
            free: Vec::new(),
            indexes: Vec::new(),
            all: OnceLock::new(),
            undecodable: BTreeMap::new(),
            resource_version: String::new(),
        }
    }

    pub(super) fn len(&self) -> usize {
        self.table.len()
    }

    pub(super) fn find(&self, hash: u64, namespace: &str, name: &str) -> Option<&Arc<K>> {
        self.table.find(hash, |slot| slot.key.is(namespace, name)).map(|slot| &slot.object)
    }

    pub(super) fn reserve(&mut self, additional: usize) {
        self.table.reserve(additional, |slot| slot.hash);
    }

    /// Puts the object in place of the key's former one, which is answered. `values` are its values in each of
    /// `self.indexes`, in their order.
    pub(super) fn insert(
        &mut self,
        hash: u64,
        key: &ObjectKey,
        object: Arc<K>,
        values: &[Values],
    ) -> Option<Arc<K>> {
        self.all.take();
        self.undecodable.remove(key);
        for (index, values) in self.indexes.iter_mut().zip(values) {
            index.insert(key, &object, values);
        }
        let eq = |slot: &Slot<K>| slot.key == *key;
        if let Some(slot) = self.table.find_mut(hash, eq) {
            self.buckets[slot.bucket as usize].set(slot.place, Arc::clone(&object));
            return Some(std::mem::replace(&mut slot.object, object));
        }
        let bucket = self.bucket(key.namespace());
        let place = self.buckets[bucket as usize].push(key.clone(), Arc::clone(&object));
        let slot = Slot { hash, key: key.clone(), object, bucket, place };
        self.table.insert_unique(hash, slot, |slot| slot.hash);
        None
    }

    /// Removes the key and answers its last state. `hash_of` hashes keys as the caller does.
    pub(super) fn remove(
        &mut self,
        hash: u64,
        key: &ObjectKey,
        hash_of: impl Fn(&ObjectKey) -> u64,
    ) -> Option<Arc<K>> {
        self.undecodable.remove(key);
        let entry = self.table.entry(hash, |slot| slot.key == *key, |slot| slot.hash);
        let Entry::Occupied(entry) = entry else { return None };
        let (slot, _) = entry.remove();
        self.all.take();
        for index in &mut self.indexes {
            index.remove(key);
        }
        let bucket = &mut self.buckets[slot.bucket as usize];
        if let Some(moved) = bucket.remove(slot.place)
            && let Some(other) = self.table.find_mut(hash_of(&moved), |other| other.key == moved)
        {
            other.place = slot.place;
        }
        if self.buckets[slot.bucket as usize].is_empty() {
            self.namespaces.remove(key.namespace());
            self.free.push(slot.bucket);
        }
        Some(slot.object)
    }

    fn bucket(&mut self, namespace: &str) -> u32 {
        if let Some(bucket) = self.namespaces.get(namespace) {
            return *bucket;
        }
        let bucket = self.free.pop().unwrap_or_else(|| {
            self.buckets.push(Bucket::new());
            u32::try_from(self.buckets.len() - 1).unwrap_or(u32::MAX)
        });
        self.namespaces.insert(namespace.into(), bucket);
        bucket
    }

    pub(super) fn list(&self) -> Listing<K> {
        self.all.get_or_init(|| self.concatenated()).clone()
    }

    fn concatenated(&self) -> Listing<K> {
        let mut buckets = self.namespaces.values();
        if let (Some(only), None) = (buckets.next(), buckets.next()) {
            return self.buckets[*only as usize].list();
        }
        let mut objects = Vec::with_capacity(self.table.len());
        for bucket in self.namespaces.values() {
            objects.extend_from_slice(&self.buckets[*bucket as usize].list());
        }
        objects.into()
    }

    pub(super) fn list_namespace(&self, namespace: &str) -> Listing<K> {
        self.namespaces
            .get(namespace)
            .map_or_else(Listing::empty, |bucket| self.buckets[*bucket as usize].list())
    }

    pub(super) fn keys(&self) -> Vec<ObjectKey> {
        self.namespaces.values().flat_map(|bucket| self.buckets[*bucket as usize].keys()).collect()
    }

    /// Every key with its object, in no particular order.
    pub(super) fn entries(&self) -> impl Iterator<Item = (&ObjectKey, &Arc<K>)> {
        self.table.iter().map(|slot| (&slot.key, &slot.object))
    }

    pub(super) fn namespaces(&self) -> Vec<Arc<str>> {
        self.namespaces.keys().cloned().collect()
    }

    pub(super) fn indexes(&self) -> &[Box<dyn AnyIndex<K>>] {
        &self.indexes
    }

    pub(super) fn indexes_mut(&mut self) -> &mut Vec<Box<dyn AnyIndex<K>>> {
        &mut self.indexes
    }

    /// The index of that name, if its keys are of this type.
    pub(super) fn index<Q: Key + ?Sized>(&self, name: &str) -> Result<&UserIndex<K, Q>, NoSuchIndex>
    where
        K: 'static,
    {
        let index = self.indexes.iter().find(|index| index.name() == name && index.is_complete());
        index
            .and_then(|index| index.as_any().downcast_ref())
            .ok_or_else(|| self.no_such_index::<Q>(name, false))
    }

    /// The error of who asks for an index that is not there, or with one that another store made.
    pub(super) fn no_such_index<Q: Key + ?Sized>(&self, name: &str, of_another_store: bool) -> NoSuchIndex
    where
        K: 'static,
    {
        let known = self.indexes.iter().filter(|index| index.as_any().is::<UserIndex<K, Q>>());
        let known = known.map(|index| index.name().to_owned()).collect();
        NoSuchIndex { name: name.to_owned(), known, of_another_store }
    }

    pub(super) fn index_names(&self) -> Vec<String> {
        self.indexes.iter().map(|index| index.name().to_owned()).collect()
    }

    pub(super) fn mark_undecodable(&mut self, key: ObjectKey, why: Undecodable) {
        self.undecodable.insert(key, why);
    }

    /// Forgets the undecodable keys for which `keep` is false.
    pub(super) fn retain_undecodable(&mut self, keep: impl Fn(&ObjectKey) -> bool) {
        self.undecodable.retain(|key, _| keep(key));
    }

    pub(super) fn undecodable(&self) -> Vec<(ObjectKey, Undecodable)> {
        self.undecodable.iter().map(|(key, why)| (key.clone(), why.clone())).collect()
    }

    pub(super) fn resource_version(&self) -> &str {
        &self.resource_version
    }

    pub(super) fn set_resource_version(&mut self, version: &str) {
        self.resource_version.clear();
        self.resource_version.push_str(version);
    }
}
