/// __Docs__
pub type __Lister__ = lister::Lister<__Object__>;

/// Reads the `__Kind__` objects of one namespace from an informer's cache.
pub type __NamespaceLister__ = lister::NamespaceLister<__Object__>;
