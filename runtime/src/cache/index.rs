//! Indexes that users add.

use std::collections::BTreeMap;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use hashbrown::HashMap;

use super::bucket::Bucket;
use super::{Listing, ObjectKey, Shared};

/// Computes an object's values in an index; no value leaves the object out of it. [`Indexer`] has an example.
pub type IndexFn<K> = Arc<dyn Fn(&K) -> Vec<String> + Send + Sync>;

/// A named index function.
///
/// ```
/// use k8s_openapi::api::core::v1::Pod;
/// use kubesmith_runtime::cache::Indexer;
///
/// let by_node: Indexer<Pod> = Indexer::new("node", |pod: &Pod| {
///     pod.spec.iter().filter_map(|spec| spec.node_name.clone()).collect()
/// });
/// ```
pub struct Indexer<K> {
    name: String,
    values: IndexFn<K>,
}

impl<K> Indexer<K> {
    /// Index objects by what `values` answers for them. It must answer the same for the same object.
    #[must_use]
    pub fn new(name: impl Into<String>, values: impl Fn(&K) -> Vec<String> + Send + Sync + 'static) -> Self {
        Self { name: name.into(), values: Arc::new(values) }
    }

    /// The index's name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }
}

impl<K> Clone for Indexer<K> {
    fn clone(&self) -> Self {
        Self { name: self.name.clone(), values: Arc::clone(&self.values) }
    }
}

impl<K> fmt::Debug for Indexer<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Indexer").field("name", &self.name).finish_non_exhaustive()
    }
}

/// An index that was never added.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no index \"{name}\" (there are: {}); add it with add_indexer", .known.join(", "))]
pub struct NoSuchIndex {
    /// The name asked for.
    pub name: String,
    /// The names that exist.
    pub known: Vec<String>,
}

/// The index as the store keeps it.
pub(super) struct UserIndex<K> {
    name: String,
    values: IndexFn<K>,
    buckets: BTreeMap<Arc<str>, Bucket<K>>,
    /// Where each object is, one entry per value.
    places: HashMap<ObjectKey, Vec<Place>>,
    /// False until the objects that were there before the index are in it.
    complete: bool,
}

struct Place {
    value: Arc<str>,
    place: u32,
}

impl<K> UserIndex<K> {
    fn new(indexer: Indexer<K>) -> Self {
        Self {
            name: indexer.name,
            values: indexer.values,
            buckets: BTreeMap::new(),
            places: HashMap::new(),
            complete: false,
        }
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    pub(super) fn function(&self) -> &IndexFn<K> {
        &self.values
    }

    pub(super) fn is_complete(&self) -> bool {
        self.complete
    }

    pub(super) fn insert(&mut self, key: &ObjectKey, object: &Arc<K>, values: &[String]) {
        let unchanged = self.places.get(key).is_some_and(|places| {
            places.len() == values.len()
                && places.iter().zip(values).all(|(place, value)| *place.value == **value)
        });
        if unchanged {
            for place in self.places.get(key).into_iter().flatten() {
                if let Some(bucket) = self.buckets.get_mut(&place.value) {
                    bucket.set(place.place, Arc::clone(object));
                }
            }
            return;
        }
        self.remove(key);
        let mut places: Vec<Place> = Vec::with_capacity(values.len());
        for value in values {
            if places.iter().any(|place| *place.value == **value) {
                continue;
            }
            places.push(self.join(value, key, object));
        }
        self.places.insert(key.clone(), places);
    }

    fn join(&mut self, value: &str, key: &ObjectKey, object: &Arc<K>) -> Place {
        let value = match self.buckets.get_key_value(value) {
            Some((value, _)) => Arc::clone(value),
            None => value.into(),
        };
        let bucket = self.buckets.entry(Arc::clone(&value)).or_insert_with(Bucket::new);
        let place = bucket.push(key.clone(), Arc::clone(object));
        Place { value, place }
    }

    pub(super) fn remove(&mut self, key: &ObjectKey) {
        for Place { value, place } in self.places.remove(key).unwrap_or_default() {
            let Some(bucket) = self.buckets.get_mut(&value) else { continue };
            let moved = bucket.remove(place);
            if bucket.is_empty() {
                self.buckets.remove(&value);
            }
            let others = moved.and_then(|moved| self.places.get_mut(&moved));
            if let Some(other) = others.into_iter().flatten().find(|other| other.value == value) {
                other.place = place;
            }
        }
    }

    pub(super) fn list(&self, value: &str) -> Listing<K> {
        self.buckets.get(value).map_or_else(Listing::empty, Bucket::list)
    }

    pub(super) fn keys(&self, value: &str) -> Vec<ObjectKey> {
        self.buckets.get(value).map_or_else(Vec::new, Bucket::keys)
    }

    pub(super) fn values(&self) -> Vec<Arc<str>> {
        self.buckets.keys().cloned().collect()
    }
}

/// Calls an index function; one that panics leaves the object out of its index.
pub(super) fn values_of<K>(function: &IndexFn<K>, object: &K) -> Vec<String> {
    catch_unwind(AssertUnwindSafe(|| function(object))).unwrap_or_else(|_| {
        tracing::error!("an index function panicked; the object is left out of the index");
        Vec::new()
    })
}

/// Adds an indexer without holding the lock while its function runs.
///
/// From the first step on the writer keeps the index current for every key it touches; the objects found in the
/// second step are filled in afterwards, except those touched or deleted meanwhile.
pub(super) fn add<K>(shared: &Shared<K>, indexer: Indexer<K>) -> bool {
    let name = indexer.name.clone();
    let function = Arc::clone(&indexer.values);
    let present: Vec<(ObjectKey, Arc<K>)> = {
        let mut state = shared.write();
        if state.indexes().iter().any(|index| index.name == name) {
            return false;
        }
        state.indexes_mut().push(UserIndex::new(indexer));
        state.entries().map(|(key, object)| (key.clone(), Arc::clone(object))).collect()
    };
    let computed: Vec<Vec<String>> = present.iter().map(|(_, object)| values_of(&function, object)).collect();

    let mut state = shared.write();
    let Some(number) = state.indexes().iter().position(|index| index.name == name) else { return false };
    for ((key, object), values) in present.iter().zip(&computed) {
        let hash = shared.hash(key.namespace(), key.name());
        let current = state.find(hash, key.namespace(), key.name());
        let untouched = current.is_some_and(|current| Arc::ptr_eq(current, object));
        let index = &mut state.indexes_mut()[number];
        if untouched && !index.places.contains_key(key) {
            index.insert(key, object, values);
        }
    }
    state.indexes_mut()[number].complete = true;
    true
}
