//! Managers run everything in a program of controllers: they start it and stop it in order.
//!
//! Start: metrics and health endpoints, webhooks, caches, the parts that run on every replica. Then, once this
//! replica leads, the leader's parts; and once it has joined its [group](crate::sharding), if it has one, the
//! shared parts. Stop, within 30 s: parts on every replica, shared parts, the leader's parts (leases are held until
//! these have ended, and then released), waiting events, caches, webhooks, endpoints. The first failure stops
//! everything.
//!
//! A replica that does not lead is warm: its caches are filled and current, and the queues of its controllers
//! contain each key to reconcile once. So it works at once when it leads. In controller-runtime this is the option
//! `EnableWarmup`.
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
//! Settings and further parts:
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
//!     let _recorder = manager.event_recorder("example.com/pods");
//!     manager
//! }
//!
//! async fn run(manager: Manager, signal: ShutdownSignal) -> Result<(), ManagerError> {
//!     manager.run(signal).await
//! }
//! # let _ = shutdown_signal;
//! ```

mod address;
mod authorization;
mod builder;
mod debug;
mod error;
#[cfg(feature = "clap")]
mod flags;
mod group;
mod http;
mod informers;
mod leader;
mod log_levels;
mod run;
mod signal;
mod supervise;
mod tls;
mod webhooks;

use std::error::Error as StdError;
use std::fmt;
use std::future::Future;
use std::time::Duration;

use kube::{Client, Resource};
use tokio_util::sync::CancellationToken;

use crate::controller::{Controller, ControllerState, Reconciler};
use crate::informer::{Cached, CachedClient, SharedInformerFactory};
use crate::leaderelection::LeaderElector;
use crate::metrics::Registry;
use crate::record::{EventBroadcaster, EventRecorder};
use crate::sharding::{Shard, Sharding};

pub use address::{BindAddress, InvalidBindAddress};
pub use builder::ManagerBuilder;
pub use error::ManagerError;
#[cfg(feature = "clap")]
pub use flags::ManagerFlags;
use group::Runnable;
use http::Checks;
pub use leader::LeaderHandle;
use log_levels::LogLevels;
pub use signal::{ShutdownSignal, shutdown_signal};
use tls::MetricsTls;
use webhooks::Webhooks;

/// The time limit of the shutdown (controller-runtime's `GracefulShutdownTimeout`).
const DEFAULT_GRACE: Duration = Duration::from_secs(30);
/// The time limit of filling caches (controller-runtime's `CacheSyncTimeout`).
const DEFAULT_CACHE_SYNC_TIMEOUT: Duration = Duration::from_secs(120);

/// Runs controllers and the parts they share. See the [module](self).
pub struct Manager {
    client: Client,
    factory: SharedInformerFactory,
    /// Added factories.
    informers: Vec<SharedInformerFactory>,
    registry: Registry,
    /// Writes core events; made for the first recorder.
    core_events: Option<EventBroadcaster>,
    /// Writes events of `events.k8s.io`; made for the first recorder.
    events: Option<crate::events::EventBroadcaster>,
    healthz: Checks,
    readyz: Checks,
    webhooks: Webhooks,
    on_every_replica: Vec<Runnable>,
    on_leader: Vec<Runnable>,
    on_shard: Vec<Runnable>,
    elector: Option<LeaderElector>,
    /// Set when this replica leads.
    leader: LeaderHandle,
    sharding: Option<Sharding>,
    shard: Option<Shard>,
    metrics_address: BindAddress,
    metrics_tls: MetricsTls,
    metrics_authorization: bool,
    health_address: BindAddress,
    debug_address: BindAddress,
    /// The log levels for `/debug/flags/v`.
    log_levels: Option<LogLevels>,
    /// The controllers on `/debug/controllers`.
    states: Vec<ControllerState>,
    grace: Duration,
    cache_sync_timeout: Duration,
}

