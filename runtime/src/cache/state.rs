//! The state behind the store's lock.

use std::sync::{Arc, OnceLock};

use super::bucket::{Bucket, Removed};
use super::index::{AnyIndex, Key, NoSuchIndex, UserIndex, Values};
use super::places::{Place, Places, Untyped};
use super::undecodable::UndecodableKeys;
use super::{Listing, ObjectKey};

pub(super) struct State<K> {
    places: Places,
    buckets: Vec<Bucket<K>>,
    indexes: Vec<Box<dyn AnyIndex<K>>>,
    /// All objects in order; made on demand, dropped at the next change.
    all: OnceLock<Listing<K>>,
    pub(super) undecodable: UndecodableKeys,
    resource_version: String,
}

// Loops instead of iterators: this code is compiled for each kind, and iterator adapters compile to many more
// functions.
impl<K> State<K> {
    pub(super) fn new() -> Self {
        Self {
            places: Places::default(),
            buckets: Vec::new(),
            indexes: Vec::new(),
            all: OnceLock::new(),
            undecodable: UndecodableKeys::default(),
            resource_version: String::new(),
        }
    }

    pub(super) fn len(&self) -> usize {
        self.places.len()
    }

    pub(super) fn reserve(&mut self, additional: usize) {
        self.places.reserve(additional);
    }

    /// Removes the key and returns its last state.
    pub(super) fn remove(&mut self, key: &ObjectKey) -> Option<Arc<K>> {
        self.undecodable.remove(key);
        let Place { bucket, member } = self.places.remove(key)?;
        self.all.take();
        for index in &mut self.indexes {
            index.remove(key);
        }
        let bucket = &mut self.buckets[bucket as usize];
        let Removed { object, moved } = bucket.remove(member)?;
        if let Some(moved) = moved {
            self.places.renumber(&moved, member);
        }
        if bucket.is_empty() {
            self.places.free(key.namespace());
        }
        Some(object)
    }

    pub(super) fn list(&self) -> Listing<K> {
        self.all.get_or_init(|| self.concatenated()).clone()
    }

    fn concatenated(&self) -> Listing<K> {
        let buckets = self.places.buckets();
        if let [only] = buckets[..] {
            return self.buckets[only as usize].list();
        }
        let mut objects = Vec::with_capacity(self.len());
        for bucket in buckets {
            objects.extend_from_slice(&self.buckets[bucket as usize].list());
        }
        objects.into()
    }

    pub(super) fn list_namespace(&self, namespace: &str) -> Listing<K> {
        match self.places.bucket_of(namespace) {
            Some(bucket) => self.buckets[bucket as usize].list(),
            None => Listing::empty(),
        }
    }

    pub(super) fn keys(&self) -> Vec<ObjectKey> {
        let mut keys = Vec::with_capacity(self.len());
        for bucket in self.places.buckets() {
            keys.append(&mut self.buckets[bucket as usize].keys());
        }
        keys
    }

    /// Returns the keys that `is_wanted` selects, in order.
    pub(super) fn keys_of(&self, is_wanted: &dyn Fn(&ObjectKey) -> bool) -> Vec<ObjectKey> {
        self.places.keys(is_wanted)
    }

    /// Returns every key with its object, sorted by key.
    pub(super) fn entries(&self) -> Vec<(ObjectKey, Arc<K>)> {
        let mut entries = Vec::with_capacity(self.len());
        for bucket in self.places.buckets() {
            self.buckets[bucket as usize].entries(&mut entries);
        }
        entries
    }

    pub(super) fn namespaces(&self) -> Vec<Arc<str>> {
        self.places.namespaces()
    }

    pub(super) fn indexes(&self) -> &[Box<dyn AnyIndex<K>>] {
        &self.indexes
    }

    pub(super) fn indexes_mut(&mut self) -> &mut Vec<Box<dyn AnyIndex<K>>> {
        &mut self.indexes
    }

    /// Returns the index with this name, if its keys have this type.
    pub(super) fn index<Q: Key + ?Sized>(&self, name: &str) -> Result<&UserIndex<K, Q>, NoSuchIndex>
    where
        K: 'static,
    {
        let index = self.indexes.iter().find(|index| index.name() == name && index.is_complete());
        index
            .and_then(|index| index.as_any().downcast_ref())
            .ok_or_else(|| self.no_such_index::<Q>(name, false))
    }

    /// Returns the error for an index that does not exist or belongs to another store.
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

    pub(super) fn resource_version(&self) -> &str {
        &self.resource_version
    }

    pub(super) fn set_resource_version(&mut self, version: &str) {
        self.resource_version.clear();
        self.resource_version.push_str(version);
    }
}

impl<K: Send + Sync + 'static> State<K> {
    pub(super) fn find(&self, key: &ObjectKey) -> Option<Arc<K>> {
        Arc::clone(self.places.find(key)?).downcast().ok()
    }

    pub(super) fn find_named(&self, namespace: &str, name: &str) -> Option<Arc<K>> {
        Arc::clone(self.places.find_named(namespace, name)?).downcast().ok()
    }

    pub(super) fn contains(&self, key: &ObjectKey) -> bool {
        self.places.find(key).is_some()
    }

    /// Stores the object and returns the former one of its key. `values` are its values in each of `self.indexes`,
    /// in the same order.
    pub(super) fn insert(&mut self, key: &ObjectKey, object: Arc<K>, values: &[Values]) -> Option<Arc<K>> {
        self.all.take();
        self.undecodable.remove(key);
        for (index, values) in self.indexes.iter_mut().zip(values) {
            index.insert(key, &object, values);
        }
        let untyped: Untyped = Arc::<K>::clone(&object);
        if let Some(Place { bucket, member }) = self.places.set(key, &untyped) {
            return self.buckets[bucket as usize].set(member, object);
        }
        let bucket = self.places.bucket(key.namespace());
        if bucket as usize == self.buckets.len() {
            self.buckets.push(Bucket::new());
        }
        let member = self.buckets[bucket as usize].push(key.clone(), object);
        self.places.insert(key.clone(), Place { bucket, member }, untyped);
        None
    }
}
