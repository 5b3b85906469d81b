//! The handle of an informer.

use std::any::Any;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use kube::core::ApiResource;
use kubesmith_apimachinery::sharding::ShardSelector;
use tokio::sync::mpsc;

use super::control::{Contents, Control, Selection, Setup, Status};
use super::registration::HandlerRegistration;
use super::run::{Command, Runner};
use super::sources::{Scope, Sources};
use super::stored::TypedHandler;
use super::task::Work;
use super::{HandlerOptions, InformerOptions, ResourceEventHandler};
use crate::cache::{IndexKey, Indexer, ObjectKey, Store, StoreWriter, TypedIndex, store};
use crate::lister::Lister;
use crate::object::{Cached, DynamicKind, KindFacts, KindOf};
use crate::reflector::{ErrorHook, FormOf, Transform, WatchError};

/// A cache of one kind that is kept equal to the server's state, and the handlers that receive its changes.
///
/// Clones are handles to the same informer; dropping the last one stops it. [`Self::shutdown`] stops it and waits
/// for its tasks.
///
/// ```no_run
/// # async fn example(client: kube::Client) -> Result<(), Box<dyn std::error::Error>> {
/// use std::time::Duration;
/// use k8s_openapi::api::core::v1::Pod;
/// use kubesmith_runtime::informer::{InformerOptions, ResourceEventHandlerFuncs, SharedInformer};
///
/// let pods = SharedInformer::<Pod>::new(client, InformerOptions::new().namespace("default"));
/// let printer = ResourceEventHandlerFuncs::<Pod>::new().on_add(|pod, _| println!("{:?}", pod.metadata.name));
/// pods.add_event_handler(printer)?;
/// pods.start();
/// pods.wait_for_sync(Duration::from_secs(10)).await?;
/// println!("{} pods", pods.store().len());
/// pods.shutdown().await;
/// # Ok(())
/// # }
/// ```
pub struct SharedInformer<K: Cached> {
    store: Store<K>,
    pub(super) control: Arc<Control>,
}

/// The parts that the informer's task will own.
struct SetupOf<K: Cached> {
    client: kube::Client,
    kind: KindOf<K>,
    options: InformerOptions<K>,
    writer: StoreWriter<K>,
    commands: mpsc::UnboundedReceiver<Command>,
}

impl<K: Cached> Setup for SetupOf<K> {
    fn work(self: Box<Self>, status: Arc<Status>) -> Work {
        let Self { client, kind, options, writer, commands } = *self;
        let InformerOptions { resync, reflector } = options;
        let mut scopes = Vec::new();
        for namespace in reflector.scopes(&kind) {
            let path = kind.path(namespace.as_deref());
            let form = FormOf::new(kind.clone(), &reflector, writer.reader());
            scopes.push(Scope { namespace, path, form: Box::new(form) });
        }
        let sources = Sources::new(&client, &reflector.settings(&kind), scopes, &status.traffic);
        Runner::new(sources, Box::new(writer), commands, status, resync).work()
    }

    fn as_any(&mut self) -> &mut dyn Any {
        self
    }
}

impl<K: Cached> Contents for Store<K> {
    fn len(&self) -> usize {
        Self::len(self)
    }

    fn resource_version(&self) -> String {
        Self::resource_version(self)
    }

    fn undecodable(&self) -> usize {
        Self::undecodable(self).len()
    }
}

/// A request to an informer failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InformerError {
    /// The informer was shut down.
    #[error("the informer of {resource} was shut down; create a new one")]
    Stopped {
        /// `plural.group`.
        resource: String,
    },
    /// The setting must be made before the start.
    #[error("the informer of {resource} has started; set {setting} before the start")]
    Started {
        /// `plural.group`.
        resource: String,
        /// The setting.
        setting: &'static str,
    },
    /// An indexer with this name exists.
    #[error("the informer of {resource} already has an indexer \"{name}\"")]
    IndexerExists {
        /// `plural.group`.
        resource: String,
        /// The indexer's name.
        name: String,
    },
    /// The cache was not complete in time.
    #[error("the cache of {resource} has not synced after {waited:?}{}", because(.last_error.as_deref()))]
    NotSynced {
        /// `plural.group`.
        resource: String,
        /// The time waited.
        waited: Duration,
        /// The last failure to list or watch.
        last_error: Option<String>,
    },
    /// The cache did not show a write in time.
    #[error("the cache of {resource} has not shown the write of \"{key}\" after {waited:?}{}", because(.last_error.as_deref()))]
    NotWritten {
        /// `plural.group`.
        resource: String,
        /// The written object.
        key: ObjectKey,
        /// The time waited.
        waited: Duration,
        /// The last failure to list or watch.
        last_error: Option<String>,
    },
}

/// Returns `: last error`, or nothing.
pub(super) fn because(last_error: Option<&str>) -> String {
    last_error.map_or_else(String::new, |error| format!(": {error}"))
}

