//! The options of an informer's lists, watches and decoding.

use std::fmt;
use std::time::Duration;

use kube::api::ListParams;
use kubesmith_apimachinery::sharding::ShardSelector;

use crate::object::Cached;
use crate::reflector::ReflectorOptions;

/// The options of an informer's lists, watches and decoding.
///
/// ```
/// use std::time::Duration;
/// use k8s_openapi::api::core::v1::Pod;
/// use kubesmith_runtime::informer::InformerOptions;
///
/// let options = InformerOptions::<Pod>::new()
///     .namespaces(["web", "shop"])
///     .resync(Duration::from_secs(600))
///     .tweak_list_options(|params| params.label_selector = Some("app=web".to_owned()))
///     .keep_managed_fields();
///
/// // One namespace, paged lists, and the same jitter on every run.
/// let options = InformerOptions::<Pod>::new().namespace("web").paged_lists().seed(7);
/// ```
pub struct InformerOptions<K> {
    pub(super) resync: Duration,
    pub(super) reflector: ReflectorOptions<K>,
}

impl<K: Cached> InformerOptions<K> {
    /// Returns the defaults: all namespaces, no resync, streaming lists first, managedFields skipped.
    #[must_use]
    pub fn new() -> Self {
        Self { resync: Duration::ZERO, reflector: ReflectorOptions::new() }
    }

    /// Sets the resync period of handlers that set none; zero (the default) means no resync.
    #[must_use]
    pub fn resync(mut self, period: Duration) -> Self {
        self.resync = period;
        self
    }

    /// Selects one namespace. Has no effect on cluster-scoped kinds.
    #[must_use]
    pub fn namespace(self, namespace: &str) -> Self {
        self.namespaces([namespace])
    }

    /// Selects these namespaces, each listed and watched by its own requests, which suits a role that is bound in a few
    /// namespaces. An empty list means all namespaces. Has no effect on cluster-scoped kinds.
    ///
    /// The cache is complete when all of them have been listed. A namespace that cannot be listed does not keep the objects
    /// of the others out of the cache.
    #[must_use]
    pub fn namespaces(mut self, namespaces: impl IntoIterator<Item = impl Into<String>>) -> Self {
        let mut namespaces: Vec<String> = namespaces.into_iter().map(Into::into).collect();
        namespaces.sort();
        namespaces.dedup();
        self.reflector.namespaces = namespaces;
        self
    }

    /// Changes the parameters of lists and watches: label selector, field selector, page size. The informer sets versions
    /// and continue tokens itself.
    #[must_use]
    pub fn tweak_list_options(mut self, tweak: impl FnOnce(&mut ListParams)) -> Self {
        tweak(&mut self.reflector.params);
        self
    }

    /// Selects the objects of a shard: the cache contains only these. A server with the feature `ShardedListAndWatch` sends
    /// no others. Other servers ignore the selector, and objects of other shards are dropped as they arrive. The
    /// module [`sharding`](crate::sharding#sharded-caches) says when this is of use.
    ///
    /// ```
    /// use k8s_openapi::api::core::v1::Pod;
    /// use kubesmith_runtime::informer::InformerOptions;
    /// use kubesmith_runtime::sharding::{ShardKey, ShardSelector};
    ///
    /// fn options(index: u32, replicas: u32) -> Option<InformerOptions<Pod>> {
    ///     let shard = ShardSelector::nth(ShardKey::Uid, index, replicas)?;
    ///     Some(InformerOptions::new().shard_selector(shard))
    /// }
    /// ```
    #[must_use]
    pub fn shard_selector(mut self, shards: ShardSelector) -> Self {
        self.reflector.shards = Some(shards);
        self
    }

    /// Lists in pages from the start, without trying a streaming list first.
    #[must_use]
    pub fn paged_lists(mut self) -> Self {
        self.reflector.streaming_lists = false;
        self
    }

    /// Decodes `metadata.managedFields` too; they are the larger part of a small object.
    #[must_use]
    pub fn keep_managed_fields(mut self) -> Self {
        self.reflector.keep_managed_fields = true;
        self
    }

    /// Sets the seed of the jitter of timeouts and backoff, for repeatable runs.
    #[must_use]
    pub fn seed(mut self, seed: u64) -> Self {
        self.reflector.seed = Some(seed);
        self
    }
}

impl<K: Cached> Default for InformerOptions<K> {
    fn default() -> Self {
        Self::new()
    }
}

impl<K> fmt::Debug for InformerOptions<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("InformerOptions")
            .field("resync", &self.resync)
            .field("reflector", &self.reflector)
            .finish()
    }
}
