/// __AllDocs__
pub type __Plural__ = client::AllNamespaces<__Client__>;

/// Gives clients of `__Kind__` objects.
pub trait __Getter__: Send + Sync + 'static {
    /// The client of a namespace.
    type __Given__: __Interface__;

    /// The `__Kind__` objects of one namespace. An empty one stands for all, whose objects can be listed and watched.
    fn __accessor__(&self, namespace: &str) -> Self::__Given__;
}

impl __Getter__ for __GroupVersion__Client {
    type __Given__ = __Client__;

    fn __accessor__(&self, namespace: &str) -> __Client__ {
        self.__accessor__().namespace(namespace)
    }
}
