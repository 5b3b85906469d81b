//! Informers of the group `__GroupTitle__`.

#[each(version)]
pub mod __version__;

/// Informers of the group `__GroupTitle__`: one accessor per version.
#[derive(Clone, Debug)]
pub struct __InformerGroup__Informers {
    factory: ::kubesmith_runtime::informer::SharedInformerFactory,
}

impl __InformerGroup__Informers {
    pub(crate) fn new(factory: ::kubesmith_runtime::informer::SharedInformerFactory) -> Self {
        Self { factory }
    }

    /// Informers of `__ApiVersion__`.
    #[each(version)]
    #[must_use]
    pub fn __version_accessor__(&self) -> self::__version__::__InformerGroupVersion__Informers {
        self::__version__::__InformerGroupVersion__Informers::new(self.factory.clone())
    }
}
