//! Indexes whose keys are Rust types.

use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

use super::index;
use super::{Listing, NoSuchIndex, ObjectKey, Store};

/// The keys that an index may have: every type that is ordered, cloneable and shareable between threads.
///
/// ```
/// use kubesmith_runtime::cache::{IndexKey, TypedIndex};
///
/// fn how_many<K: Send + Sync + 'static, V: IndexKey>(index: &TypedIndex<K, V>) -> usize {
///     index.values().len()
/// }
/// ```
pub trait IndexKey: Ord + Clone + Send + Sync + 'static {}
impl<V: Ord + Clone + Send + Sync + 'static> IndexKey for V {}

/// An index with keys of type `V`. Its holder cannot look up a key of another type, nor use an index that does not
/// exist.
///
/// [`SharedInformer::add_typed_index`](crate::informer::SharedInformer::add_typed_index) makes one for an informer,
/// [`Store::add_typed_index`] for a store.
///
/// ```
/// use std::net::IpAddr;
/// use std::sync::Arc;
/// use k8s_openapi::api::core::v1::Pod;
/// use kubesmith_runtime::cache::{ObjectKey, TypedIndex, store};
///
/// let mut writer = store::<Pod>();
/// let pods = writer.reader();
/// let by_address: Option<TypedIndex<Pod, IpAddr>> = pods.add_typed_index("address", |pod: &Pod| {
///     pod.status.iter().filter_map(|status| status.pod_ip.as_ref()?.parse().ok()).collect()
/// });
/// let by_address = by_address.expect("no other index has the name");
///
/// let mut pod = Pod::default();
/// pod.status.get_or_insert_default().pod_ip = Some("10.0.0.7".to_owned());
/// writer.insert(&ObjectKey::namespaced("default", "web"), Arc::new(pod));
///
/// let address = IpAddr::from([10, 0, 0, 7]);
/// assert_eq!(by_address.list(&address).len(), 1);
/// assert_eq!(by_address.keys(&address), [ObjectKey::namespaced("default", "web")]);
/// assert_eq!((by_address.values(), by_address.name()), (vec![address], "address"));
/// assert_eq!(pods.by(&by_address, &address).map(|pods| pods.len()), Ok(1));
/// assert!(pods.by_index("address", "10.0.0.7").is_err(), "its keys are no strings");
/// ```
pub struct TypedIndex<K, V> {
    name: Arc<str>,
    store: Store<K>,
    key: PhantomData<fn(&V)>,
}

impl<K: Send + Sync + 'static, V: IndexKey> TypedIndex<K, V> {
    /// The index's name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the objects with this key, sorted by namespace and name.
    #[must_use]
    pub fn list(&self, key: &V) -> Listing<K> {
        self.store.by(self, key).unwrap_or_else(|_| Listing::empty())
    }

    /// Returns namespaces and names of the objects with this key, sorted.
    #[must_use]
    pub fn keys(&self, key: &V) -> Vec<ObjectKey> {
        self.store.shared.read().index::<V>(&self.name).map_or_else(|_| Vec::new(), |index| index.keys(key))
    }

    /// Returns the keys that objects have now, sorted.
    #[must_use]
    pub fn values(&self) -> Vec<V> {
        let state = self.store.shared.read();
        let values = state.index::<V>(&self.name).map(|index| index.values());
        values.into_iter().flatten().map(|value| V::clone(&value)).collect()
    }
}

impl<K: Send + Sync + 'static> Store<K> {
    /// Adds an index with keys of a Rust type at any time. Existing objects are indexed before this returns.
    /// `values` must return the same keys for the same object. [`TypedIndex`] has an example.
    ///
    /// Returns `None` and changes nothing if an index of this name exists.
    #[must_use = "an index whose name is taken is not added"]
    pub fn add_typed_index<V: IndexKey>(
        &self,
        name: &str,
        values: impl Fn(&K) -> Vec<V> + Send + Sync + 'static,
    ) -> Option<TypedIndex<K, V>> {
        let is_new = index::add_typed::<K, V>(&self.shared, name, values);
        is_new.then(|| TypedIndex { name: name.into(), store: self.clone(), key: PhantomData })
    }

    /// Returns the objects that have this key in the index, sorted by namespace and name.
    ///
    /// # Errors
    /// [`NoSuchIndex`] if the index belongs to another store.
    pub fn by<V: IndexKey>(&self, index: &TypedIndex<K, V>, key: &V) -> Result<Listing<K>, NoSuchIndex> {
        let state = self.shared.read();
        // An index of the same name and type may use another function.
        if !Arc::ptr_eq(&self.shared, &index.store.shared) {
            return Err(state.no_such_index::<V>(&index.name, true));
        }
        Ok(state.index::<V>(&index.name)?.list(key))
    }
}

impl<K, V> Clone for TypedIndex<K, V> {
    fn clone(&self) -> Self {
        Self { name: Arc::clone(&self.name), store: self.store.clone(), key: PhantomData }
    }
}

impl<K, V> fmt::Debug for TypedIndex<K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TypedIndex").field("name", &self.name).finish_non_exhaustive()
    }
}
