//! Builds controllers from informers: their kind, its dependents, and other watched kinds.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use super::process::ErrorPolicy;
use super::reconcile::{Action, ReconcileError, Reconciler};
use super::sharded::IsOurs;
use super::watches::{Attached, Map, Watch};
use super::worker::Controller;
use crate::cache::{Indexer, ObjectKey};
use crate::informer::{InformerError, SharedInformer};
use crate::metrics::Registry;
use crate::object::{Cached, KindFacts};
use crate::sharding::{Shard, ShardKey, ShardSelector};
use crate::workqueue::{Queue, RateLimiter, default_item_based_rate_limiter};

/// A controller cannot be built.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BuildError {
    /// Nothing would queue a key.
    #[error("controller {controller:?} watches nothing: call for_ or watches")]
    NoSource {
        /// The controller's name.
        controller: String,
    },
    /// The controller owns objects but has no primary kind.
    #[error("controller {controller:?} owns {resource} but has no primary kind: call for_ before owns")]
    NoPrimary {
        /// The controller's name.
        controller: String,
        /// `plural.group` of the owned kind.
        resource: String,
    },
    /// The cache of an owned kind is sharded, and lacks objects whose owners are in the shard.
    #[error(
        "controller {controller:?} owns {resource}, whose cache is sharded apart from the primary kind: watch it without a \
         shard selector, or shard both by namespace"
    )]
    OwnedSharded {
        /// The controller's name.
        controller: String,
        /// `plural.group` of the owned kind.
        resource: String,
    },
    /// An informer accepts no more handlers.
    #[error("controller {controller:?}: {source}")]
    Informer {
        /// The controller's name.
        controller: String,
        /// The informer's error.
        source: InformerError,
    },
}

/// The kind whose objects are reconciled.
struct Primary {
    facts: KindFacts,
    /// The shard that its cache contains, unless that is all objects.
    shards: Option<ShardSelector>,
    is_ours: IsOurs<ObjectKey>,
}

type Attach =
    Box<dyn FnOnce(&Queue<ObjectKey>, Option<&IsOurs<ObjectKey>>) -> Result<Attached, InformerError> + Send>;

/// Builds a [`Controller`] whose keys are objects' names, like controller-runtime's builder.
///
/// Keys of the initial list and of resyncs have [`LOW_PRIORITY`](crate::workqueue::LOW_PRIORITY), so that live changes
/// overtake them. The default rate limiter is per key only: 5 ms doubling up to 1000 s.
///
/// ```no_run
/// use k8s_openapi::api::apps::v1::{Deployment, ReplicaSet};
/// use kubesmith_runtime::cache::ObjectKey;
/// use kubesmith_runtime::controller::{Action, CancellationToken, ControllerBuilder, Predicate, Watch, reconcile_fn};
/// use kubesmith_runtime::informer::SharedInformerFactory;
///
/// # async fn run(client: kube::Client) -> Result<(), Box<dyn std::error::Error>> {
/// let factory = SharedInformerFactory::builder(client).build();
/// let deployments = factory.informer_for::<Deployment>();
/// let controller = ControllerBuilder::new("deployments")
///     .for_(Watch::on(&deployments).filter(Predicate::generation_changed()))
///     .owns(&factory.informer_for::<ReplicaSet>())
///     .workers(4)
///     .complete(reconcile_fn(|key: ObjectKey| async move {
///         println!("reconciling {key}");
///         Ok(Action::done())
///     }))?;
/// factory.start();
/// controller.run(CancellationToken::new()).await?;
/// # Ok(())
/// # }
/// ```
pub struct ControllerBuilder {
    name: String,
    primary: Option<Primary>,
    /// `plural.group` and shard of each owned kind with a sharded cache.
    owned_shards: Vec<(String, ShardSelector)>,
    /// Adds the indexes in which sources look up keys.
    indexes: Vec<Box<dyn FnOnce() -> Result<(), InformerError> + Send>>,
    sources: Vec<Attach>,
    /// `plural.group` of a kind that is owned before `for_` was called.
    orphans: Option<String>,
    workers: usize,
    max_retries: Option<usize>,
    reconcile_timeout: Option<Duration>,
    cache_sync_timeout: Option<Duration>,
    shutdown_grace: Option<Duration>,
    error_policy: Option<ErrorPolicy<ObjectKey>>,
    limiter: Option<Box<dyn RateLimiter<ObjectKey>>>,
    registry: Option<Registry>,
}

