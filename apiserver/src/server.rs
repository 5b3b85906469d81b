//! The state of the API server.

mod call;
mod garbage;
mod services;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};

use serde_json::Value;
use tokio::sync::watch as signal;

use crate::access::{AuthorizationMode, Usage};
use crate::clock::{Clock, Ids, rfc3339};
use crate::containers::Containers;
use crate::features::FeatureGates;
use crate::hooks::Hooks;
use crate::http::upgrade::Sessions;
use crate::impersonation::Modes;
use crate::registry::Registry;
use crate::store::{Object, Store, WriteError};
use crate::webhook;
pub(crate) use call::{Call, OfController};
pub(crate) use garbage::Work;

/// The limit of attempts for a read-modify-write when others write the same object.
const RETRIES: usize = 1000;

/// The origin of a request.
#[derive(Clone, Debug, Default)]
pub(crate) struct Origin {
    /// The bearer token that the request has to have.
    pub(crate) token: Option<Arc<str>>,
}

/// Established CRDs by the collections of their objects.
pub(crate) type Definitions = BTreeMap<String, Arc<Object>>;

/// The server's state. Handlers wait for bodies, watches and webhooks, and hold no lock meanwhile.
pub(crate) struct Server {
    pub(crate) store: Arc<Store>,
    registry: RwLock<Arc<Registry>>,
    /// See [`Server::reconciling`].
    reconciling: Mutex<Option<Definitions>>,
    /// Locked while a service's addresses and ports are checked, until it is stored with them.
    writing_services: Mutex<()>,
    clock: Arc<dyn Clock>,
    pub(crate) ids: Ids,
    stopping: signal::Sender<bool>,
    options: ServerOptions,
    pub(crate) garbage: garbage::Queue,
    /// The permissions that users' requests have needed.
    pub(crate) usage: Usage,
    pub(crate) impersonations: Modes,
    /// The keys of quotas whose controller should count again.
    recounts: Mutex<BTreeSet<String>>,
    hooks: RwLock<Arc<Hooks>>,
    /// The HTTP clients for webhooks.
    pub(crate) webhooks: webhook::Clients,
    /// Upgraded connections.
    pub(crate) sessions: Sessions,
}

impl fmt::Debug for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Server").field("clock", &self.clock).finish_non_exhaustive()
    }
}

/// The state of a server while it handles no write. Other servers can start from it, faster than from nothing; they share
/// unchanged objects.
#[derive(Clone)]
pub struct Snapshot {
    store: Arc<Store>,
    registry: Arc<Registry>,
    hooks: Arc<Hooks>,
    /// Whether the server propagated deletions.
    pub(crate) controllers: bool,
    /// Whether the server aggregated cluster roles.
    pub(crate) aggregates_roles: bool,
}

impl fmt::Debug for Snapshot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Snapshot").finish_non_exhaustive()
    }
}

/// The settings of a server.
#[derive(Clone, Debug, Default)]
pub(crate) struct ServerOptions {
    /// The seed of UIDs and generated names; `None` leaves it to the operating system.
    pub(crate) seed: Option<u64>,
    /// Whether deletions propagate to dependents and to the content of namespaces.
    pub(crate) controllers: bool,
    /// Whether terminating namespaces are emptied and removed, also without controllers.
    pub(crate) namespace_deletion: bool,
    /// Whether a node and a scheduler are simulated.
    pub(crate) simulated_node: bool,
    /// Whether the server starts without objects, and namespaces need not exist.
    pub(crate) bare: bool,
    /// The authorization mode.
    pub(crate) authorization: AuthorizationMode,
    /// The feature gates.
    pub(crate) feature_gates: FeatureGates,
    /// The responses of containers.
    pub(crate) containers: Containers,
    /// Reaches webhooks in place of connections.
    pub(crate) webhooks: Option<Arc<dyn webhook::WebhookTransport>>,
    /// The place of the webhooks of services.
    pub(crate) webhook_host: Option<webhook::WebhookHost>,
}

impl ServerOptions {
    /// Reports whether terminating namespaces are emptied and removed.
    pub(crate) fn empties_namespaces(&self) -> bool {
        self.controllers || self.namespace_deletion
    }
}

impl Server {
    /// Creates a server that has not read its store.
    pub(crate) fn new(store: Arc<Store>, clock: Arc<dyn Clock>, options: ServerOptions) -> Arc<Self> {
        // A restarted server must not repeat IDs.
        let seed = options.seed.map(|seed| seed.wrapping_add(store.current() - 1));
        Arc::new(Self {
            store,
            registry: RwLock::default(),
            reconciling: Mutex::new(None),
            writing_services: Mutex::new(()),
            clock,
            ids: Ids::new(seed),
            stopping: signal::Sender::new(false),
            garbage: garbage::Queue::default(),
            usage: Usage::default(),
            impersonations: Modes::default(),
            recounts: Mutex::default(),
            hooks: RwLock::default(),
            webhooks: webhook::Clients::new(options.webhooks.clone(), options.webhook_host.clone()),
            sessions: Sessions::default(),
            options,
        })
    }

