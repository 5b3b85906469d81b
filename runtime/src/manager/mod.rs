//! Everything a program of controllers runs, started and stopped in order.
//!
//! Start: metrics and health endpoints, webhooks, caches, what runs on every replica, then, once this replica leads, what
//! runs on the leader only, and once it has joined its [group](crate::sharding), if it has one, what is shared with other
//! replicas. Stop, in at most 30 s: what runs on every replica, what is shared, the leader's work (leases are kept until
//! it has ended, then given back), events that wait to be written, caches, webhooks, endpoints. The first failure stops
//! everything.
//!
//! A replica that does not lead is warm: its caches are filled and kept up to date, and the queues of its controllers hold the
//! keys that are to be reconciled, each once. So it begins at once when it leads; controller-runtime's `EnableWarmup` does this
//! where it is set.
//!
//! ```no_run
//! use k8s_openapi::api::core::v1::ConfigMap;
//! use kubesmith_runtime::cache::ObjectKey;
//! use kubesmith_runtime::controller::{Action, ControllerBuilder, reconcile_fn};
//! use kubesmith_runtime::leaderelection::LeaderElector;
//! use kubesmith_runtime::manager::{Manager, shutdown_signal};
//!
//! # async fn run(client: kube::Client) -> Result<(), Box<dyn std::error::Error>> {
//! let elector = LeaderElector::builder(client.clone(), "default", "maps.example.com", "pod-7f9c").build()?;
//! let mut manager = Manager::builder(client)
//!     .metrics_address(([0, 0, 0, 0], 8080))
//!     .health_address(([0, 0, 0, 0], 8081))
//!     .leader_election(elector)
//!     .build();
//! let maps = manager.factory().informer_for::<ConfigMap>();
//! let controller = ControllerBuilder::new("maps")
//!     .for_(&maps)
//!     .metrics(manager.metrics())
//!     .complete(reconcile_fn(|key: ObjectKey| async move {
//!         println!("reconciling {key}");
//!         Ok(Action::done())
//!     }))?;
//! manager.add(controller);
//! manager.add_healthz_check("ping", || Ok(()));
//! manager.run(shutdown_signal()?).await?;
//! # Ok(())
//! # }
//! ```
//!
//! Settings and what else it runs:
//!
//! ```no_run
//! use std::time::Duration;
//! use kubesmith_runtime::controller::{Controller, Reconciler};
//! use kubesmith_runtime::manager::{Manager, ManagerError, ShutdownSignal, shutdown_signal};
//!
//! fn manager<R: Reconciler>(client: kube::Client, here: Controller<R>, leading: Controller<R>) -> Manager {
//!     let mut manager = Manager::builder(client)
//!         .debug_address(([127, 0, 0, 1], 8082))
//!         .cache_sync_timeout(Duration::from_secs(60))
//!         .shutdown_grace(Duration::from_secs(10))
//!         .build();
//!     let leader = manager.leader();
//!     manager.add_on_every_replica(here);
//!     manager.add_on_leader(leading);
//!     manager.add_readyz_check("disk", || Err("no space".to_owned()));
//!     manager.add_runnable("report", move |stop| async move {
//!         println!("{:?}", leader.leadership().map(|leadership| leadership.transitions()));
//!         stop.cancelled().await;
//!         Ok::<_, std::io::Error>(())
//!     });
//!     manager.add_runnable_on_every_replica("idle", |stop| async move {
//!         stop.cancelled().await;
//!         Ok::<_, std::io::Error>(())
//!     });
//!     let _recorder = manager.events_recorder_for("example.com/pods");
//!     manager
//! }
//!
//! async fn run(manager: Manager, signal: ShutdownSignal) -> Result<(), ManagerError> {
//!     manager.run(signal).await
//! }
//! # let _ = shutdown_signal;
//! ```

mod address;
mod debug;
#[cfg(feature = "clap")]
mod flags;
mod group;
mod http;
mod informers;
mod leader;
mod signal;
mod supervise;
mod webhooks;

use std::error::Error as StdError;
use std::fmt;
use std::future::Future;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use kube::{Client, Resource};
use tokio::task::JoinSet;
use tokio::time::{Instant, timeout_at};
use tokio_util::sync::CancellationToken;

use crate::controller::{Controller, ControllerState, Reconciler};
use crate::informer::{CacheSyncError, Cached, CachedClient, SharedInformerFactory};
use crate::leaderelection::{LeaderElectionError, LeaderElector};
use crate::metrics::Registry;
use crate::record::{EventBroadcaster, EventRecorder};
use crate::sharding::{Shard, Sharding, ShardingError};

