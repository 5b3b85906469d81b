//! One informer per kind, started and stopped together.

use std::any::{Any, TypeId};
use std::fmt;
use std::marker::PhantomData;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use kube::api::ListParams;
use kube::core::{ApiResource, GroupVersionResource};
use kubesmith_apimachinery::sharding::ShardSelector;

use super::control::Control;
use super::shared::because;
use super::{InformerOptions, InformerState, SharedInformer};
use crate::metrics::Registry;
use crate::object::{Cached, DynamicKind};
use crate::reflector::Transform;

/// Returns one [`SharedInformer`] per kind, so that all parts of a program share its cache and its watch.
///
/// Clones are handles to the same factory.
///
/// ```no_run
/// # async fn example(client: kube::Client) -> Result<(), Box<dyn std::error::Error>> {
/// use std::time::Duration;
/// use k8s_openapi::api::core::v1::{ConfigMap, Pod};
/// use kubesmith_runtime::informer::SharedInformerFactory;
///
/// let factory = SharedInformerFactory::builder(client).namespace("default").build();
/// let pods = factory.informer_for::<Pod>().lister();
/// let maps = factory.informer_for::<ConfigMap>().lister();
/// factory.start();
/// factory.wait_for_cache_sync(Duration::from_secs(30)).await?;
/// println!("{:?} {:?}", pods.namespace("default").get("a"), maps.namespace("default").get("b"));
/// factory.shutdown().await;
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct SharedInformerFactory {
    inner: Arc<Inner>,
}

struct Inner {
    client: kube::Client,
    settings: Settings,
    /// Locked while an informer is looked up or made, never across an await or a callback.
    state: Mutex<State>,
}

struct Settings {
    name: Option<String>,
    namespaces: Vec<String>,
    resync: Duration,
    params: ListParams,
    shards: Option<ShardSelector>,
    registry: Option<Registry>,
    /// [`KindSettings`] for each form of objects that has settings of its own.
    kinds: Vec<(TypeId, Box<dyn Any + Send + Sync>)>,
}

/// The settings of one form of objects.
struct KindSettings<K> {
    resync: Option<Duration>,
    transform: Option<Transform<K>>,
    shards: Option<ShardSelector>,
}

impl<K> Default for KindSettings<K> {
    fn default() -> Self {
        Self { resync: None, transform: None, shards: None }
    }
}

struct State {
    /// The informers in the order of the first requests, in which they start.
    informers: Vec<Known>,
    shut_down: bool,
}

/// The form of the objects and, for forms that do not determine the kind, the resource. Two forms of one kind have
/// two informers.
type Key = (TypeId, Option<GroupVersionResource>);

/// An informer of the factory.
struct Known {
    key: Key,
    control: Arc<Control>,
    /// The typed [`SharedInformer`].
    typed: Box<dyn Any + Send + Sync>,
}

/// Some caches were not complete in time.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{} has not synced within {waited:?}: {}", .factory.as_deref().unwrap_or("the informer factory"), list(.not_synced))]
pub struct CacheSyncError {
    /// The factory's name, if it has one.
    pub factory: Option<String>,
    /// The time waited.
    pub waited: Duration,
    /// The kinds whose caches are incomplete, in the order of the first requests.
    pub not_synced: Vec<NotSynced>,
}

/// A cache that was not complete in time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotSynced {
    /// `plural.group` of the kind.
    pub resource: String,
    /// The last failure to list or watch.
    pub last_error: Option<String>,
}

fn list(not_synced: &[NotSynced]) -> String {
    let one = |entry: &NotSynced| format!("{}{}", entry.resource, because(entry.last_error.as_deref()));
    not_synced.iter().map(one).collect::<Vec<_>>().join("; ")
}

impl SharedInformerFactory {
    /// Starts the settings of a factory over `client`.
    #[must_use]
    pub fn builder(client: kube::Client) -> SharedInformerFactoryBuilder<Self> {
        SharedInformerFactoryBuilder::new(client)
    }

