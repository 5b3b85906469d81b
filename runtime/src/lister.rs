//! Read access to a cache, like client-go's listers.
//!
//! ```
//! use k8s_openapi::api::core::v1::{Node, Pod};
//! use kubesmith_runtime::cache::{ObjectKey, store};
//! use kubesmith_runtime::labels::Selector;
//! use kubesmith_runtime::lister::{Lister, NamespaceLister, NotFound};
//!
//! let pods: Lister<Pod> = Lister::new(store().reader());
//! assert!(pods.store().is_empty() && pods.list(&Selector::everything()).is_empty());
//! let missing: NotFound = pods.get_by_key(&ObjectKey::namespaced("default", "web")).unwrap_err();
//! assert_eq!(missing.to_string(), "pod \"web\" not found");
//! let default: NamespaceLister<Pod> = pods.namespace("default");
//! assert_eq!(default.namespace(), "default");
//! assert!(default.get("web").is_err() && default.list(&Selector::everything()).is_empty());
//! assert!(pods.list_namespace("default", &Selector::everything()).is_empty());
//! let nodes: Lister<Node> = Lister::new(store().reader());
//! assert!(nodes.get("n1").is_err());
//! ```

use std::fmt;
use std::sync::Arc;

use k8s_openapi::{ClusterResourceScope, NamespaceResourceScope};
use kube::Resource;
use kube::core::DynamicResourceScope;

use crate::cache::{IndexKey, Listing, NoSuchIndex, ObjectKey, Store, TypedIndex};
use crate::labels::Selector;
use crate::object::{Cached, KindFacts, KindOf, resource_name};

/// Lists and finds cached objects of kind `K`. It sends no requests. Objects are shared, and no fresher than the
/// watch.
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
    /// The resource, for messages.
    resource: Arc<str>,
}

/// A [`Lister`] limited to one namespace.
pub struct NamespaceLister<K> {
    store: Store<K>,
    resource: Arc<str>,
    namespace: String,
}

mod sealed {
    pub trait Sealed {}
    impl Sealed for k8s_openapi::ClusterResourceScope {}
    impl Sealed for k8s_openapi::NamespaceResourceScope {}
    impl Sealed for kube::core::DynamicResourceScope {}
}

/// Scopes of kinds that may be cluster-scoped: cluster-scoped kinds and dynamic kinds.
///
/// ```
/// use kubesmith_runtime::informer::Cached;
/// use kubesmith_runtime::lister::{Lister, MaybeCluster};
///
/// fn is_there<K: Cached<Kind: kube::Resource<Scope: MaybeCluster>>>(lister: &Lister<K>, name: &str) -> bool {
///     lister.get(name).is_ok()
/// }
/// ```
pub trait MaybeCluster: sealed::Sealed {}
impl MaybeCluster for ClusterResourceScope {}
impl MaybeCluster for DynamicResourceScope {}

/// Scopes of kinds that may be namespaced: namespaced kinds and dynamic kinds.
///
/// ```
/// use kubesmith_runtime::informer::Cached;
/// use kubesmith_runtime::lister::{Lister, MaybeNamespaced};
///
/// fn is_there<K: Cached<Kind: kube::Resource<Scope: MaybeNamespaced>>>(lister: &Lister<K>, name: &str) -> bool {
///     lister.namespace("default").get(name).is_ok()
/// }
/// ```
pub trait MaybeNamespaced: sealed::Sealed {}
impl MaybeNamespaced for NamespaceResourceScope {}
impl MaybeNamespaced for DynamicResourceScope {}

/// The cache does not have the object. The message is client-go's.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{resource} \"{name}\" not found")]
pub struct NotFound {
    /// The kind in lower case with its group: `ecsbinding.hopegi.com`.
    pub resource: String,
    /// The requested name.
    pub name: String,
}

impl NotFound {
    fn of(resource: &str, name: &str) -> Self {
        Self { resource: resource.to_owned(), name: name.to_owned() }
    }
}

impl<K: Cached> Lister<K> {
    /// Makes a lister of `store`. Informers make the listers of dynamic kinds.
    #[must_use]
    pub fn new(store: Store<K>) -> Self
    where
        K: Cached<DynamicType = ()>,
    {
        Self::of(store, &KindOf::<K>::of_type().facts())
    }

    pub(crate) fn of(store: Store<K>, kind: &KindFacts) -> Self {
        Self { store, resource: resource_name(&kind.kind.to_lowercase(), &kind.group).into() }
    }

