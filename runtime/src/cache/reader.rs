//! The readers' view of the store.

use std::fmt;
use std::sync::{Arc, PoisonError};

use super::state::State;
use super::{Indexer, Listing, NoSuchIndex, ObjectKey, StoreWriter, Undecodable, index};
use crate::sync::{ShardedLock, ShardedLockReadGuard, ShardedLockWriteGuard};

/// Makes an empty store and returns its writer. [`StoreWriter::reader`] gives readers.
///
/// ```
/// use std::sync::Arc;
/// use k8s_openapi::api::core::v1::ConfigMap;
/// use kube::api::ObjectMeta;
/// use kubesmith_runtime::cache::{ObjectKey, store};
///
/// let mut writer = store::<ConfigMap>();
/// let readers = writer.reader();
/// let object = ConfigMap {
///     metadata: ObjectMeta { name: Some("a".into()), namespace: Some("default".into()), ..Default::default() },
///     ..Default::default()
/// };
/// writer.insert(&ObjectKey::of(&object), Arc::new(object));
/// assert!(readers.get("default", "a").is_some());
/// assert_eq!(readers.list_namespace("default").len(), 1);
/// ```
#[must_use]
pub fn store<K: Send + Sync + 'static>() -> StoreWriter<K> {
    StoreWriter::new(Store { shared: Arc::new(Shared { state: ShardedLock::new(State::new()) }) })
}

/// A reader of the store. Cheap to clone.
pub struct Store<K> {
    pub(super) shared: Arc<Shared<K>>,
}

pub(super) struct Shared<K> {
    /// Threads lock one of eight parts, so that readers rarely write to the same lock; the writer locks all parts
    /// (`bench/runtime`, row `lookups`).
    state: ShardedLock<State<K>>,
}

impl<K> Shared<K> {
    /// A panic under the lock can only come from running out of memory. The state is then still consistent enough
    /// to read.
    pub(super) fn read(&self) -> ShardedLockReadGuard<'_, State<K>> {
        self.state.read().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn write(&self) -> ShardedLockWriteGuard<'_, State<K>> {
        self.state.write().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<K: Send + Sync + 'static> Store<K> {
    /// Returns an object. `namespace` is empty for cluster-scoped kinds.
    #[must_use]
    pub fn get(&self, namespace: &str, name: &str) -> Option<Arc<K>> {
        self.shared.read().find_named(namespace, name)
    }

    /// Returns the object with this key.
    #[must_use]
    pub fn get_by_key(&self, key: &ObjectKey) -> Option<Arc<K>> {
        self.shared.read().find(key)
    }

    /// Reports whether the store has an object with this key.
    #[must_use]
    pub fn contains(&self, key: &ObjectKey) -> bool {
        self.shared.read().contains(key)
    }

    /// Returns the number of objects.
    #[must_use]
    pub fn len(&self) -> usize {
        self.shared.read().len()
    }

    /// Reports whether the store has no objects.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns all objects, sorted by namespace and name.
    #[must_use]
    pub fn list(&self) -> Listing<K> {
        self.shared.read().list()
    }

    /// Returns the objects of one namespace, sorted by name.
    #[must_use]
    pub fn list_namespace(&self, namespace: &str) -> Listing<K> {
        self.shared.read().list_namespace(namespace)
    }

    /// Returns all keys, sorted.
    #[must_use]
    pub fn keys(&self) -> Vec<ObjectKey> {
        self.shared.read().keys()
    }

    /// Returns every key with its object, sorted by key.
    #[must_use]
    pub fn entries(&self) -> Vec<(ObjectKey, Arc<K>)> {
        self.shared.read().entries()
    }

    /// Returns the namespaces that contain objects, sorted.
    #[must_use]
    pub fn namespaces(&self) -> Vec<Arc<str>> {
        self.shared.read().namespaces()
    }

    /// Returns the objects that have `value` in the index `index`, sorted by key.
    ///
    /// # Errors
    /// [`NoSuchIndex`] if no indexer has this name.
    pub fn by_index(&self, index: &str, value: &str) -> Result<Listing<K>, NoSuchIndex> {
        Ok(self.shared.read().index::<str>(index)?.list(value))
    }

    /// Returns the keys of [`Self::by_index`].
    ///
    /// # Errors
    /// As [`Self::by_index`].
    pub fn index_keys(&self, index: &str, value: &str) -> Result<Vec<ObjectKey>, NoSuchIndex> {
        Ok(self.shared.read().index::<str>(index)?.keys(value))
    }

    /// Returns the values that objects have in the index now, sorted.
    ///
    /// # Errors
    /// As [`Self::by_index`].
    pub fn index_values(&self, index: &str) -> Result<Vec<Arc<str>>, NoSuchIndex> {
        Ok(self.shared.read().index::<str>(index)?.values())
    }

    /// Returns the names of the indexers, in the order in which they were added.
    #[must_use]
    pub fn indexers(&self) -> Vec<String> {
        self.shared.read().index_names()
    }

    /// Adds an indexer at any time. Existing objects are indexed before this returns.
    ///
    /// Returns `false` and changes nothing if an indexer of this name exists.
    #[must_use = "an indexer whose name is taken is not added"]
    pub fn add_indexer(&self, indexer: Indexer<K>) -> bool {
        index::add(&self.shared, indexer)
    }

    /// Returns the resource version up to which the store is complete; empty before the first sync.
    #[must_use]
    pub fn resource_version(&self) -> String {
        self.shared.read().resource_version().to_owned()
    }

    /// Returns the keys of objects that exist but could not be decoded, sorted. The store keeps the last state that
    /// could be decoded, if there was one.
    #[must_use]
    pub fn undecodable(&self) -> Vec<(ObjectKey, Undecodable)> {
        self.shared.read().undecodable.to_vec()
    }
}

impl<K> Clone for Store<K> {
    fn clone(&self) -> Self {
        Self { shared: Arc::clone(&self.shared) }
    }
}

impl<K> fmt::Debug for Store<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = self.shared.read();
        f.debug_struct("Store")
            .field("len", &state.len())
            .field("resource_version", &state.resource_version())
            .finish_non_exhaustive()
    }
}