impl Manager {
    /// Starts the settings of a manager whose informers use `client`.
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
                core_events: None,
                events: None,
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
                metrics_tls: MetricsTls::default(),
                metrics_authorization: false,
                health_address: BindAddress::default(),
                debug_address: BindAddress::default(),
                log_levels: None,
                states: Vec::new(),
                grace: DEFAULT_GRACE,
                cache_sync_timeout: DEFAULT_CACHE_SYNC_TIMEOUT,
            },
            has_own_factory: false,
        }
    }

    /// Returns the builder's client.
    #[must_use]
    pub fn client(&self) -> &Client {
        &self.client
    }

    /// Returns the factory that all controllers share. The manager starts and stops its informers.
    #[must_use]
    pub fn factory(&self) -> &SharedInformerFactory {
        &self.factory
    }

    /// Also runs the informers of another factory: one with other settings, for other namespaces, or for another
    /// cluster. They are started, awaited and stopped with the manager's own.
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

    /// Returns a client for reconcilers. It reads from the shared cache of its kind, and its reads never miss its
    /// writes.
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

    /// Returns the leadership, for reconcilers that fence their writes to other systems.
    #[must_use]
    pub fn leader(&self) -> LeaderHandle {
        self.leader.clone()
    }

    /// Returns the registry that `/metrics` shows.
    #[must_use]
    pub fn metrics(&self) -> &Registry {
        &self.registry
    }

    /// Returns a recorder of core events whose source is `component`: controller-runtime's `GetEventRecorderFor`.
    /// [`run`](Self::run) writes all recorded events before it returns.
    ///
    /// # Panics
    ///
    /// Outside of a tokio runtime.
    pub fn event_recorder_for(&mut self, component: &str) -> EventRecorder {
        let client = &self.client;
        self.core_events.get_or_insert_with(|| EventBroadcaster::new(client.clone())).recorder(component)
    }

    /// Returns a recorder of events of the group `events.k8s.io`: controller-runtime's `GetEventRecorder`.
    ///
    /// # Panics
    ///
    /// Outside of a tokio runtime.
    pub fn event_recorder(&mut self, controller: &str) -> crate::events::EventRecorder {
        let client = &self.client;
        let new = || crate::events::EventBroadcaster::new(client.clone());
        self.events.get_or_insert_with(new).recorder(controller)
    }

    /// Runs a controller while this replica leads, or with [`sharding`](ManagerBuilder::sharding) on every replica
    /// for its own keys.
    pub fn add<R: Reconciler>(&mut self, controller: Controller<R>) {
        let Some(shard) = &self.shard else { return self.add_on_leader(controller) };
        let controller = controller.sharded(shard);
        let controller = self.watched(controller);
        self.on_shard.push(of_controller(controller));
    }

    /// Runs a controller for all keys while this replica leads.
    pub fn add_on_leader<R: Reconciler>(&mut self, controller: Controller<R>) {
        let controller = self.watched(controller);
        self.on_leader.push(of_controller(controller));
    }

    /// Runs a controller for all keys on every replica.
    pub fn add_on_every_replica<R: Reconciler>(&mut self, controller: Controller<R>) {
        let controller = self.watched(controller);
        self.on_every_replica.push(of_controller(controller));
    }

    /// Adds the controller to the state page, if there is one.
    fn watched<R: Reconciler>(&mut self, mut controller: Controller<R>) -> Controller<R> {
        if self.debug_address.is_on() {
            self.states.push(controller.state());
        }
        controller
    }

    /// Runs `run` while this replica leads, until its token is cancelled. An error or a panic stops the manager; a
    /// return without error does not.
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

    /// Adds a check to `/healthz`. If one fails, the kubelet restarts the program.
    pub fn add_healthz_check<F>(&mut self, name: impl Into<String>, check: F)
    where
        F: Fn() -> Result<(), String> + Send + Sync + 'static,
    {
        self.healthz.add(name, check);
    }

    /// Adds a check to `/readyz`. If one fails, the program gets no requests.
    pub fn add_readyz_check<F>(&mut self, name: impl Into<String>, check: F)
    where
        F: Fn() -> Result<(), String> + Send + Sync + 'static,
    {
        self.readyz.add(name, check);
    }

    /// Serves webhooks on every replica, from before the caches fill until after they stop. Adds the check
    /// `webhook-server` to `/readyz`, and the server's metrics to `/metrics`.
    ///
    /// A cluster sends requests to a terminating pod for some more seconds. A `preStop` hook that sleeps this long
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
    /// See [`webhook`](mod@crate::webhook) for webhooks of typed objects.
    #[cfg(feature = "webhook")]
    pub fn add_webhooks(&mut self, mut server: crate::webhook::Server) {
        server.metrics_unless_given(&self.registry);
        self.readyz.add("webhook-server", server.started_checker());
        self.webhooks.add(server);
    }
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