pub use address::{BindAddress, InvalidBindAddress};
#[cfg(feature = "clap")]
pub use flags::ManagerFlags;
use group::{Runnable, run_group};
use http::{Checks, Routes, serve};
use informers::Informers;
pub use leader::LeaderHandle;
pub use signal::{ShutdownSignal, shutdown_signal};
use supervise::{Supervised, lead, share, work};
use webhooks::Webhooks;

/// How long the whole stop may take (controller-runtime's `GracefulShutdownTimeout`).
const DEFAULT_GRACE: Duration = Duration::from_secs(30);
/// How long caches may take to fill (controller-runtime's `CacheSyncTimeout`).
const DEFAULT_CACHE_SYNC_TIMEOUT: Duration = Duration::from_secs(120);

/// Why a manager's run ended badly.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ManagerError {
    /// An endpoint's address cannot be used.
    #[error("cannot serve {what} on {address}: {source}")]
    Bind {
        /// `metrics`, `health` or `debug`.
        what: &'static str,
        /// The address.
        address: BindAddress,
        /// Why.
        source: io::Error,
    },
    /// Webhooks cannot be served.
    #[cfg(feature = "webhook")]
    #[error(transparent)]
    Webhooks(#[from] crate::webhook::ServerError),
    /// Caches did not fill in time.
    #[error(transparent)]
    Caches(#[from] CacheSyncError),
    /// Something that the manager runs has failed.
    #[error("{name} failed: {source}")]
    Runnable {
        /// Its name.
        name: String,
        /// Its error.
        source: Box<dyn StdError + Send + Sync>,
    },
    /// The leadership was lost.
    #[error(transparent)]
    Leader(#[from] LeaderElectionError),
    /// The group that shares the work could not be joined.
    #[error(transparent)]
    Sharding(#[from] ShardingError),
    /// Replicas share the work, so there are several, and none of them is the leader.
    #[error(
        "{name} is for the leader, and with sharding every replica runs: call leader_election too, or add it on every replica"
    )]
    NoLeader {
        /// What is for the leader.
        name: String,
    },
    /// Not everything ended within the grace period; the rest was aborted.
    #[error("not everything had ended when the grace of {} s had passed; the rest was aborted", .0.as_secs_f64())]
    ShutdownTimeout(Duration),
}

/// Settings of a [`Manager`].
pub struct ManagerBuilder {
    manager: Manager,
    /// Its informers are counted where it says.
    has_own_factory: bool,
}

impl ManagerBuilder {
    /// Replaces the factory over the client, for instance by one limited to a namespace.
    #[must_use]
    pub fn factory(mut self, factory: SharedInformerFactory) -> Self {
        self.manager.factory = factory;
        self.has_own_factory = true;
        self
    }

    /// Counts in this registry instead of one of the manager's own: for numbers of others that `/metrics` is to show as well,
    /// as those of the [client](crate::client::ClientOptions::metrics). A [factory](Self::factory) that was given counts where
    /// it was told to.
    #[must_use]
    pub fn metrics(mut self, registry: &Registry) -> Self {
        let manager = &mut self.manager;
        manager.registry = registry.clone();
        if !self.has_own_factory {
            manager.factory =
                SharedInformerFactory::builder(manager.client.clone()).metrics(registry).build();
        }
        self
    }

    /// Runs what is for the leader only where this elector leads. Without one, this replica leads at once.
    #[must_use]
    pub fn leader_election(mut self, elector: LeaderElector) -> Self {
        self.manager.elector = Some(elector);
        self
    }

    /// Shares the keys of controllers that are [added](Manager::add) with the other replicas of the group, instead of
    /// running them on a leader. See [`sharding`](crate::sharding).
    #[must_use]
    pub fn sharding(mut self, sharding: Sharding) -> Self {
        self.manager.shard = Some(sharding.shard());
        self.manager.sharding = Some(sharding);
        self
    }

    /// Serves `/metrics` here, unencrypted.
    #[must_use]
    pub fn metrics_address(mut self, address: impl Into<BindAddress>) -> Self {
        self.manager.metrics_address = address.into();
        self
    }

    /// Serves `/healthz` and `/readyz` here.
    #[must_use]
    pub fn health_address(mut self, address: impl Into<BindAddress>) -> Self {
        self.manager.health_address = address.into();
        self
    }

    /// Serves `/debug/controllers` here: a page with queues, caches, keys that fail and keys that take long, of the
    /// controllers that are added afterwards. It names objects and errors, so it is for an address that only operators reach.
    #[must_use]
    pub fn debug_address(mut self, address: impl Into<BindAddress>) -> Self {
        self.manager.debug_address = address.into();
        self
    }

    /// How long the whole stop may take; 30 s unless told otherwise.
    #[must_use]
    pub fn shutdown_grace(mut self, grace: Duration) -> Self {
        self.manager.grace = grace;
        self
    }

    /// How long caches may take to fill; 2 minutes unless told otherwise.
    #[must_use]
    pub fn cache_sync_timeout(mut self, timeout: Duration) -> Self {
        self.manager.cache_sync_timeout = timeout;
        self
    }

    /// Makes the manager; nothing runs yet.
    #[must_use]
    pub fn build(self) -> Manager {
        self.manager
    }
}

/// Runs controllers with what they share. See the [module](self).
pub struct Manager {
    client: Client,
    factory: SharedInformerFactory,
    /// Further factories, which were added.
    informers: Vec<SharedInformerFactory>,
    registry: Registry,
    /// Made when the first recorder is asked for.
    events: Option<EventBroadcaster>,
    /// As `events`, for the group `events.k8s.io`.
    series: Option<crate::events::EventBroadcaster>,
    healthz: Checks,
    readyz: Checks,
    webhooks: Webhooks,
    on_every_replica: Vec<Runnable>,
    on_leader: Vec<Runnable>,
    on_shard: Vec<Runnable>,
    elector: Option<LeaderElector>,
    /// Told when this replica leads.
    leader: LeaderHandle,
    sharding: Option<Sharding>,
    shard: Option<Shard>,
    metrics_address: BindAddress,
    health_address: BindAddress,
    debug_address: BindAddress,
    /// What `/debug/controllers` shows.
    states: Vec<ControllerState>,
    grace: Duration,
    cache_sync_timeout: Duration,
}

impl Manager {
    /// Settings for a manager whose informers use `client`.
    #[must_use]
    pub fn builder(client: Client) -> ManagerBuilder {
        let registry = Registry::new();
        let factory = SharedInformerFactory::builder(client.clone()).metrics(&registry).build();
        ManagerBuilder {
            manager: Manager {
                client,
                factory,
                informers: Vec::new(),
                registry,
                events: None,
                series: None,
                healthz: Checks::default(),
                readyz: Checks::default(),
                webhooks: Webhooks::default(),
                on_every_replica: Vec::new(),
                on_leader: Vec::new(),
                on_shard: Vec::new(),
                elector: None,
                leader: LeaderHandle::default(),
                sharding: None,
                shard: None,
                metrics_address: BindAddress::default(),
                health_address: BindAddress::default(),
                debug_address: BindAddress::default(),
                states: Vec::new(),
                grace: DEFAULT_GRACE,
                cache_sync_timeout: DEFAULT_CACHE_SYNC_TIMEOUT,
            },
            has_own_factory: false,
        }
    }

    /// The client given to the builder.
    #[must_use]
    pub fn client(&self) -> &Client {
        &self.client
    }

    /// The informers that all controllers share; the manager starts and stops them.
    #[must_use]
    pub fn factory(&self) -> &SharedInformerFactory {
        &self.factory
    }

    /// Runs the informers of a further factory as well: one with other settings, for other namespaces, or over the client of
    /// another cluster. They are started, waited for and stopped with the manager's own.
    ///
    /// ```no_run
    /// # fn example(client: kube::Client, workloads: kube::Client) {
    /// use k8s_openapi::api::core::v1::Pod;
    /// use kubesmith_runtime::informer::SharedInformerFactory;
    /// use kubesmith_runtime::manager::Manager;
    ///
    /// let mut manager = Manager::builder(client).build();
    /// let elsewhere = SharedInformerFactory::builder(workloads).name("workloads").build();
    /// let pods = elsewhere.informer_for::<Pod>();
    /// manager.add_informers(&elsewhere);
    /// # let _ = pods;
    /// # }
    /// ```
    pub fn add_informers(&mut self, factory: &SharedInformerFactory) {
        self.informers.push(factory.clone());
    }

    /// A client for reconcilers: it reads objects from the shared cache of their kind, and no read misses what it wrote.
    ///
    /// ```no_run
    /// # async fn example(client: kube::Client) -> Result<(), Box<dyn std::error::Error>> {
    /// use k8s_openapi::api::core::v1::ConfigMap;
    /// use kubesmith_runtime::cache::ObjectKey;
    /// use kubesmith_runtime::manager::Manager;
    ///
    /// let manager = Manager::builder(client).build();
    /// let maps = manager.cached_client::<ConfigMap>();
    /// let map = maps.get(&ObjectKey::namespaced("default", "settings")).await?;
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn cached_client<K>(&self) -> CachedClient<K>
    where
        K: Resource<DynamicType = ()> + Cached<DynamicType = ()>,
    {
        CachedClient::new(self.client.clone(), &self.factory.informer_for())
    }

    /// The leadership, for reconcilers that fence what they write elsewhere.
    #[must_use]
    pub fn leader(&self) -> LeaderHandle {
        self.leader.clone()
    }

    /// What `/metrics` shows.
    #[must_use]
    pub fn metrics(&self) -> &Registry {
        &self.registry
    }

    /// A recorder whose events name `component` as their source; what it has recorded is written before
    /// [`run`](Self::run) returns.
    ///
    /// # Panics
    ///
    /// Outside of a tokio runtime.
    pub fn event_recorder_for(&mut self, component: &str) -> EventRecorder {
        let client = &self.client;
        self.events.get_or_insert_with(|| EventBroadcaster::new(client.clone())).recorder(component)
    }

    /// As [`event_recorder_for`](Self::event_recorder_for), with events of the API group `events.k8s.io`.
    ///
    /// # Panics
    ///
    /// Outside of a tokio runtime.
    pub fn events_recorder_for(&mut self, controller: &str) -> crate::events::EventRecorder {
        let client = &self.client;
        let new = || crate::events::EventBroadcaster::new(client.clone());
        self.series.get_or_insert_with(new).recorder(controller)
    }

    /// Runs a controller where this replica leads; with [`sharding`](ManagerBuilder::sharding) on every replica, each
    /// for its own keys.
    pub fn add<R: Reconciler>(&mut self, controller: Controller<R>) {
        let Some(shard) = &self.shard else { return self.add_on_leader(controller) };
        let controller = controller.sharded(shard);
        let controller = self.watched(controller);
        self.on_shard.push(of_controller(controller));
    }

    /// Runs a controller where this replica leads, for all keys.
    pub fn add_on_leader<R: Reconciler>(&mut self, controller: Controller<R>) {
        let controller = self.watched(controller);
        self.on_leader.push(of_controller(controller));
    }

    /// Runs a controller on every replica, each for all keys.
    pub fn add_on_every_replica<R: Reconciler>(&mut self, controller: Controller<R>) {
        let controller = self.watched(controller);
        self.on_every_replica.push(of_controller(controller));
    }

    /// Has the controller shown on the page, if there is one.
    fn watched<R: Reconciler>(&mut self, mut controller: Controller<R>) -> Controller<R> {
        if self.debug_address.is_on() {
            self.states.push(controller.state());
        }
        controller
    }

    /// Runs `run` where this replica leads, until the token it gets is cancelled. An error stops the manager; so does
    /// a panic. Ending without an error does not.
    pub fn add_runnable<F, Fut, E>(&mut self, name: impl Into<String>, run: F)
    where
        F: FnOnce(CancellationToken) -> Fut + Send + 'static,
        Fut: Future<Output = Result<(), E>> + Send + 'static,
        E: Into<Box<dyn StdError + Send + Sync>>,
    {
        self.on_leader.push(Runnable::new(name, run));
    }

    /// As [`add_runnable`](Self::add_runnable), on every replica.
    pub fn add_runnable_on_every_replica<F, Fut, E>(&mut self, name: impl Into<String>, run: F)
    where
        F: FnOnce(CancellationToken) -> Fut + Send + 'static,
        Fut: Future<Output = Result<(), E>> + Send + 'static,
        E: Into<Box<dyn StdError + Send + Sync>>,
    {
        self.on_every_replica.push(Runnable::new(name, run));
    }

    /// Adds a check to `/healthz`; where one fails, the kubelet restarts the program.
    pub fn add_healthz_check<F>(&mut self, name: impl Into<String>, check: F)
    where
        F: Fn() -> Result<(), String> + Send + Sync + 'static,
    {
        self.healthz.add(name, check);
    }

    /// Adds a check to `/readyz`; where one fails, the program gets no requests.
    pub fn add_readyz_check<F>(&mut self, name: impl Into<String>, check: F)
    where
        F: Fn() -> Result<(), String> + Send + Sync + 'static,
    {
        self.readyz.add(name, check);
    }

    /// Serves webhooks, on every replica, from before the caches fill until after they have stopped. `/readyz` gets the
    /// check `webhook-server`, and `/metrics` what the server counts.
    ///
    /// A cluster goes on sending requests for some seconds to a pod that is to end; a `preStop` hook that sleeps so long
    /// keeps them from failing.
    ///
    /// ```no_run
    /// use kubesmith_runtime::manager::Manager;
    /// use kubesmith_runtime::webhook::{AdmissionResponse, Server, ServerError, admission_fn};
    ///
    /// fn serve(manager: &mut Manager) -> Result<(), ServerError> {
    ///     let all = admission_fn(|_| async { AdmissionResponse::allowed() });
    ///     manager.add_webhooks(Server::builder().admission("/validate-all", all).build()?);
    ///     Ok(())
    /// }
    /// ```
    ///
    /// See [`webhook`](mod@crate::webhook) for one of typed objects.
    #[cfg(feature = "webhook")]
    pub fn add_webhooks(&mut self, mut server: crate::webhook::Server) {
        server.metrics_unless_given(&self.registry);
        self.readyz.add("webhook-server", server.started_checker());
        self.webhooks.add(server);
    }

    /// Runs everything until `stop` ends or something fails, and returns when everything has ended.
    ///
    /// `stop` is a [`shutdown_signal`], a token's `cancelled_owned()`, or any other future.
    ///
    /// # Errors
    ///
    /// The first of [`ManagerError`]; everything has been stopped then too.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future aborts everything; informers are stopped but not waited for.
    pub async fn run(self, stop: impl Future<Output = ()> + Send) -> Result<(), ManagerError> {
        if let (Some(_), None, Some(first)) = (&self.sharding, &self.elector, self.on_leader.first()) {
            return Err(ManagerError::NoLeader { name: first.name().to_owned() });
        }
        let endpoints_stop = CancellationToken::new();
        let informers = Informers([vec![self.factory], self.informers].concat());
        let endpoints = [
            ("metrics", self.metrics_address, Routes::metrics(self.registry)),
            ("health", self.health_address, Routes::health(self.healthz, self.readyz)),
            ("debug", self.debug_address, Routes::debug(self.states, informers.clone(), self.shard)),
        ];
        let mut endpoints = serve_all(endpoints, &endpoints_stop).await?;
        let mut webhooks = self.webhooks.start().await?;
        let (events, series, grace) = (self.events, self.series, self.grace);
        informers.start();
        let mut stop = std::pin::pin!(stop);
        let synced = tokio::select! {
            biased;
            () = stop.as_mut() => None,
            error = webhooks.failed() => Some(Err(error)),
            synced = informers.wait_for_cache_sync(self.cache_sync_timeout) => Some(synced.map_err(Into::into)),
        };
        let (result, deadline) = match synced {
            None => (Ok(()), Instant::now() + grace),
            Some(Err(error)) => (Err(error), Instant::now() + grace),
            Some(Ok(())) => {
                let replica = Supervised::spawn(|stop| run_group(self.on_every_replica, stop));
                let shard = Supervised::spawn(|stop| share(self.on_shard, self.sharding, stop));
                let leader = Supervised::spawn(|stop| lead(self.on_leader, self.elector, self.leader, stop));
                work([replica, shard, leader], &mut webhooks, stop, grace).await
            }
        };
        let rest = async {
            if let Some(events) = events {
                events.shutdown().await;
            }
            if let Some(series) = series {
                series.shutdown().await;
            }
            informers.shutdown().await;
            let stopped = webhooks.stop(deadline, grace).await;
            endpoints_stop.cancel();
            while endpoints.join_next().await.is_some() {}
            stopped
        };
        let rest = timeout_at(deadline, rest).await;
        result.and(rest.unwrap_or(Err(ManagerError::ShutdownTimeout(grace))))
    }
}

async fn serve_all(
    endpoints: [(&'static str, BindAddress, Routes); 3],
    stop: &CancellationToken,
) -> Result<JoinSet<()>, ManagerError> {
    let mut tasks = JoinSet::new();
    for (what, address, routes) in endpoints {
        let listener = address.listen().await;
        let listener =
            listener.map_err(|source| ManagerError::Bind { what, address: address.clone(), source })?;
        let Some(listener) = listener else { continue };
        // With port 0 only the listener knows which one it is.
        let address =
            listener.local_addr().map_or_else(|_| address.to_string(), |address| address.to_string());
        tracing::info!(what, address, "serving");
        tasks.spawn(serve(listener, Arc::new(routes), stop.clone()));
    }
    Ok(tasks)
}

fn of_controller<R: Reconciler>(controller: Controller<R>) -> Runnable {
    Runnable::new(controller.name().to_owned(), |stop| controller.run(stop))
}

impl fmt::Debug for Manager {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Manager")
            .field("on_every_replica", &self.on_every_replica)
            .field("on_leader", &self.on_leader)
            .field("on_shard", &self.on_shard)
            .field("elector", &self.elector)
            .field("sharding", &self.sharding)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for ManagerBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.manager.fmt(f)
    }
}
