/// Gives the client of `__Kind__` objects.
pub trait __Getter__: Send + Sync + 'static {
    /// The client.
    type __Given__: __Interface__;

    /// The client of `__Kind__` objects.
    fn __accessor__(&self) -> Self::__Given__;
}

impl __Getter__ for __GroupVersion__Client {
    type __Given__ = __Client__;

    fn __accessor__(&self) -> __Client__ {
        self.__accessor__()
    }
}
