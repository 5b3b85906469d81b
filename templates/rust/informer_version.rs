//! Informers of `__ApiVersion__`.

#[each(kind)]
pub mod __module__;

#[each(kind)]
#[when(reexport)]
pub use self::__module__::__Kind__Informer;

/// Informers of `__ApiVersion__`: one accessor per kind.
#[derive(Clone, Debug)]
pub struct __InformerGroupVersion__Informers {
    factory: ::kubesmith_runtime::informer::SharedInformerFactory,
}

impl __InformerGroupVersion__Informers {
    pub(crate) fn new(factory: ::kubesmith_runtime::informer::SharedInformerFactory) -> Self {
        Self { factory }
    }

    /// Informer and lister of `__Kind__` objects.
    #[each(kind)]
    #[must_use]
    pub fn __accessor__(&self) -> self::__module__::__Kind__Informer {
        self::__module__::__Kind__Informer::new(self.factory.clone())
    }
}
