//! The informer's handle.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use kube::core::ApiResource;
use tokio::sync::{mpsc, watch};
use tokio::task::JoinHandle;

use super::mailbox::Mailbox;
use super::registration::{HandlerRegistration, HandlerStatus, KnownHandlers};
use super::run::{Command, Runner};
use super::sources::{Scope, Sources};
use super::stored::TypedHandler;
use super::writes::Writes;
use super::{HandlerOptions, InformerOptions, ResourceEventHandler, task};
use crate::cache::{IndexKey, Indexer, ObjectKey, Store, StoreWriter, TypedIndex, store};
use crate::lister::Lister;
use crate::reflector::{Cached, DynamicKind, ErrorHook, FormOf, KindFacts, KindOf, Transform};

/// A cache of one kind, kept equal to the server, and the handlers that learn of its changes.
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
    pub(super) inner: Arc<Inner<K>>,
}

pub(super) struct Inner<K: Cached> {
    resource: String,
    pub(super) facts: KindFacts,
    /// The namespaces that are followed; empty: all.
    namespaces: Vec<String>,
    pub(super) store: Store<K>,
    commands: mpsc::UnboundedSender<Command>,
    pub(super) status: Arc<Status>,
    next_handler: AtomicU64,
    /// What was written by clients that read from this cache.
    pub(super) writes: Writes,
    /// Held for the change of a state, never across an await or a callback.
    life: Mutex<Life<K>>,
}

impl<K: Cached> Inner<K> {
    /// Whether the cache has the objects of this namespace.
    pub(super) fn follows(&self, namespace: &str) -> bool {
        self.namespaces.is_empty() || self.namespaces.iter().any(|followed| followed == namespace)
    }
}

enum Life<K: Cached> {
    New(Box<Setup<K>>),
    Running(JoinHandle<()>),
    Stopped,
}

/// What the task will own.
struct Setup<K: Cached> {
    client: kube::Client,
    kind: KindOf<K>,
    options: InformerOptions<K>,
    writer: StoreWriter<K>,
    commands: mpsc::UnboundedReceiver<Command>,
}

/// What handles read of the task and tell it.
pub(super) struct Status {
    pub(super) synced: watch::Sender<bool>,
    pub(super) stop: watch::Sender<bool>,
    pub(super) stopped: watch::Sender<bool>,
    pub(super) last_error: Mutex<Option<String>>,
    pub(super) undecodable: AtomicU64,
    pub(super) errors: AtomicU64,
    pub(super) handlers: KnownHandlers,
    /// Told after each change of the store.
    pub(super) applied: watch::Sender<()>,
}

/// Why an informer refuses.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InformerError {
    /// The informer was shut down.
    #[error("the informer of {resource} was shut down; make a new one")]
    Stopped {
        /// `plural.group`.
        resource: String,
    },
    /// The setting must be made before the start.
    #[error("the informer of {resource} has started; {setting} must be set before")]
    Started {
        /// `plural.group`.
        resource: String,
        /// What was to be set.
        setting: &'static str,
    },
    /// An indexer of that name exists.
    #[error("the informer of {resource} has an indexer \"{name}\" already")]
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
        /// How long was waited.
        waited: Duration,
        /// What the last try to list or watch failed with.
        last_error: Option<String>,
    },
    /// The cache did not show a write in time.
    #[error("the cache of {resource} has not shown the write of \"{key}\" after {waited:?}{}", because(.last_error.as_deref()))]
    NotWritten {
        /// `plural.group`.
        resource: String,
        /// The object that was written.
        key: ObjectKey,
        /// How long was waited.
        waited: Duration,
        /// What the last try to list or watch failed with.
        last_error: Option<String>,
    },
}

/// `: last error`, or nothing.
pub(super) fn because(last_error: Option<&str>) -> String {
    last_error.map_or_else(String::new, |error| format!(": {error}"))
}

impl<K: Cached> SharedInformer<K> {
    /// An informer that does nothing until [`Self::start`].
    #[must_use]
    pub fn new(client: kube::Client, options: InformerOptions<K>) -> Self
    where
        K: Cached<DynamicType = ()>,
    {
        Self::of(client, KindOf::of_type(), options)
    }

