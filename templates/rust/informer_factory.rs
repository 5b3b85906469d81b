//! The factory of this package's shared informers.

/// Hands out one shared informer per kind, starts them, waits for their caches and shuts them down.
///
/// It is a handle: clones share the informers. What is not said here comes from the runtime's
/// [`SharedInformerFactory`](::kubesmith_runtime::informer::SharedInformerFactory), to which it
/// dereferences: `start`, `wait_for_cache_sync`, `shutdown`, and `informer_for` for kinds that are
/// not in this package.
#[derive(Clone, Debug)]
pub struct SharedInformerFactory {
    inner: ::kubesmith_runtime::informer::SharedInformerFactory,
}

impl SharedInformerFactory {
    /// Starts a factory's configuration; a clientset or a client says which server to watch.
    #[must_use]
    pub fn builder(
        client: impl ::core::convert::Into<::kubesmith_runtime::kube::Client>,
    ) -> ::kubesmith_runtime::informer::SharedInformerFactoryBuilder<Self> {
        ::kubesmith_runtime::informer::SharedInformerFactoryBuilder::new(client.into())
    }

    /// Informers of the group `__GroupTitle__`.
    #[each(group)]
    #[must_use]
    pub fn __informer_group__(&self) -> super::__group__::__InformerGroup__Informers {
        super::__group__::__InformerGroup__Informers::new(self.inner.clone())
    }
}

impl ::core::convert::From<::kubesmith_runtime::informer::SharedInformerFactory> for SharedInformerFactory {
    fn from(inner: ::kubesmith_runtime::informer::SharedInformerFactory) -> Self {
        Self { inner }
    }
}

impl ::core::ops::Deref for SharedInformerFactory {
    type Target = ::kubesmith_runtime::informer::SharedInformerFactory;

    fn deref(&self) -> &Self::Target {
        &self.inner
    }
}
