//! Lister of the `__Kind__` objects of `__ApiVersion__`.

use ::std::sync::Arc;

#[when(imports_object)]
use __ObjectPath__;
use ::kubesmith_runtime::{cache, labels, lister};

/// What was written by hand beside this file.
#[when(lister_expansion)]
#[path = "__module___expansion.rs"]
pub mod expansion;

/// Reads `__Kind__` objects from an informer's cache. Objects are shared: clone one to change it.
///
/// __Summary__
#[derive(Clone, Debug)]
pub struct __Kind__Lister {
    inner: lister::Lister<__Object__>,
}

impl __Kind__Lister {
    /// Makes the lister from the runtime's, such as an informer's.
    #[must_use]
    #[inline]
    pub fn new(inner: lister::Lister<__Object__>) -> Self {
        Self { inner }
    }

    /// The objects whose labels the selector matches, sorted by key.
    #[must_use]
    #[inline]
    pub fn list(
        &self,
        selector: &labels::Selector,
    ) -> cache::Listing<__Object__> {
        self.inner.list(selector)
    }

    /// The object of that name.
    ///
    /// # Errors
    /// There is none in the cache; the error names the resource.
    #[when(cluster)]
    #[inline]
    pub fn get(
        &self,
        name: &str,
    ) -> Result<Arc<__Object__>, lister::NotFound> {
        self.inner.get(name)
    }

    /// The objects that the informer's indexer of that name files under the value, sorted by key.
    ///
    /// # Errors
    /// The informer has no such indexer.
    #[inline]
    pub fn by_index(
        &self,
        index: &str,
        value: &str,
    ) -> Result<
        cache::Listing<__Object__>,
        cache::NoSuchIndex,
    > {
        self.inner.by_index(index, value)
    }

    /// The objects that a typed index of the informer files under the key, sorted by key.
    ///
    /// # Errors
    /// The index is another informer's.
    #[inline]
    pub fn by<V: cache::IndexKey>(
        &self,
        index: &cache::TypedIndex<__Object__, V>,
        key: &V,
    ) -> Result<
        cache::Listing<__Object__>,
        cache::NoSuchIndex,
    > {
        self.inner.by(index, key)
    }

    /// The objects of one namespace.
    #[when(namespaced)]
    #[must_use]
    #[inline]
    pub fn namespace(&self, namespace: &str) -> __Kind__NamespaceLister {
        __Kind__NamespaceLister { inner: self.inner.namespace(namespace) }
    }
}

/// Reads the `__Kind__` objects of one namespace from an informer's cache.
#[when(namespaced)]
#[derive(Clone, Debug)]
pub struct __Kind__NamespaceLister {
    inner: lister::NamespaceLister<__Object__>,
}

#[when(namespaced)]
impl __Kind__NamespaceLister {
    /// The objects of the namespace whose labels the selector matches, sorted by name.
    #[must_use]
    #[inline]
    pub fn list(
        &self,
        selector: &labels::Selector,
    ) -> cache::Listing<__Object__> {
        self.inner.list(selector)
    }

    /// The object of that name in the namespace.
    ///
    /// # Errors
    /// There is none in the cache; the error names the resource.
    #[inline]
    pub fn get(
        &self,
        name: &str,
    ) -> Result<Arc<__Object__>, lister::NotFound> {
        self.inner.get(name)
    }
}