impl ControllerBuilder {
    /// Starts a controller with this name, which appears in metrics and logs.
    #[must_use]
    pub fn new(name: impl Into<String>) -> Self {
        ControllerBuilder {
            name: name.into(),
            primary: None,
            owned_shards: Vec::new(),
            indexes: Vec::new(),
            sources: Vec::new(),
            orphans: None,
            workers: 1,
            max_retries: None,
            reconcile_timeout: None,
            cache_sync_timeout: None,
            shutdown_grace: None,
            error_policy: None,
            limiter: None,
            registry: None,
        }
    }

    /// Reconciles objects of this kind: each change queues the object's key.
    #[must_use]
    pub fn for_<K>(mut self, watch: impl Into<Watch<K>>) -> Self
    where
        K: Cached,
    {
        let watch = watch.into();
        let (informer, store) = (&watch.informer, watch.informer.store().clone());
        self.primary = Some(Primary {
            facts: informer.facts().clone(),
            shards: informer.shard_selector().cloned(),
            is_ours: Arc::new(move |key| store.get_by_key(key).is_some()),
        });
        self.attach(watch, Role::Primary, Box::new(|object, queue| queue(object.object_key())))
    }

    /// Each change of an object queues its controller, if that has the kind of [`for_`](Self::for_).
    #[must_use]
    pub fn owns<K: Cached>(mut self, watch: impl Into<Watch<K>>) -> Self {
        let watch = watch.into();
        let resource = watch.informer.resource();
        let Some(primary) = self.primary.as_ref().map(|primary| primary.facts.clone()) else {
            self.orphans.get_or_insert_with(|| resource.to_owned());
            return self;
        };
        if let Some(shards) = watch.informer.shard_selector() {
            self.owned_shards.push((resource.to_owned(), shards.clone()));
        }
        self.attach(
            watch,
            Role::Secondary,
            Box::new(move |object, queue| owner_key(&primary, object).into_iter().for_each(queue)),
        )
    }

    /// Each change of an object queues the keys that `map` returns for it; an update queues those of the old and
    /// the new state.
    #[must_use]
    pub fn watches<K, I>(
        self,
        watch: impl Into<Watch<K>>,
        map: impl Fn(&K) -> I + Send + Sync + 'static,
    ) -> Self
    where
        K: Cached,
        I: IntoIterator<Item = ObjectKey>,
    {
        self.attach(
            watch.into(),
            Role::Secondary,
            Box::new(move |object, queue| map(object).into_iter().for_each(queue)),
        )
    }

