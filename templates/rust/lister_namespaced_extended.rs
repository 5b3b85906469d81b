/// __Docs__
#[derive(Clone, Debug)]
pub struct __Lister__ {
    inner: lister::Lister<__Object__>,
}

impl From<lister::Lister<__Object__>> for __Lister__ {
    fn from(inner: lister::Lister<__Object__>) -> Self {
        Self { inner }
    }
}

impl ::core::ops::Deref for __Lister__ {
    type Target = lister::Lister<__Object__>;

    fn deref(&self) -> &Self::Target {
        &self.inner
    }
}

impl __Lister__ {
    /// The objects of one namespace.
    #[must_use]
    pub fn namespace(&self, namespace: &str) -> __NamespaceLister__ {
        __NamespaceLister__ { inner: self.inner.namespace(namespace) }
    }
}

/// Reads the `__Kind__` objects of one namespace from an informer's cache.
#[derive(Clone, Debug)]
pub struct __NamespaceLister__ {
    inner: lister::NamespaceLister<__Object__>,
}

impl ::core::ops::Deref for __NamespaceLister__ {
    type Target = lister::NamespaceLister<__Object__>;

    fn deref(&self) -> &Self::Target {
        &self.inner
    }
}
