//! Informer of the `__Kind__` objects of `__ApiVersion__`.

#[when(imports_object)]
use __ObjectPath__;
use ::kubesmith_runtime::informer;
#[unless(lister)]
use ::kubesmith_runtime::lister::Lister;

#[when(lister)]
use __root__::listers::__group__::__version__::__module__::__Kind__Lister;

/// The factory's shared informer of `__Kind__` objects.
///
/// __Summary__
///
/// The factory knows the informer from the first call of [`informer`](Self::informer) or
/// [`lister`](Self::lister) on, and runs it from its next `start` on.
#[derive(Clone, Debug)]
pub struct __Kind__Informer {
    factory: informer::SharedInformerFactory,
}

impl __Kind__Informer {
    pub(crate) fn new(factory: informer::SharedInformerFactory) -> Self {
        Self { factory }
    }

    /// The shared informer: add handlers and indexers here.
    #[must_use]
    #[inline]
    pub fn informer(&self) -> informer::SharedInformer<__Object__> {
        self.factory.informer_for()
    }

    /// Reads from the informer's cache.
    #[when(lister)]
    #[must_use]
    #[inline]
    pub fn lister(&self) -> __Kind__Lister {
        __Kind__Lister::new(self.informer().lister())
    }

    /// Reads from the informer's cache.
    #[unless(lister)]
    #[must_use]
    #[inline]
    pub fn lister(&self) -> Lister<__Object__> {
        self.informer().lister()
    }
}