    /// Returns the informer of `K`; the first call makes it. It runs from the next [`Self::start`] on.
    #[must_use]
    pub fn informer_for<K: Cached<DynamicType = ()>>(&self) -> SharedInformer<K> {
        self.informer(None, |client, options| SharedInformer::new(client, options))
    }

    /// Returns the informer of a kind that is known only at run time, in the form `K`: `DynamicObject`,
    /// `PartialObjectMeta` (only metadata), or the [`Compact`](crate::cache::Compact) form of either. The first
    /// call for a resource and form makes it; it runs from the next [`Self::start`] on.
    ///
    /// ```no_run
    /// use kube::core::{DynamicObject, GroupVersionResource, PartialObjectMeta};
    /// use kubesmith_runtime::client::Discovery;
    /// use kubesmith_runtime::informer::SharedInformerFactory;
    ///
    /// # async fn example(factory: SharedInformerFactory) -> Result<(), kubesmith_runtime::client::Error> {
    /// let discovery = Discovery::new(factory.client().clone());
    /// let widgets = discovery.kind_of(&GroupVersionResource::gvr("example.com", "v1", "widgets")).await?;
    /// let objects = factory.informer_for_kind::<DynamicObject>(&widgets);
    /// let metadata = factory.informer_for_kind::<PartialObjectMeta>(&widgets);
    /// factory.start();
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn informer_for_kind<K>(&self, kind: &DynamicKind) -> SharedInformer<K>
    where
        K: Cached<DynamicType = ApiResource>,
    {
        self.informer(Some(kind.group_version_resource()), |client, options| {
            SharedInformer::new_with(client, kind, options)
        })
    }

    fn informer<K: Cached>(
        &self,
        resource: Option<GroupVersionResource>,
        make: impl FnOnce(kube::Client, InformerOptions<K>) -> SharedInformer<K>,
    ) -> SharedInformer<K> {
        let mut state = self.state();
        let key = (TypeId::of::<K>(), resource);
        let known = state.find(&key);
        if let Some(informer) = known.and_then(|known| known.downcast_ref::<SharedInformer<K>>()) {
            return informer.clone();
        }
        let informer = make(self.inner.client.clone(), self.inner.settings.options());
        if let Some(registry) = &self.inner.settings.registry {
            informer.register_metrics(registry, self.name().unwrap_or_default());
        }
        let control = Arc::clone(&informer.control);
        state.informers.push(Known { key, control, typed: Box::new(informer.clone()) });
        informer
    }

    /// Starts the informers that have not been started. May be called again; after [`Self::shutdown`] it does
    /// nothing.
    ///
    /// # Panics
    /// Outside a tokio runtime, as `tokio::spawn` does.
    pub fn start(&self) {
        let state = self.state();
        if state.shut_down {
            tracing::warn!("the informer factory was shut down; nothing is started");
            return;
        }
        // Under the lock, so that a concurrent shutdown finds every running informer.
        for informer in &state.informers {
            informer.control.start();
        }
    }

    /// Waits until the caches of all started informers are complete.
    ///
    /// # Errors
    /// [`CacheSyncError`] names the caches that are incomplete after `timeout`, and why.
    ///
    /// # Cancel safety
    /// Dropping the future loses nothing.
    pub async fn wait_for_cache_sync(&self, timeout: Duration) -> Result<(), CacheSyncError> {
        let started: Vec<Arc<Control>> = self.controls().filter(|informer| informer.is_started()).collect();
        // All informers are checked at the end.
        futures::future::join_all(started.iter().map(|informer| informer.wait_for_sync(timeout))).await;
        let missing = started.iter().filter(|informer| !informer.has_synced());
        let not_synced = missing.map(|informer| NotSynced {
            resource: informer.resource.clone(),
            last_error: informer.last_error(),
        });
        let not_synced: Vec<NotSynced> = not_synced.collect();
        if not_synced.is_empty() {
            return Ok(());
        }
        Err(CacheSyncError { factory: self.inner.settings.name.clone(), waited: timeout, not_synced })
    }