    /// Each change of an object queues the primary objects that refer to it: those in the cache of `primaries`
    /// whose values in `index` contain its key (`namespace/name`, or the name for cluster-scoped objects). The
    /// index is added to the cache unless it has one with that name.
    ///
    /// ```no_run
    /// use k8s_openapi::api::core::v1::{ConfigMap, Pod};
    /// use kubesmith_runtime::cache::{Indexer, ObjectKey};
    /// use kubesmith_runtime::controller::ControllerBuilder;
    /// use kubesmith_runtime::informer::SharedInformerFactory;
    ///
    /// fn builder(factory: &SharedInformerFactory) -> ControllerBuilder {
    ///     let pods = factory.informer_for::<Pod>();
    ///     let maps_of = Indexer::new("config-map", |pod: &Pod| {
    ///         let namespace = pod.metadata.namespace.as_deref().unwrap_or_default();
    ///         let volumes = pod.spec.iter().flat_map(|spec| spec.volumes.iter().flatten());
    ///         let maps = volumes.filter_map(|volume| Some(volume.config_map.as_ref()?.name.as_str()));
    ///         maps.map(|name| ObjectKey::namespaced(namespace, name).to_string()).collect()
    ///     });
    ///     let maps = factory.informer_for::<ConfigMap>();
    ///     ControllerBuilder::new("pods").for_(&pods).watches_indexed(&maps, &pods, maps_of)
    /// }
    /// ```
    #[must_use]
    pub fn watches_indexed<K, P>(
        mut self,
        watch: impl Into<Watch<K>>,
        primaries: &SharedInformer<P>,
        index: Indexer<P>,
    ) -> Self
    where
        K: Cached,
        P: Cached,
    {
        let (name, store) = (index.name().to_owned(), primaries.store().clone());
        let primaries = primaries.clone();
        self.indexes.push(Box::new(move || match primaries.add_indexer(index) {
            Err(InformerError::IndexerExists { .. }) => Ok(()),
            result => result,
        }));
        self.attach(
            watch.into(),
            Role::Secondary,
            Box::new(move |object, queue| {
                let keys = store.index_keys(&name, object.object_key().as_str());
                keys.into_iter().flatten().for_each(queue);
            }),
        )
    }

    /// As [`Controller::workers`].
    #[must_use]
    pub fn workers(mut self, workers: usize) -> Self {
        self.workers = workers;
        self
    }

    /// As [`Controller::max_retries`].
    #[must_use]
    pub fn max_retries(mut self, retries: usize) -> Self {
        self.max_retries = Some(retries);
        self
    }

    /// As [`Controller::reconcile_timeout`].
    #[must_use]
    pub fn reconcile_timeout(mut self, timeout: Duration) -> Self {
        self.reconcile_timeout = Some(timeout);
        self
    }

    /// As [`Controller::cache_sync_timeout`].
    #[must_use]
    pub fn cache_sync_timeout(mut self, timeout: Duration) -> Self {
        self.cache_sync_timeout = Some(timeout);
        self
    }

    /// As [`Controller::shutdown_grace`].
    #[must_use]
    pub fn shutdown_grace(mut self, grace: Duration) -> Self {
        self.shutdown_grace = Some(grace);
        self
    }

    /// As [`Controller::error_policy`], with the object as `informer` has it now; `None` if the cache does not have it.
    /// [`finalizer_fn`](super::finalizer_fn) has an example.
    #[must_use]
    pub fn error_policy<K: Cached>(
        mut self,
        informer: &SharedInformer<K>,
        policy: impl Fn(Option<&K>, &ReconcileError) -> Option<Action> + Send + Sync + 'static,
    ) -> Self {
        let objects = informer.store().clone();
        self.error_policy =
            Some(Box::new(move |key, error| policy(objects.get_by_key(key).as_deref(), error)));
        self
    }

    /// Replaces the limiter of failed keys.
    #[must_use]
    pub fn rate_limiter(mut self, limiter: impl RateLimiter<ObjectKey> + 'static) -> Self {
        self.limiter = Some(Box::new(limiter));
        self
    }

    /// Counts the controller and its queue in `registry`.
    #[must_use]
    pub fn metrics(mut self, registry: &Registry) -> Self {
        self.registry = Some(registry.clone());
        self
    }

