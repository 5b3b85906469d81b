//! Shared informers, by group and version, and the factory that owns them.

use ::kubesmith_runtime::informer;

/// Hands out one shared informer per kind, starts them, waits for their caches and shuts them down.
///
/// It is a handle: clones share the informers. It dereferences to the runtime's
/// [`SharedInformerFactory`](informer::SharedInformerFactory), which has `start`, `wait_for_cache_sync`, `shutdown`, and
/// `informer_for` for kinds that are not in this package.
#[derive(Clone, Debug)]
pub struct SharedInformerFactory {
    inner: informer::SharedInformerFactory,
}

impl SharedInformerFactory {
    /// Starts a factory's configuration; a clientset or a client says which server to watch.
    #[must_use]
    pub fn builder(
        client: impl Into<::kubesmith_runtime::kube::Client>,
    ) -> informer::SharedInformerFactoryBuilder<Self> {
        informer::SharedInformerFactoryBuilder::new(client.into())
    }

    __groups__! {}
    __lookup__! {}
}

impl From<informer::SharedInformerFactory> for SharedInformerFactory {
    fn from(inner: informer::SharedInformerFactory) -> Self {
        Self { inner }
    }
}

impl ::core::ops::Deref for SharedInformerFactory {
    type Target = informer::SharedInformerFactory;

    fn deref(&self) -> &Self::Target {
        &self.inner
    }
}

__generic__! {}
__modules__! {}