    /// Stops every informer and waits until all their tasks have ended. Later starts are refused.
    ///
    /// # Cancel safety
    /// The stop takes effect at the first poll; dropping the future only ends the waiting.
    pub async fn shutdown(&self) {
        self.state().shut_down = true;
        let informers: Vec<Arc<Control>> = self.controls().collect();
        futures::future::join_all(informers.iter().map(|informer| informer.shutdown())).await;
    }

    /// Returns the states of all informers, in the order of the first requests.
    #[must_use]
    pub fn states(&self) -> Vec<InformerState> {
        self.controls().map(|informer| informer.state()).collect()
    }

    /// Returns the factory's name, if it has one.
    #[must_use]
    pub fn name(&self) -> Option<&str> {
        self.inner.settings.name.as_deref()
    }

    /// Returns the namespaces that the informers follow; empty means all.
    #[must_use]
    pub fn namespaces(&self) -> &[String] {
        &self.inner.settings.namespaces
    }

    /// Returns the client.
    #[must_use]
    pub fn client(&self) -> &kube::Client {
        &self.inner.client
    }

    /// Returns the informers, in the order of the first requests.
    fn controls(&self) -> impl Iterator<Item = Arc<Control>> + use<> {
        let informers = &self.state().informers;
        informers.iter().map(|known| Arc::clone(&known.control)).collect::<Vec<_>>().into_iter()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.inner.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for SharedInformerFactory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SharedInformerFactory").field("name", &self.name()).finish_non_exhaustive()
    }
}

impl State {
    fn find(&self, key: &Key) -> Option<&(dyn Any + Send + Sync)> {
        self.informers.iter().find(|known| known.key == *key).map(|known| &*known.typed)
    }
}

impl Settings {
    fn options<K: Cached>(&self) -> InformerOptions<K> {
        let own = self.kinds.iter().find(|(form, _)| *form == TypeId::of::<K>());
        let own = own.and_then(|(_, own)| own.downcast_ref::<KindSettings<K>>());
        let resync = own.and_then(|own| own.resync).unwrap_or(self.resync);
        let options = InformerOptions::new().resync(resync).namespaces(&self.namespaces);
        let mut options = options.tweak_list_options(|params| params.clone_from(&self.params));
        options.reflector.transform = own.and_then(|own| own.transform.clone());
        options.reflector.shards = own.and_then(|own| own.shards.clone()).or_else(|| self.shards.clone());
        options
    }

    /// Returns the settings of a form of objects.
    fn kind<K: Cached>(&mut self) -> Option<&mut KindSettings<K>> {
        let form = TypeId::of::<K>();
        if self.kinds.iter().all(|(known, _)| *known != form) {
            self.kinds.push((form, Box::new(KindSettings::<K>::default())));
        }
        let own = self.kinds.iter_mut().find(|(known, _)| *known == form);
        own.and_then(|(_, own)| own.downcast_mut())
    }
}

/// Settings of a factory `F`: the generated ones are newtypes of [`SharedInformerFactory`].
pub struct SharedInformerFactoryBuilder<F> {
    client: kube::Client,
    settings: Settings,
    factory: PhantomData<fn() -> F>,
}

impl<F: From<SharedInformerFactory>> SharedInformerFactoryBuilder<F> {
    /// Starts a factory for all namespaces, without resync.
    #[must_use]
    pub fn new(client: kube::Client) -> Self {
        let params = ListParams::default();
        let settings = Settings {
            name: None,
            namespaces: Vec::new(),
            resync: Duration::ZERO,
            params,
            shards: None,
            registry: None,
            kinds: Vec::new(),
        };
        Self { client, settings, factory: PhantomData }
    }

