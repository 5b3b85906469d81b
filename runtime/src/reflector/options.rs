//! The options of lists, watches and decoding.

use std::fmt;
use std::sync::Arc;

use kube::api::ListParams;
use kubesmith_apimachinery::sharding::ShardSelector;

use super::WatchError;
use crate::object::{Cached, KindOf};

/// Changes an object before it is stored.
pub(crate) type Transform<K> = Arc<dyn Fn(&mut K) + Send + Sync>;

/// A function that is called with each failure.
pub(crate) type ErrorHook = Arc<dyn Fn(&WatchError) + Send + Sync>;

/// A reflector's settings, except the form of its objects.
#[derive(Clone)]
pub(crate) struct Settings {
    /// `plural.group`.
    pub(crate) resource: String,
    /// Whether to request only metadata.
    pub(crate) metadata_only: bool,
    pub(crate) params: ListParams,
    /// `None` selects all shards.
    pub(crate) shards: Option<ShardSelector>,
    pub(crate) streaming_lists: bool,
    pub(crate) error_hook: Option<ErrorHook>,
    pub(crate) seed: Option<u64>,
}

/// The options of a reflector's lists, watches and decoding; set through `InformerOptions`.
pub(crate) struct ReflectorOptions<K> {
    /// Sorted. Empty means all namespaces.
    pub(crate) namespaces: Vec<String>,
    /// Selectors and page size; the reflector sets the other parameters.
    pub(crate) params: ListParams,
    pub(crate) shards: Option<ShardSelector>,
    pub(crate) streaming_lists: bool,
    pub(crate) keep_managed_fields: bool,
    pub(crate) transform: Option<Transform<K>>,
    pub(crate) error_hook: Option<ErrorHook>,
    pub(crate) seed: Option<u64>,
}

impl<K: Cached> ReflectorOptions<K> {
    /// Returns the defaults: all namespaces, streaming lists first, managedFields skipped.
    pub(crate) fn new() -> Self {
        Self {
            namespaces: Vec::new(),
            params: ListParams::default(),
            shards: None,
            streaming_lists: true,
            keep_managed_fields: false,
            transform: None,
            error_hook: None,
            seed: None,
        }
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
            shards: self.shards.clone(),
            streaming_lists: self.streaming_lists,
            error_hook: self.error_hook.clone(),
            seed: self.seed,
        }
    }
}

impl<K> Clone for ReflectorOptions<K> {
    fn clone(&self) -> Self {
        Self {
            namespaces: self.namespaces.clone(),
            params: self.params.clone(),
            shards: self.shards.clone(),
            streaming_lists: self.streaming_lists,
            keep_managed_fields: self.keep_managed_fields,
            transform: self.transform.clone(),
            error_hook: self.error_hook.clone(),
            seed: self.seed,
        }
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
