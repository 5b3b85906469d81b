//! The informer of a kind in a generated factory.

use std::fmt;
use std::marker::PhantomData;

use super::{Cached, SharedInformer, SharedInformerFactory};
use crate::lister::Lister;

/// A factory's shared informer of a kind, and the lister over its cache: the result of a generated factory's
/// accessors.
///
/// The first call of [`informer`](Self::informer) or [`lister`](Self::lister) registers the informer; the factory runs it
/// from its next `start`.
///
/// ```
/// use k8s_openapi::api::core::v1::Pod;
/// use kubesmith_runtime::informer::{KindInformer, SharedInformerFactory};
/// use kubesmith_runtime::lister::Lister;
///
/// fn pods(factory: &SharedInformerFactory) -> Lister<Pod> {
///     let pods: KindInformer<Pod> = KindInformer::new(factory);
///     println!("{}", pods.informer().has_synced());
///     pods.lister()
/// }
/// ```
pub struct KindInformer<K, L = Lister<K>> {
    factory: SharedInformerFactory,
    types: PhantomData<fn() -> (K, L)>,
}

impl<K, L> KindInformer<K, L> {
    /// Makes the handle; the factory does not know the informer yet.
    #[must_use]
    pub fn new(factory: &SharedInformerFactory) -> Self {
        Self { factory: factory.clone(), types: PhantomData }
    }
}

impl<K: Cached<DynamicType = ()>, L: From<Lister<K>>> KindInformer<K, L> {
    /// The shared informer: add handlers and indexers here.
    #[must_use]
    #[inline]
    pub fn informer(&self) -> SharedInformer<K> {
        self.factory.informer_for()
    }

    /// Reads from the informer's cache.
    #[must_use]
    #[inline]
    pub fn lister(&self) -> L {
        self.informer().lister().into()
    }
}

impl<K, L> Clone for KindInformer<K, L> {
    fn clone(&self) -> Self {
        Self::new(&self.factory)
    }
}

impl<K, L> fmt::Debug for KindInformer<K, L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KindInformer").field("factory", &self.factory).finish_non_exhaustive()
    }
}