    /// Sets the resync period of handlers that set none.
    #[must_use]
    pub fn resync(mut self, period: Duration) -> Self {
        self.settings.resync = period;
        self
    }

    /// Sets the resync period of the informers of `K` instead of the factory's; zero turns resyncs off.
    ///
    /// ```no_run
    /// # fn example(client: kube::Client) {
    /// use std::time::Duration;
    /// use k8s_openapi::api::core::v1::{Node, Pod};
    /// use kubesmith_runtime::informer::SharedInformerFactory;
    ///
    /// let factory = SharedInformerFactory::builder(client)
    ///     .resync(Duration::from_secs(600))
    ///     .resync_for::<Node>(Duration::from_secs(60))
    ///     .transform_for(|pod: &mut Pod| pod.metadata.annotations = None)
    ///     .build();
    /// # }
    /// ```
    #[must_use]
    pub fn resync_for<K: Cached>(mut self, period: Duration) -> Self {
        if let Some(own) = self.settings.kind::<K>() {
            own.resync = Some(period);
        }
        self
    }

    /// Changes every object of `K` once, as [`SharedInformer::set_transform`] does. [`resync_for`](Self::resync_for) has an example; a second call replaces the first.
    #[must_use]
    pub fn transform_for<K: Cached>(mut self, transform: impl Fn(&mut K) + Send + Sync + 'static) -> Self {
        if let Some(own) = self.settings.kind::<K>() {
            own.transform = Some(Arc::new(transform));
        }
        self
    }

    /// Follows only a shard of every kind, as [`InformerOptions::shard_selector`] does. This suits a shard of namespaces.
    /// Cluster-scoped kinds have no namespace: all their objects are in one such shard, so give them a selector of their
    /// own with [`shard_selector_for`](Self::shard_selector_for).
    #[must_use]
    pub fn shard_selector(mut self, shards: ShardSelector) -> Self {
        self.settings.shards = Some(shards);
        self
    }

    /// Follows only a shard of the objects of `K`, as [`InformerOptions::shard_selector`] does.
    #[must_use]
    pub fn shard_selector_for<K: Cached>(mut self, shards: ShardSelector) -> Self {
        if let Some(own) = self.settings.kind::<K>() {
            own.shards = Some(shards);
        }
        self
    }

    /// Follows only one namespace. Cluster-scoped kinds are not affected.
    #[must_use]
    pub fn namespace(mut self, namespace: impl Into<String>) -> Self {
        self.settings.namespaces = vec![namespace.into()];
        self
    }

    /// Follows only these namespaces, each with requests of its own. Cluster-scoped kinds are not affected.
    #[must_use]
    pub fn namespaces(mut self, namespaces: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.settings.namespaces = namespaces.into_iter().map(Into::into).collect();
        self
    }

    /// Changes the parameters of every list and watch: label selector, field selector, page size.
    #[must_use]
    pub fn tweak_list_options(mut self, tweak: impl FnOnce(&mut ListParams)) -> Self {
        tweak(&mut self.settings.params);
        self
    }

    /// Registers the metrics of every informer in `registry`; see [`SharedInformer::register_metrics`].
    #[must_use]
    pub fn metrics(mut self, registry: &Registry) -> Self {
        self.settings.registry = Some(registry.clone());
        self
    }

    /// Sets a name for messages and metrics.
    #[must_use]
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.settings.name = Some(name.into());
        self
    }

    /// Makes the factory. It sends nothing before it starts.
    #[must_use]
    pub fn build(self) -> F {
        let state = State { informers: Vec::new(), shut_down: false };
        let inner = Inner { client: self.client, settings: self.settings, state: Mutex::new(state) };
        F::from(SharedInformerFactory { inner: Arc::new(inner) })
    }
}

impl<F> fmt::Debug for SharedInformerFactoryBuilder<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SharedInformerFactoryBuilder")
            .field("name", &self.settings.name)
            .finish_non_exhaustive()
    }
}
