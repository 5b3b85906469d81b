//! How to list, watch and decode.

use std::fmt;
use std::sync::Arc;

use kube::api::ListParams;

use super::{Cached, KindOf, WatchError};

/// Changes an object before it is stored.
pub(crate) type Transform<K> = Arc<dyn Fn(&mut K) + Send + Sync>;

/// Is called with each failure.
pub(crate) type ErrorHook = Arc<dyn Fn(&WatchError) + Send + Sync>;

/// A reflector's settings, except the form of its objects.
#[derive(Clone)]
pub(crate) struct Settings {
    /// `plural.group`.
    pub(crate) resource: String,
    /// Whether to request only metadata.
    pub(crate) metadata_only: bool,
    pub(crate) params: ListParams,
    pub(crate) streaming_lists: bool,
    pub(crate) error_hook: Option<ErrorHook>,
    pub(crate) seed: Option<u64>,
}

/// How a reflector lists, watches and decodes.
///
/// ```
/// use k8s_openapi::api::core::v1::Pod;
/// use kubesmith_runtime::reflector::ReflectorOptions;
///
/// let options = ReflectorOptions::<Pod>::new()
///     .namespace("default")
///     .tweak_list_options(|params| params.label_selector = Some("app=web".to_owned()))
///     .keep_managed_fields();
///
/// // Two namespaces, paged lists, and the same jitter on every run.
/// let options = ReflectorOptions::<Pod>::new().namespaces(["blue", "green"]).paged_lists().seed(7);
/// ```
pub struct ReflectorOptions<K> {
    /// Sorted. Empty means all namespaces.
    pub(crate) namespaces: Vec<String>,
    /// Selectors and page size; the reflector sets the other parameters.
    pub(crate) params: ListParams,
    pub(crate) streaming_lists: bool,
    pub(crate) keep_managed_fields: bool,
    pub(crate) transform: Option<Transform<K>>,
    pub(crate) error_hook: Option<ErrorHook>,
    pub(crate) seed: Option<u64>,
}

impl<K: Cached> ReflectorOptions<K> {
    /// Returns the defaults: all namespaces, streaming lists first, managedFields skipped.
    #[must_use]
    pub fn new() -> Self {
        Self {
            namespaces: Vec::new(),
            params: ListParams::default(),
            streaming_lists: true,
            keep_managed_fields: false,
            transform: None,
            error_hook: None,
            seed: None,
        }
    }

    /// Selects one namespace. Has no effect on cluster-scoped kinds.
    #[must_use]
    pub fn namespace(mut self, namespace: &str) -> Self {
        self.namespaces = vec![namespace.to_owned()];
        self
    }

    /// Selects these namespaces, each listed and watched by its own requests, which suits a role that is bound in a
    /// few namespaces. An empty list means all namespaces. Has no effect on cluster-scoped kinds.
    ///
    /// The cache is complete when all of them have been listed. A namespace that cannot be listed does not keep the
    /// objects of the others out of the cache.
    #[must_use]
    pub fn namespaces(mut self, namespaces: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.namespaces = namespaces.into_iter().map(Into::into).collect();
        self.namespaces.sort();
        self.namespaces.dedup();
        self
    }

    /// Returns what each reflector lists: one namespace, or everything.
    pub(crate) fn scopes(&self, kind: &KindOf<K>) -> Vec<Option<String>> {
        if !kind.is_namespaced() || self.namespaces.is_empty() {
            return vec![None];
        }
        self.namespaces.iter().cloned().map(Some).collect()
    }

    pub(crate) fn settings(&self, kind: &KindOf<K>) -> Settings {
        Settings {
            resource: kind.facts().resource_name(),
            metadata_only: <K::Kind as kube::Resource>::metadata_api(),
            params: self.params.clone(),
            streaming_lists: self.streaming_lists,
            error_hook: self.error_hook.clone(),
            seed: self.seed,
        }
    }

    /// Changes the parameters of lists and watches: label selector, field selector, page size. The reflector sets
    /// versions and continue tokens itself.
    #[must_use]
    pub fn tweak_list_options(mut self, tweak: impl FnOnce(&mut ListParams)) -> Self {
        tweak(&mut self.params);
        self
    }

    /// Lists in pages from the start, without trying a streaming list first.
    #[must_use]
    pub fn paged_lists(mut self) -> Self {
        self.streaming_lists = false;
        self
    }

    /// Decodes `metadata.managedFields` too; they are the larger part of a small object.
    #[must_use]
    pub fn keep_managed_fields(mut self) -> Self {
        self.keep_managed_fields = true;
        self
    }

    /// Sets the seed of the jitter of timeouts and backoff, for repeatable runs.
    #[must_use]
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = Some(seed);
        self
    }
}

impl<K> Clone for ReflectorOptions<K> {
    fn clone(&self) -> Self {
        Self {
            namespaces: self.namespaces.clone(),
            params: self.params.clone(),
            streaming_lists: self.streaming_lists,
            keep_managed_fields: self.keep_managed_fields,
            transform: self.transform.clone(),
            error_hook: self.error_hook.clone(),
            seed: self.seed,
        }
    }
}

impl<K: Cached> Default for ReflectorOptions<K> {
    fn default() -> Self {
        Self::new()
    }
}

impl<K> fmt::Debug for ReflectorOptions<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReflectorOptions")
            .field("namespaces", &self.namespaces)
            .field("streaming_lists", &self.streaming_lists)
            .field("keep_managed_fields", &self.keep_managed_fields)
            .finish_non_exhaustive()
    }
}