    /// Creates a server with the objects and served resources of another one.
    pub(crate) fn of(snapshot: &Snapshot, clock: Arc<dyn Clock>, options: ServerOptions) -> Arc<Self> {
        let server = Self::new(Arc::new(snapshot.store.copy()), clock, options);
        server.serve(snapshot.registry.clone());
        *server.hooks.write().unwrap_or_else(PoisonError::into_inner) = snapshot.hooks.clone();
        server
    }

    /// Returns the present state.
    pub(crate) fn snapshot(&self) -> Snapshot {
        Snapshot {
            store: Arc::new(self.store.copy()),
            registry: self.registry(),
            hooks: self.hooks(),
            controllers: self.options.controllers,
            aggregates_roles: self.aggregates_roles(),
        }
    }

    /// Reports whether cluster roles are aggregated: the work of kube-controller-manager, on which authorization depends.
    pub(crate) fn aggregates_roles(&self) -> bool {
        self.options.controllers || self.options.authorization == AuthorizationMode::Rbac
    }

    /// Returns the settings of the server.
    pub(crate) fn options(&self) -> &ServerOptions {
        &self.options
    }

    /// Reports whether the server started without objects.
    pub(crate) fn is_bare(&self) -> bool {
        self.options.bare
    }

    /// Reports whether objects can only be created in existing namespaces.
    pub(crate) fn needs_namespaces(&self) -> bool {
        !self.options.bare
    }

    /// Returns the current time as in metadata.
    pub(crate) fn now(&self) -> String {
        rfc3339(self.clock.now())
    }

    /// Returns the time after this number of seconds, as in metadata.
    pub(crate) fn later(&self, seconds: i64) -> String {
        rfc3339(
            self.clock
                .now()
                .saturating_add(jiff::SignedDuration::from_secs(seconds))
                .unwrap_or(jiff::Timestamp::MAX),
        )
    }

    /// Returns the current time.
    pub(crate) fn timestamp(&self) -> jiff::Timestamp {
        self.clock.now()
    }

    pub(crate) fn registry(&self) -> Arc<Registry> {
        self.registry.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Replaces the served resources.
    pub(crate) fn serve(&self, registry: Arc<Registry>) {
        *self.registry.write().unwrap_or_else(PoisonError::into_inner) = registry;
    }

    /// The established CRDs from which the served resources were made; `None` before the first time. Excludes other updates
    /// of the served resources until the result is dropped.
    pub(crate) fn reconciling(&self) -> MutexGuard<'_, Option<Definitions>> {
        self.reconciling.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the admission webhooks and policies.
    pub(crate) fn hooks(&self) -> Arc<Hooks> {
        self.hooks.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Updates the admission webhooks and policies from the stored objects.
    pub(crate) fn refresh_hooks(&self) {
        let _guard = self.reconciling();
        let stored = |collection: &str| -> Vec<Arc<Object>> {
            let snapshot = self.store.list(collection, "", None);
            let objects = snapshot.map(|snapshot| snapshot.objects).unwrap_or_default();
            objects.into_iter().map(|(_, object)| object).collect()
        };
        let hooks = Arc::new(Hooks::new(&stored, &self.hooks()));
        *self.hooks.write().unwrap_or_else(PoisonError::into_inner) = hooks;
    }

    /// Ends all watches; later ones end at once.
    pub(crate) fn stop(&self) {
        self.stopping.send_replace(true);
    }

    /// Resolves to true when the server stops.
    pub(crate) fn stopping(&self) -> signal::Receiver<bool> {
        self.stopping.subscribe()
    }

    /// The keys of quotas whose controller should count again.
    pub(crate) fn recounts(&self) -> MutexGuard<'_, BTreeSet<String>> {
        self.recounts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reads, changes and writes an object until no other write intervenes; `None` from `change` leaves it.
    pub(crate) fn modify(
        &self,
        collection: &str,
        key: &str,
        mut change: impl FnMut(&Value) -> Option<Value>,
    ) -> Option<Arc<Object>> {
        for _ in 0..RETRIES {
            let old = self.store.get(collection, key)?;
            let Some(next) = change(&old.value) else { return Some(old) };
            match self.store.update(collection, key, old.rv, next) {
                Ok(object) => return Some(object),
                Err(WriteError::Conflict) => {}
                Err(_) => return None,
            }
        }
        None
    }
}
