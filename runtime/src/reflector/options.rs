//! How to list, watch and decode.

use std::fmt;
use std::sync::Arc;

use kube::api::ListParams;

use super::{Cached, KindOf, WatchError};

/// Changes an object before it is stored.
pub(crate) type Transform<K> = Arc<dyn Fn(&mut K) + Send + Sync>;

/// Learns of failures.
pub(crate) type ErrorHook = Arc<dyn Fn(&WatchError) + Send + Sync>;

/// What a reflector has to know beside the form of its objects.
#[derive(Clone)]
pub(crate) struct Settings {
    /// `plural.group`.
    pub(crate) resource: String,
    /// Whether the server is asked for metadata alone.
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
/// // Two namespaces of a server whose streaming lists are not wanted, the same each time.
/// let options = ReflectorOptions::<Pod>::new().namespaces(["blue", "green"]).paged_lists().seed(7);
/// ```
pub struct ReflectorOptions<K> {
    /// Sorted; empty: all.
    pub(crate) namespaces: Vec<String>,
    /// Selectors and page size; the rest is the reflector's own.
    pub(crate) params: ListParams,
    pub(crate) streaming_lists: bool,
    pub(crate) keep_managed_fields: bool,
    pub(crate) transform: Option<Transform<K>>,
    pub(crate) error_hook: Option<ErrorHook>,
    pub(crate) seed: Option<u64>,
}

impl<K: Cached> ReflectorOptions<K> {
    /// All namespaces, streaming lists first, managedFields skipped.
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

    /// Only objects of one namespace. Without effect on cluster-scoped kinds.
    #[must_use]
    pub fn namespace(mut self, namespace: &str) -> Self {
        self.namespaces = vec![namespace.to_owned()];
        self
    }

    /// Only objects of these namespaces, each listed and watched for itself: what a role that is bound in a few namespaces
    /// allows. None at all means all namespaces. Without effect on cluster-scoped kinds.
    ///
    /// The cache is complete when all of them have been listed; one that cannot be listed does not keep the others from
    /// being shown.
    #[must_use]
    pub fn namespaces(mut self, namespaces: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.namespaces = namespaces.into_iter().map(Into::into).collect();
        self.namespaces.sort();
        self.namespaces.dedup();
        self
    }

    /// What each reflector lists: one namespace, or everything.
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

    /// Changes the parameters of lists and watches: label selector, field selector, page size. Versions and
    /// continue tokens are the reflector's own and not read.
    #[must_use]
    pub fn tweak_list_options(mut self, tweak: impl FnOnce(&mut ListParams)) -> Self {
        tweak(&mut self.params);
        self
    }

    /// List in pages from the start instead of asking for a streaming list first.
    #[must_use]
    pub fn paged_lists(mut self) -> Self {
        self.streaming_lists = false;
        self
    }

    /// Decode `metadata.managedFields` too; they are most of a small object.
    #[must_use]
    pub fn keep_managed_fields(mut self) -> Self {
        self.keep_managed_fields = true;
        self
    }

    /// Seed of the jitter of timeouts and backoff, for runs that can be repeated.
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