impl<K: Cached> SharedInformer<K> {
    /// Makes an informer. It does nothing until [`Self::start`].
    #[must_use]
    pub fn new(client: kube::Client, options: InformerOptions<K>) -> Self
    where
        K: Cached<DynamicType = ()>,
    {
        Self::of(client, KindOf::of_type(), options)
    }

    /// Makes an informer of a kind that is known only at run time. It does nothing until [`Self::start`].
    ///
    /// ```no_run
    /// use kube::core::{DynamicObject, GroupVersionResource, PartialObjectMeta};
    /// use kubesmith_runtime::client::Discovery;
    /// use kubesmith_runtime::informer::{InformerOptions, SharedInformer};
    ///
    /// # async fn example(client: kube::Client) -> Result<(), kubesmith_runtime::client::Error> {
    /// let widgets = GroupVersionResource::gvr("example.com", "v1", "widgets");
    /// let widgets = Discovery::new(client.clone()).kind_of(&widgets).await?;
    /// let objects = SharedInformer::<DynamicObject>::new_with(client.clone(), &widgets, InformerOptions::new());
    /// let metadata = SharedInformer::<PartialObjectMeta>::new_with(client, &widgets, InformerOptions::new());
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn new_with(client: kube::Client, kind: &DynamicKind, options: InformerOptions<K>) -> Self
    where
        K: Cached<DynamicType = ApiResource>,
    {
        Self::of(client, KindOf::dynamic(kind), options)
    }

    fn of(client: kube::Client, kind: KindOf<K>, options: InformerOptions<K>) -> Self {
        let writer = store();
        let store = writer.reader();
        let facts = (kind.facts(), K::form());
        let selection = Selection {
            namespaces: options.reflector.scopes(&kind).into_iter().flatten().collect(),
            shards: options.reflector.shards.clone(),
        };
        let (sender, commands) = mpsc::unbounded_channel();
        let setup = SetupOf { client, kind, options, writer, commands };
        let control = Control::new(facts, selection, Box::new(store.clone()), sender, Box::new(setup));
        Self { store, control: Arc::new(control) }
    }

    /// Adds a handler with the informer's resync period. Objects in the cache are delivered to it as additions
    /// first.
    ///
    /// # Errors
    /// [`InformerError::Stopped`] after a shutdown.
    pub fn add_event_handler(
        &self,
        handler: impl ResourceEventHandler<K>,
    ) -> Result<HandlerRegistration, InformerError> {
        self.add_event_handler_with_options(handler, HandlerOptions::new())
    }

    /// Adds a handler with its own resync period; zero turns its resyncs off.
    ///
    /// # Errors
    /// [`InformerError::Stopped`] after a shutdown.
    pub fn add_event_handler_with_resync_period(
        &self,
        handler: impl ResourceEventHandler<K>,
        resync: Duration,
    ) -> Result<HandlerRegistration, InformerError> {
        self.add_event_handler_with_options(handler, HandlerOptions::new().resync(resync))
    }

    /// Adds a handler with options.
    ///
    /// # Errors
    /// [`InformerError::Stopped`] after a shutdown.
    pub fn add_event_handler_with_options(
        &self,
        handler: impl ResourceEventHandler<K>,
        options: HandlerOptions,
    ) -> Result<HandlerRegistration, InformerError> {
        self.control.add_handler(TypedHandler::of(handler), options)
    }

    /// Removes a handler. No call begins after this returns, except one that another thread is about to make.
    ///
    /// # Errors
    /// [`InformerError::Stopped`] after a shutdown.
    pub fn remove_event_handler(&self, registration: &HandlerRegistration) -> Result<(), InformerError> {
        self.control.remove_handler(registration)
    }

    /// Adds an indexer, before or after the start.
    ///
    /// # Errors
    /// [`InformerError::IndexerExists`], [`InformerError::Stopped`].
    pub fn add_indexer(&self, indexer: Indexer<K>) -> Result<(), InformerError> {
        if self.is_stopped() {
            return Err(self.stopped());
        }
        let name = indexer.name().to_owned();
        if self.store.add_indexer(indexer) {
            Ok(())
        } else {
            Err(InformerError::IndexerExists { resource: self.control.resource.clone(), name })
        }
    }

    /// Adds an index with keys of a Rust type, before or after the start.
    ///
    /// ```no_run
    /// use k8s_openapi::api::core::v1::Pod;
    /// use kubesmith_runtime::informer::{InformerError, SharedInformer};
    ///
    /// # fn example(pods: SharedInformer<Pod>) -> Result<(), InformerError> {
    /// let by_priority = pods.add_typed_index("priority", |pod: &Pod| {
    ///     pod.spec.iter().filter_map(|spec| spec.priority).collect::<Vec<i32>>()
    /// })?;
    /// println!("{} pods of priority 7", by_priority.list(&7).len());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`InformerError::IndexerExists`], [`InformerError::Stopped`].
    pub fn add_typed_index<V: IndexKey>(
        &self,
        name: &str,
        values: impl Fn(&K) -> Vec<V> + Send + Sync + 'static,
    ) -> Result<TypedIndex<K, V>, InformerError> {
        if self.is_stopped() {
            return Err(self.stopped());
        }
        self.store.add_typed_index(name, values).ok_or_else(|| InformerError::IndexerExists {
            resource: self.control.resource.clone(),
            name: name.to_owned(),
        })
    }

