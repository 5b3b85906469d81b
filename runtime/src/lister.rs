//! Read access to a cache, in the shape of client-go's listers.

use std::fmt;
use std::sync::Arc;

use k8s_openapi::{ClusterResourceScope, NamespaceResourceScope};
use kube::Resource;

use crate::cache::{Listing, NoSuchIndex, ObjectKey, Store};
use crate::labels::Selector;
use crate::reflector::Cached;

/// Lists and finds cached objects of kind `K`. Nothing here talks to the server; objects are shared and must
/// not be thought fresher than the watch.
///
/// ```
/// use k8s_openapi::api::core::v1::Pod;
/// use kubesmith_runtime::labels::Selector;
/// use kubesmith_runtime::lister::Lister;
///
/// fn gold(lister: &Lister<Pod>) -> usize {
///     let selector: Selector = "tier=gold".parse().unwrap_or_default();
///     lister.namespace("default").list(&selector).len()
/// }
/// ```
pub struct Lister<K> {
    store: Store<K>,
}

/// [`Lister`] bound to one namespace.
pub struct NamespaceLister<K> {
    store: Store<K>,
    namespace: String,
}

/// No such object in the cache; prints as client-go does.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{resource} \"{name}\" not found")]
pub struct NotFound {
    /// The kind in lower case with its group: `ecsbinding.hopegi.com`.
    pub resource: String,
    /// The name that was looked for.
    pub name: String,
}

impl NotFound {
    fn of<K: Cached>(name: &str) -> Self {
        let (kind, group) = (K::Kind::kind(&()).to_lowercase(), K::Kind::group(&()));
        let resource = if group.is_empty() { kind } else { format!("{kind}.{group}") };
        Self { resource, name: name.to_owned() }
    }
}

impl<K: Cached> Lister<K> {
    /// Reads from `store`.
    #[must_use]
    pub fn new(store: Store<K>) -> Self {
        Self { store }
    }

    /// The objects whose labels match, sorted by key.
    #[must_use]
    pub fn list(&self, selector: &Selector) -> Listing<K> {
        matching(self.store.list(), selector)
    }

    /// The object of that name.
    ///
    /// # Errors
    /// [`NotFound`] when the cache has none.
    pub fn get(&self, name: &str) -> Result<Arc<K>, NotFound>
    where
        K: Cached<Kind: Resource<Scope = ClusterResourceScope>>,
    {
        self.store.get("", name).ok_or_else(|| NotFound::of::<K>(name))
    }

    /// The object of that key, whatever the scope: what a reconciler looks up.
    ///
    /// # Errors
    /// [`NotFound`] when the cache has none.
    pub fn get_by_key(&self, key: &ObjectKey) -> Result<Arc<K>, NotFound> {
        self.store.get_by_key(key).ok_or_else(|| NotFound::of::<K>(key.name()))
    }

    /// Objects of one namespace.
    #[must_use]
    pub fn namespace(&self, namespace: &str) -> NamespaceLister<K>
    where
        K: Cached<Kind: Resource<Scope = NamespaceResourceScope>>,
    {
        NamespaceLister { store: self.store.clone(), namespace: namespace.to_owned() }
    }

    /// The objects with `value` in the index `index`, sorted by key.
    ///
    /// # Errors
    /// [`NoSuchIndex`] when the informer has no such indexer.
    pub fn by_index(&self, index: &str, value: &str) -> Result<Listing<K>, NoSuchIndex> {
        self.store.by_index(index, value)
    }

    /// The store itself.
    #[must_use]
    pub fn store(&self) -> &Store<K> {
        &self.store
    }
}

impl<K: Cached> NamespaceLister<K> {
    /// The namespace.
    #[must_use]
    pub fn namespace(&self) -> &str {
        &self.namespace
    }

    /// The objects of the namespace whose labels match, sorted by name.
    #[must_use]
    pub fn list(&self, selector: &Selector) -> Listing<K> {
        matching(self.store.list_namespace(&self.namespace), selector)
    }

    /// The object of that name in the namespace.
    ///
    /// # Errors
    /// [`NotFound`] when the cache has none.
    pub fn get(&self, name: &str) -> Result<Arc<K>, NotFound> {
        self.store.get(&self.namespace, name).ok_or_else(|| NotFound::of::<K>(name))
    }
}

fn matching<K: Cached>(objects: Listing<K>, selector: &Selector) -> Listing<K> {
    if selector.is_everything() {
        return objects;
    }
    let selected = objects.iter().filter(|object| object.is_selected_by(selector));
    selected.cloned().collect()
}

impl<K> Clone for Lister<K> {
    fn clone(&self) -> Self {
        Self { store: self.store.clone() }
    }
}

impl<K> Clone for NamespaceLister<K> {
    fn clone(&self) -> Self {
        Self { store: self.store.clone(), namespace: self.namespace.clone() }
    }
}

impl<K> fmt::Debug for Lister<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Lister").field(&self.store).finish()
    }
}

impl<K> fmt::Debug for NamespaceLister<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NamespaceLister").field("namespace", &self.namespace).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