    /// Adds the handlers to the informers and makes the controller. It does not start the informers.
    ///
    /// # Errors
    /// [`BuildError`] if nothing is watched, `owns` was called before `for_`, an owned kind is sharded apart from its
    /// owners, or an informer was shut down.
    pub fn complete<R: Reconciler<Key = ObjectKey>>(
        self,
        reconciler: R,
    ) -> Result<Controller<R>, BuildError> {
        let sharded_apart = self.sharded_apart().map(str::to_owned);
        let name = self.name;
        if let Some(resource) = self.orphans {
            return Err(BuildError::NoPrimary { controller: name, resource });
        }
        if self.sources.is_empty() {
            return Err(BuildError::NoSource { controller: name });
        }
        if let Some(resource) = sharded_apart {
            return Err(BuildError::OwnedSharded { controller: name, resource });
        }
        let limiter = self.limiter.unwrap_or_else(|| Box::new(default_item_based_rate_limiter()));
        let mut queue = Queue::builder(name.as_str()).rate_limiter(limiter);
        if let Some(registry) = &self.registry {
            queue = queue.metrics(registry);
        }
        let queue = queue.build();
        let mut controller = Controller::new(name.as_str(), queue.clone(), reconciler)
            .workers(self.workers)
            .shard_by_hash(|key| Shard::hash(key.as_str()));
        for add in self.indexes {
            add().map_err(|source| BuildError::Informer { controller: name.clone(), source })?;
        }
        let sharded = self.primary.as_ref().filter(|primary| primary.shards.is_some());
        if let Some(primary) = sharded {
            controller = controller.with_sharded_cache(primary.is_ours.clone());
        }
        for attach in self.sources {
            let attached = attach(&queue, sharded.map(|primary| &primary.is_ours));
            let attached =
                attached.map_err(|source| BuildError::Informer { controller: name.clone(), source })?;
            let registration = attached.registration;
            controller = controller.keys_from_source(attached.keys).wait_for_cache(
                attached.resource,
                async move { registration.synced().await },
                attached.last_error,
            );
        }
        if let Some(retries) = self.max_retries {
            controller = controller.max_retries(retries);
        }
        if let Some(timeout) = self.reconcile_timeout {
            controller = controller.reconcile_timeout(timeout);
        }
        if let Some(policy) = self.error_policy {
            controller = controller.error_policy(policy);
        }
        if let Some(timeout) = self.cache_sync_timeout {
            controller = controller.cache_sync_timeout(timeout);
        }
        if let Some(grace) = self.shutdown_grace {
            controller = controller.shutdown_grace(grace);
        }
        if let Some(registry) = &self.registry {
            controller = controller.metrics(registry);
        }
        Ok(controller)
    }

    /// Returns an owned kind whose cache may lack objects of owners in the shard. Only shards of namespaces keep both together.
    fn sharded_apart(&self) -> Option<&str> {
        let shares_namespaces = |shards: &ShardSelector| {
            self.primary.as_ref().is_some_and(|primary| {
                shards.key() == ShardKey::Namespace
                    && primary.shards.as_ref() == Some(shards)
                    && primary.facts.is_namespaced
            })
        };
        let mut owned = self.owned_shards.iter();
        owned.find(|(_, shards)| !shares_namespaces(shards)).map(|(resource, _)| resource.as_str())
    }

    fn attach<K: Cached>(mut self, watch: Watch<K>, role: Role, map: Map<K>) -> Self {
        self.sources.push(Box::new(move |queue, is_ours| {
            watch.select(is_ours.filter(|_| role == Role::Secondary).cloned(), map).attach(queue)
        }));
        self
    }
}

/// The part of a watched kind in a controller.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Role {
    /// The objects are reconciled.
    Primary,
    /// Changes of the objects queue others.
    Secondary,
}

/// Returns the key of the object's controller, if that has the primary kind.
fn owner_key<K: Cached>(primary: &KindFacts, object: &K) -> Option<ObjectKey> {
    let owner = object.object_controller()?;
    let group = owner.api_version.split_once('/').map_or("", |(group, _)| group);
    if owner.kind != primary.kind || group != primary.group {
        return None;
    }
    if !primary.is_namespaced {
        return Some(ObjectKey::cluster(&owner.name));
    }
    Some(ObjectKey::namespaced(object.object_key().namespace(), &owner.name))
}

impl fmt::Debug for ControllerBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ControllerBuilder")
            .field("name", &self.name)
            .field("primary", &self.primary.as_ref().map(|primary| &primary.facts))
            .field("sources", &self.sources.len())
            .field("workers", &self.workers)
            .finish_non_exhaustive()
    }
}
