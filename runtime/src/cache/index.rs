//! Indexes that users add to a store.

use std::any::Any;
use std::borrow::Borrow as _;
use std::collections::BTreeMap;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use hashbrown::HashMap;

use super::bucket::Bucket;
use super::{Listing, ObjectKey, Shared};

/// Computes an object's values in an index. An object without values is not in the index. [`Indexer`] has an
/// example.
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
    /// Indexes objects by the values that `values` returns, which must be the same for the same object.
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

/// No index has this name, or the index belongs to another store.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", self.message())]
pub struct NoSuchIndex {
    /// The requested name.
    pub name: String,
    /// The existing indexes whose keys have this type.
    pub known: Vec<String>,
    /// The index exists but belongs to another store, such as another informer's.
    pub of_another_store: bool,
}

impl NoSuchIndex {
    fn message(&self) -> String {
        let (name, known) = (&self.name, self.known.join(", "));
        if self.of_another_store {
            return format!(
                "the index \"{name}\" belongs to another store; use the index of this store's informer"
            );
        }
        format!("there is no index \"{name}\" (there are: {known}); add it with add_indexer")
    }
}

/// The type that keys are looked up by: `str`, or a type of the user's.
pub(super) trait Key: Ord + ToOwned<Owned: Clone + Send> + Send + Sync + 'static {
    fn shared(&self) -> Arc<Self>;
}

impl Key for str {
    fn shared(&self) -> Arc<Self> {
        self.into()
    }
}

impl<V: Ord + Clone + Send + Sync + 'static> Key for V {
    fn shared(&self) -> Arc<Self> {
        Arc::new(self.clone())
    }
}

/// An object's keys in an index: the `Vec` that its function returns.
pub(super) type Values = Box<dyn Any + Send>;

/// The function of an index, whatever the type of its keys.
pub(super) type Function<K> = Arc<dyn Fn(&K) -> Values + Send + Sync>;

/// An index as the store and its writer see it, whatever the type of its keys.
pub(super) trait AnyIndex<K>: Send + Sync {
    fn name(&self) -> &str;
    fn function(&self) -> &Function<K>;
    fn is_complete(&self) -> bool;
    fn complete(&mut self);
    fn contains(&self, key: &ObjectKey) -> bool;
    fn insert(&mut self, key: &ObjectKey, object: &Arc<K>, values: &Values);
    fn remove(&mut self, key: &ObjectKey);
    fn as_any(&self) -> &dyn Any;
}

/// An index in the store.
pub(super) struct UserIndex<K, Q: Key + ?Sized> {
    name: String,
    function: Function<K>,
    buckets: BTreeMap<Arc<Q>, Bucket<K>>,
    /// The positions of each object, one entry per value.
    places: HashMap<ObjectKey, Vec<Place<Q>>>,
    /// False until the index contains the objects that existed before it.
    complete: bool,
}

struct Place<Q: ?Sized> {
    value: Arc<Q>,
    place: u32,
}

impl<K: Send + Sync + 'static, Q: Key + ?Sized> UserIndex<K, Q> {
    fn new(name: String, function: Function<K>) -> Self {
        Self { name, function, buckets: BTreeMap::new(), places: HashMap::new(), complete: false }
    }

    fn join(&mut self, value: &Q, key: &ObjectKey, object: &Arc<K>) -> Place<Q> {
        let value = match self.buckets.get_key_value(value) {
            Some((value, _)) => Arc::clone(value),
            None => value.shared(),
        };
        let bucket = self.buckets.entry(Arc::clone(&value)).or_insert_with(Bucket::new);
        let place = bucket.push(key.clone(), Arc::clone(object));
        Place { value, place }
    }

    pub(super) fn list(&self, value: &Q) -> Listing<K> {
        self.buckets.get(value).map_or_else(Listing::empty, Bucket::list)
    }

    pub(super) fn keys(&self, value: &Q) -> Vec<ObjectKey> {
        self.buckets.get(value).map_or_else(Vec::new, Bucket::keys)
    }

    pub(super) fn values(&self) -> Vec<Arc<Q>> {
        self.buckets.keys().cloned().collect()
    }
}