    /// Returns the objects whose labels match, sorted by key.
    #[must_use]
    pub fn list(&self, selector: &Selector) -> Listing<K> {
        matching(self.store.list(), selector)
    }

    /// Returns the object with this name.
    ///
    /// # Errors
    /// [`NotFound`] if the cache does not have it.
    pub fn get(&self, name: &str) -> Result<Arc<K>, NotFound>
    where
        K: Cached<Kind: Resource<Scope: MaybeCluster>>,
    {
        self.store.get("", name).ok_or_else(|| NotFound::of(&self.resource, name))
    }

    /// Returns the object with this key, in any scope, as reconcilers need it.
    ///
    /// # Errors
    /// [`NotFound`] if the cache does not have it.
    pub fn get_by_key(&self, key: &ObjectKey) -> Result<Arc<K>, NotFound> {
        self.store.get_by_key(key).ok_or_else(|| NotFound::of(&self.resource, key.name()))
    }

    /// Returns the objects of a namespace whose labels match, in any scope, sorted by name.
    #[must_use]
    pub fn list_namespace(&self, namespace: &str, selector: &Selector) -> Listing<K> {
        matching(self.store.list_namespace(namespace), selector)
    }

    /// Returns a lister of one namespace.
    #[must_use]
    pub fn namespace(&self, namespace: &str) -> NamespaceLister<K>
    where
        K: Cached<Kind: Resource<Scope: MaybeNamespaced>>,
    {
        let (store, resource) = (self.store.clone(), Arc::clone(&self.resource));
        NamespaceLister { store, resource, namespace: namespace.to_owned() }
    }

    /// Returns the objects that have `value` in the index `index`, sorted by key.
    ///
    /// # Errors
    /// [`NoSuchIndex`] if the informer has no such indexer.
    pub fn by_index(&self, index: &str, value: &str) -> Result<Listing<K>, NoSuchIndex> {
        self.store.by_index(index, value)
    }

    /// Returns the objects that have the key in an index of the informer, sorted by namespace and name.
    ///
    /// # Errors
    /// [`NoSuchIndex`] if the index belongs to another informer.
    ///
    /// ```
    /// use k8s_openapi::api::core::v1::Pod;
    /// use kubesmith_runtime::cache::TypedIndex;
    /// use kubesmith_runtime::lister::Lister;
    ///
    /// // How many pods a controller has made on a node; the index is by name of the node and UID of the owner.
    /// fn on_node(pods: &Lister<Pod>, index: &TypedIndex<Pod, (String, String)>, node: &str, owner: &str) -> usize {
    ///     pods.by(index, &(node.to_owned(), owner.to_owned())).map_or(0, |pods| pods.len())
    /// }
    /// ```
    pub fn by<V: IndexKey>(&self, index: &TypedIndex<K, V>, key: &V) -> Result<Listing<K>, NoSuchIndex> {
        self.store.by(index, key)
    }

    /// Returns the store.
    #[must_use]
    pub fn store(&self) -> &Store<K> {
        &self.store
    }
}

impl<K: Cached> NamespaceLister<K> {
    /// Returns the namespace.
    #[must_use]
    pub fn namespace(&self) -> &str {
        &self.namespace
    }

    /// Returns the objects of the namespace whose labels match, sorted by name.
    #[must_use]
    pub fn list(&self, selector: &Selector) -> Listing<K> {
        matching(self.store.list_namespace(&self.namespace), selector)
    }

    /// Returns the object with this name in the namespace.
    ///
    /// # Errors
    /// [`NotFound`] if the cache does not have it.
    pub fn get(&self, name: &str) -> Result<Arc<K>, NotFound> {
        self.store.get(&self.namespace, name).ok_or_else(|| NotFound::of(&self.resource, name))
    }
}

fn matching<K: Cached>(objects: Listing<K>, selector: &Selector) -> Listing<K> {
    if selector.is_everything() {
        return objects;
    }
    let mut selected = Vec::new();
    for object in &objects {
        if object.is_selected_by(selector) {
            selected.push(Arc::clone(object));
        }
    }
    selected.into()
}

impl<K> Clone for Lister<K> {
    fn clone(&self) -> Self {
        Self { store: self.store.clone(), resource: Arc::clone(&self.resource) }
    }
}

impl<K> Clone for NamespaceLister<K> {
    fn clone(&self) -> Self {
        let (store, resource) = (self.store.clone(), Arc::clone(&self.resource));
        Self { store, resource, namespace: self.namespace.clone() }
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