    /// Changes every object once, before it is stored, for instance to drop fields that no handler reads. It must not change
    /// names, namespaces or resource versions. If it panics, the object is reported as one that does not decode, and the cache
    /// keeps the object's last state.
    ///
    /// # Errors
    /// [`InformerError::Started`] after the start.
    pub fn set_transform(
        &self,
        transform: impl Fn(&mut K) + Send + Sync + 'static,
    ) -> Result<(), InformerError> {
        let transform: Transform<K> = Arc::new(transform);
        self.configure("the transform", |options| options.reflector.transform = Some(transform))
    }

    /// Calls `hook` with every failure to list, watch or decode.
    ///
    /// # Errors
    /// [`InformerError::Started`] after the start.
    pub fn set_watch_error_handler(
        &self,
        hook: impl Fn(&WatchError) + Send + Sync + 'static,
    ) -> Result<(), InformerError> {
        let hook: ErrorHook = Arc::new(hook);
        self.configure("the watch error handler", |options| options.reflector.error_hook = Some(hook))
    }

    fn configure(
        &self,
        setting: &'static str,
        change: impl FnOnce(&mut InformerOptions<K>),
    ) -> Result<(), InformerError> {
        self.control.configure(setting, |setup| {
            if let Some(setup) = setup.downcast_mut::<SetupOf<K>>() {
                change(&mut setup.options);
            }
        })
    }

    /// Starts to list and watch. Does nothing if the informer was started or shut down before.
    ///
    /// # Panics
    /// Outside a tokio runtime, as `tokio::spawn` does.
    pub fn start(&self) {
        self.control.start();
    }

    /// Stops the informer and waits until its tasks and handlers have ended. A running handler call is awaited;
    /// undelivered changes are dropped. The cache stays readable.
    ///
    /// # Cancel safety
    /// The stop takes effect at the first poll; dropping the future only ends the waiting.
    pub async fn shutdown(&self) {
        self.control.shutdown().await;
    }

    /// Reports whether [`Self::start`] was called.
    #[must_use]
    pub fn is_started(&self) -> bool {
        self.control.is_started()
    }

    /// Reports whether the informer was shut down.
    #[must_use]
    pub fn is_stopped(&self) -> bool {
        self.control.is_stopped()
    }

    /// Reports whether the cache has been complete.
    #[must_use]
    pub fn has_synced(&self) -> bool {
        self.control.has_synced()
    }

    /// Waits until [`Self::has_synced`].
    ///
    /// # Errors
    /// [`InformerError::NotSynced`] after `timeout`, [`InformerError::Stopped`].
    ///
    /// # Cancel safety
    /// Dropping the future loses nothing.
    pub async fn wait_for_sync(&self, timeout: Duration) -> Result<(), InformerError> {
        self.control.wait_for_sync(timeout).await
    }

    /// Returns the last failure to list or watch, until a request succeeds.
    #[must_use]
    pub fn last_error(&self) -> Option<String> {
        self.control.last_error()
    }

    /// Returns how often an undecodable object has arrived. [`Store::undecodable`] returns their keys.
    #[must_use]
    pub fn undecodable_total(&self) -> u64 {
        self.control.status.undecodable.load(Ordering::Relaxed)
    }

    /// Returns the resource version that the cache has reached; empty before the first sync.
    #[must_use]
    pub fn last_sync_resource_version(&self) -> String {
        self.store.resource_version()
    }

    /// Returns the cache.
    #[must_use]
    pub fn store(&self) -> &Store<K> {
        &self.store
    }

    /// Returns a lister on the cache.
    #[must_use]
    pub fn lister(&self) -> Lister<K> {
        Lister::of(self.store.clone(), &self.control.facts)
    }

    /// Returns `plural.group` of the kind.
    #[must_use]
    pub fn resource(&self) -> &str {
        &self.control.resource
    }

    /// Returns the names and scope of the kind.
    pub(crate) fn facts(&self) -> &KindFacts {
        &self.control.facts
    }

    /// Returns the selector of the shard that the cache contains.
    pub(crate) fn shard_selector(&self) -> Option<&ShardSelector> {
        self.control.selection.shards.as_ref()
    }

    pub(super) fn stopped(&self) -> InformerError {
        self.control.stopped()
    }
}

impl<K: Cached> Clone for SharedInformer<K> {
    fn clone(&self) -> Self {
        Self { store: self.store.clone(), control: Arc::clone(&self.control) }
    }
}

impl<K: Cached> fmt::Debug for SharedInformer<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SharedInformer").field("resource", &self.control.resource).finish_non_exhaustive()
    }
}