impl<K: Send + Sync + 'static, Q: Key + ?Sized> AnyIndex<K> for UserIndex<K, Q> {
    fn name(&self) -> &str {
        &self.name
    }

    fn function(&self) -> &Function<K> {
        &self.function
    }

    fn is_complete(&self) -> bool {
        self.complete
    }

    fn complete(&mut self) {
        self.complete = true;
    }

    fn contains(&self, key: &ObjectKey) -> bool {
        self.places.contains_key(key)
    }

    fn insert(&mut self, key: &ObjectKey, object: &Arc<K>, values: &Values) {
        // Values of another type belong to another index, and no other index has this slot.
        let Some(values) = values.downcast_ref::<Vec<Q::Owned>>() else { return };
        let unchanged = self.places.get(key).is_some_and(|places| {
            places.len() == values.len()
                && places.iter().zip(values).all(|(place, value)| *place.value == *value.borrow())
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
        let mut places: Vec<Place<Q>> = Vec::with_capacity(values.len());
        for value in values {
            if places.iter().any(|place| *place.value == *value.borrow()) {
                continue;
            }
            places.push(self.join(value.borrow(), key, object));
        }
        self.places.insert(key.clone(), places);
    }

    fn remove(&mut self, key: &ObjectKey) {
        for Place { value, place } in self.places.remove(key).unwrap_or_default() {
            let Some(bucket) = self.buckets.get_mut(&value) else { continue };
            let moved = bucket.remove(place).and_then(|removed| removed.moved);
            if bucket.is_empty() {
                self.buckets.remove(&value);
            }
            let others = moved.and_then(|moved| self.places.get_mut(&moved));
            if let Some(other) = others.into_iter().flatten().find(|other| other.value == value) {
                other.place = place;
            }
        }
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

/// Calls an index function. If it panics, the object is not in the index.
fn values_of<K, V>(function: &dyn Fn(&K) -> Vec<V>, object: &K) -> Vec<V> {
    catch_unwind(AssertUnwindSafe(|| function(object))).unwrap_or_else(|_| {
        tracing::error!("an index function panicked; the object is left out of the index");
        Vec::new()
    })
}

/// Adds an indexer of strings; see [`add_typed`].
pub(super) fn add<K: Send + Sync + 'static>(shared: &Shared<K>, indexer: Indexer<K>) -> bool {
    let Indexer { name, values } = indexer;
    add_typed::<K, str>(shared, &name, move |object| values(object))
}

/// Adds an index. Its function runs without the lock.
///
/// From the first step on, the writer keeps the index current for every key that it changes. The second step adds
/// the objects that existed before, except those changed or deleted meanwhile.
pub(super) fn add_typed<K: Send + Sync + 'static, Q: Key + ?Sized>(
    shared: &Shared<K>,
    name: &str,
    values: impl Fn(&K) -> Vec<Q::Owned> + Send + Sync + 'static,
) -> bool
where
    Q::Owned: 'static,
{
    let function: Function<K> = Arc::new(move |object| Box::new(values_of(&values, object)));
    let index = UserIndex::<K, Q>::new(name.to_owned(), Arc::clone(&function));
    fill(shared, name, &function, Box::new(index))
}

fn fill<K: Send + Sync + 'static>(
    shared: &Shared<K>,
    name: &str,
    function: &Function<K>,
    new: Box<dyn AnyIndex<K>>,
) -> bool {
    let present: Vec<(ObjectKey, Arc<K>)> = {
        let mut state = shared.write();
        if state.indexes().iter().any(|index| index.name() == name) {
            return false;
        }
        state.indexes_mut().push(new);
        state.entries()
    };
    let computed: Vec<Values> = present.iter().map(|(_, object)| function(object)).collect();

    let mut state = shared.write();
    let Some(number) = state.indexes().iter().position(|index| index.name() == name) else { return false };
    for ((key, object), values) in present.iter().zip(&computed) {
        let untouched = state.find(key).is_some_and(|current| Arc::ptr_eq(&current, object));
        let index = &mut state.indexes_mut()[number];
        if untouched && !index.contains(key) {
            index.insert(key, object, values);
        }
    }
    state.indexes_mut()[number].complete();
    true
}