    /// An informer of a kind that is known only at run time, which does nothing until [`Self::start`].
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
        let facts = kind.facts();
        let (sender, receiver) = mpsc::unbounded_channel();
        let inner = Inner {
            resource: facts.resource_name(),
            facts,
            namespaces: options.reflector.scopes(&kind).into_iter().flatten().collect(),
            store: writer.reader(),
            commands: sender,
            status: Arc::new(Status::new()),
            next_handler: AtomicU64::new(0),
            writes: Writes::default(),
            life: Mutex::new(Life::New(Box::new(Setup {
                client,
                kind,
                options,
                writer,
                commands: receiver,
            }))),
        };
        Self { inner: Arc::new(inner) }
    }

    /// Adds a handler with the informer's resync period. Objects already in the cache are handed to it as
    /// additions first.
    ///
    /// # Errors
    /// [`InformerError::Stopped`].
    pub fn add_event_handler(
        &self,
        handler: impl ResourceEventHandler<K>,
    ) -> Result<HandlerRegistration, InformerError> {
        self.add_event_handler_with_options(handler, HandlerOptions::new())
    }

    /// Adds a handler with a resync period of its own; zero turns its resyncs off.
    ///
    /// # Errors
    /// [`InformerError::Stopped`].
    pub fn add_event_handler_with_resync_period(
        &self,
        handler: impl ResourceEventHandler<K>,
        resync: Duration,
    ) -> Result<HandlerRegistration, InformerError> {
        self.add_event_handler_with_options(handler, HandlerOptions::new().resync(resync))
    }

    /// Adds a handler.
    ///
    /// # Errors
    /// [`InformerError::Stopped`].
    pub fn add_event_handler_with_options(
        &self,
        handler: impl ResourceEventHandler<K>,
        options: HandlerOptions,
    ) -> Result<HandlerRegistration, InformerError> {
        let id = self.inner.next_handler.fetch_add(1, Ordering::Relaxed);
        let mailbox = Arc::new(Mailbox::new(options.queue_limit));
        let resync = options.resync;
        let totals = &self.inner.status.handlers.totals;
        let status = Arc::new(HandlerStatus::new(&self.inner.resource, id, options, &mailbox, totals));
        let command = Command::Add {
            id,
            handler: TypedHandler::of(handler),
            mailbox,
            status: Arc::clone(&status),
            resync,
        };
        self.inner.commands.send(command).map_err(|_| self.stopped())?;
        Ok(HandlerRegistration { id, status })
    }

    /// Removes a handler: no call begins after this returns, except one that is about to begin elsewhere.
    ///
    /// # Errors
    /// [`InformerError::Stopped`].
    pub fn remove_event_handler(&self, registration: &HandlerRegistration) -> Result<(), InformerError> {
        registration.status.removed.store(true, Ordering::Release);
        self.inner.commands.send(Command::Remove { id: registration.id }).map_err(|_| self.stopped())
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
        if self.inner.store.add_indexer(indexer) {
            Ok(())
        } else {
            Err(InformerError::IndexerExists { resource: self.inner.resource.clone(), name })
        }
    }

    /// Adds an index by keys of a Rust type, before or after the start.
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
        self.inner.store.add_typed_index(name, values).ok_or_else(|| InformerError::IndexerExists {
            resource: self.inner.resource.clone(),
            name: name.to_owned(),
        })
    }

    /// Changes every object once, before it is stored: drop what nobody reads. It must not change names,
    /// namespaces or resource versions.
    ///
    /// # Errors
    /// [`InformerError::Started`] once started.
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
    /// [`InformerError::Started`] once started.
    pub fn set_watch_error_handler(
        &self,
        hook: impl Fn(&crate::reflector::WatchError) + Send + Sync + 'static,
    ) -> Result<(), InformerError> {
        let hook: ErrorHook = Arc::new(hook);
        self.configure("the watch error handler", |options| options.reflector.error_hook = Some(hook))
    }

    fn configure(
        &self,
        setting: &'static str,
        change: impl FnOnce(&mut InformerOptions<K>),
    ) -> Result<(), InformerError> {
        match &mut *self.life() {
            Life::New(setup) => {
                change(&mut setup.options);
                Ok(())
            }
            _ => Err(InformerError::Started { resource: self.inner.resource.clone(), setting }),
        }
    }

    /// Starts listing and watching; does nothing if started or shut down before.
    ///
    /// # Panics
    /// Outside a tokio runtime, as `tokio::spawn` does.
    pub fn start(&self) {
        let mut life = self.life();
        if !matches!(*life, Life::New(_)) {
            return;
        }
        let Life::New(setup) = std::mem::replace(&mut *life, Life::Stopped) else { return };
        let Setup { client, kind, options, writer, commands } = *setup;
        let InformerOptions { resync, reflector } = options;
        let scopes = reflector.scopes(&kind).into_iter().map(|namespace| {
            let path = kind.path(namespace.as_deref());
            let (transform, known) = (reflector.transform.clone(), writer.reader());
            let form = FormOf::new(kind.clone(), !reflector.keep_managed_fields, transform, known);
            Scope { namespace, path, form: Box::new(form) }
        });
        let sources = Sources::new(&client, &reflector.settings(&kind), scopes.collect());
        let status = Arc::clone(&self.inner.status);
        let runner = Runner::new(sources, Box::new(writer), commands, status, resync);
        *life = Life::Running(task::spawn(Box::pin(runner.run())));
    }

    /// Stops the informer and waits until its tasks and handlers have ended. A handler call in progress is
    /// waited for; calls not yet made are dropped. The cache stays readable.
    ///
    /// # Cancel safety
    /// The stop is in effect from the first poll; only the waiting is abandoned.
    pub async fn shutdown(&self) {
        let running = {
            let mut life = self.life();
            self.inner.status.stop.send_replace(true);
            match &*life {
                Life::New(_) => {
                    *life = Life::Stopped;
                    false
                }
                Life::Running(task) => !task.is_finished(),
                Life::Stopped => false,
            }
        };
        if running {
            let mut stopped = self.inner.status.stopped.subscribe();
            // An error means that the task is gone, which is what is waited for.
            let _ = stopped.wait_for(|stopped| *stopped).await;
        }
    }

    /// Whether [`Self::start`] was called.
    #[must_use]
    pub fn is_started(&self) -> bool {
        !matches!(*self.life(), Life::New(_))
    }

    /// Whether the informer was shut down.
    #[must_use]
    pub fn is_stopped(&self) -> bool {
        *self.inner.status.stop.borrow()
    }

    /// Whether the cache held the server's whole state once.
    #[must_use]
    pub fn has_synced(&self) -> bool {
        *self.inner.status.synced.borrow()
    }

    /// Waits until [`Self::has_synced`].
    ///
    /// # Errors
    /// [`InformerError::NotSynced`] after `timeout`, [`InformerError::Stopped`].
    ///
    /// # Cancel safety
    /// Nothing is lost.
    pub async fn wait_for_sync(&self, timeout: Duration) -> Result<(), InformerError> {
        let mut synced = self.inner.status.synced.subscribe();
        let mut stop = self.inner.status.stop.subscribe();
        let waited = tokio::time::timeout(timeout, async {
            tokio::select! {
                biased;
                _ = synced.wait_for(|synced| *synced) => true,
                _ = stop.wait_for(|stop| *stop) => false,
            }
        });
        match waited.await {
            Ok(true) => Ok(()),
            Ok(false) => Err(self.stopped()),
            Err(_) => Err(InformerError::NotSynced {
                resource: self.inner.resource.clone(),
                waited: timeout,
                last_error: self.last_error(),
            }),
        }
    }

    /// What the last try to list or watch failed with, if it failed.
    #[must_use]
    pub fn last_error(&self) -> Option<String> {
        self.inner.status.last_error.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// How often an object arrived that could not be decoded. [`Store::undecodable`] has their keys.
    #[must_use]
    pub fn undecodable_total(&self) -> u64 {
        self.inner.status.undecodable.load(Ordering::Relaxed)
    }

    /// The resource version the cache has reached; empty before the first sync.
    #[must_use]
    pub fn last_sync_resource_version(&self) -> String {
        self.inner.store.resource_version()
    }

    /// The cache.
    #[must_use]
    pub fn store(&self) -> &Store<K> {
        &self.inner.store
    }

    /// A lister on the cache.
    #[must_use]
    pub fn lister(&self) -> Lister<K> {
        Lister::of(self.inner.store.clone(), &self.inner.facts)
    }

    /// `plural.group` of the kind.
    #[must_use]
    pub fn resource(&self) -> &str {
        &self.inner.resource
    }

    /// What the kind is called.
    pub(crate) fn facts(&self) -> &KindFacts {
        &self.inner.facts
    }

    pub(super) fn stopped(&self) -> InformerError {
        InformerError::Stopped { resource: self.inner.resource.clone() }
    }

    fn life(&self) -> MutexGuard<'_, Life<K>> {
        self.inner.life.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Status {
    fn new() -> Self {
        Self {
            synced: watch::Sender::new(false),
            stop: watch::Sender::new(false),
            stopped: watch::Sender::new(false),
            last_error: Mutex::new(None),
            undecodable: AtomicU64::new(0),
            errors: AtomicU64::new(0),
            handlers: KnownHandlers::default(),
            applied: watch::Sender::new(()),
        }
    }

    pub(super) fn set_last_error(&self, error: Option<String>) {
        *self.last_error.lock().unwrap_or_else(PoisonError::into_inner) = error;
    }
}

impl<K: Cached> Drop for Inner<K> {
    fn drop(&mut self) {
        self.status.stop.send_replace(true);
        if let Life::Running(task) = &*self.life.get_mut().unwrap_or_else(PoisonError::into_inner) {
            task.abort();
        }
    }
}

impl<K: Cached> Clone for SharedInformer<K> {
    fn clone(&self) -> Self {
        Self { inner: Arc::clone(&self.inner) }
    }
}

impl<K: Cached> fmt::Debug for SharedInformer<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SharedInformer").field("resource", &self.inner.resource).finish_non_exhaustive()
    }
}
