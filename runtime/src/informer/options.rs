//! How an informer lists, watches and decodes.

use std::fmt;
use std::time::Duration;

use kube::api::ListParams;

use crate::reflector::{Cached, ReflectorOptions};

/// How an informer lists, watches and decodes.
///
/// ```
/// use std::time::Duration;
/// use k8s_openapi::api::core::v1::Pod;
/// use kubesmith_runtime::informer::InformerOptions;
///
/// let options = InformerOptions::<Pod>::new()
///     .namespaces(["web", "shop"])
///     .resync(Duration::from_secs(600))
///     .tweak_list_options(|params| params.label_selector = Some("app=web".to_owned()));
/// ```
pub struct InformerOptions<K> {
    pub(super) resync: Duration,
    pub(super) reflector: ReflectorOptions<K>,
}

impl<K: Cached> InformerOptions<K> {
    /// All namespaces, no resync, everything decoded but managedFields.
    #[must_use]
    pub fn new() -> Self {
        Self { resync: Duration::ZERO, reflector: ReflectorOptions::new() }
    }

    /// Resync period of handlers that give none; zero (the default) is none.
    #[must_use]
    pub fn resync(mut self, period: Duration) -> Self {
        self.resync = period;
        self
    }

    /// Only objects of one namespace. Without effect on cluster-scoped kinds.
    #[must_use]
    pub fn namespace(mut self, namespace: &str) -> Self {
        self.reflector = self.reflector.namespace(namespace);
        self
    }

    /// Only objects of these namespaces; see [`ReflectorOptions::namespaces`].
    #[must_use]
    pub fn namespaces(mut self, namespaces: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.reflector = self.reflector.namespaces(namespaces);
        self
    }

    /// Changes the parameters of lists and watches: label selector, field selector, page size.
    #[must_use]
    pub fn tweak_list_options(mut self, tweak: impl FnOnce(&mut ListParams)) -> Self {
        self.reflector = self.reflector.tweak_list_options(tweak);
        self
    }

    /// Lists, watches and decodes as `options` say.
    #[must_use]
    pub fn reflector(mut self, options: ReflectorOptions<K>) -> Self {
        self.reflector = options;
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
        f.debug_struct("InformerOptions").field("resync", &self.resync).finish_non_exhaustive()
    }
}
