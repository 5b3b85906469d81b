//! The controllers of a cluster, in this process: workloads and their pods, the addresses of services, the accounts of
//! namespaces, and, as an option of its own, a node on which pods run.
//!
//! One task owns everything: it turns events of the store into keys, and handles the keys in order, one at a time. A
//! controller is a function from a key to requests; it keeps nothing between two calls, so that another call recovers
//! from an error or a lost race. The task sleeps while the store is quiet.

mod accounts;
mod cluster;
mod cronjobs;
mod daemonsets;
mod deployments;
mod disruption;
mod endpoints;
mod ephemeral;
mod history;
mod jobs;
mod lease;
mod node;
mod nodes;
mod owners;
mod placement;
mod pods;
mod policies;
mod protection;
mod queue;
mod quotas;
mod replicasets;
mod resource_claims;
mod statefulsets;
mod switches;
mod volumes;

use std::sync::Arc;
use std::time::Duration;

use futures::future::{FutureExt, select_all};
use tokio::sync::watch as signal;
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep_until};

use crate::server::Server;
use crate::store::{Cursor, Object};
use cluster::{Cluster, Fault};
use queue::Queue;

/// The controllers to run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Selection {
    /// The controllers of kube-controller-manager.
    pub(crate) manager: bool,
    /// The simulated scheduler and kubelet, and the creation, binding and protection of claims, for which pods wait.
    pub(crate) node: bool,
}

/// A controller, in the order in which keys are handled. The node comes first, so that owners of many pods see all
/// their changes at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Controller {
    Node,
    Accounts,
    Deployments,
    ReplicaSets,
    StatefulSets,
    DaemonSets,
    Jobs,
    CronJobs,
    Disruption,
    Endpoints,
    Ephemeral,
    ResourceClaims,
    Protection,
    Nodes,
    Policies,
    Volumes,
    Quotas,
}

/// The limit for requeue delays. Keys that are due later are checked in between, so that no requested time overflows
/// the clock.
const LONGEST_WAIT: Duration = Duration::from_secs(24 * 60 * 60);
/// The limit of pods that one call creates: an owner of billions is handled in steps, between which it can be changed
/// or deleted. `BurstReplicas` of `pkg/controller/replicaset` and `MaxPodCreateDeletePerSync` of `pkg/controller/job`.
const MOST_CREATED: usize = 500;

/// The result of a call: done, or the delay after which the key is due again. A delay of zero means that the call is
/// not finished; it continues after all other keys.
type Outcome = Result<Option<Duration>, Fault>;

impl Controller {
    /// The collections whose events concern the controller.
    fn watches(self) -> &'static [&'static str] {
        match self {
            Self::Accounts => accounts::WATCHES,
            Self::Deployments => deployments::WATCHES,
            Self::ReplicaSets => replicasets::WATCHES,
            Self::StatefulSets => statefulsets::WATCHES,
            Self::DaemonSets => daemonsets::WATCHES,
            Self::Jobs => jobs::WATCHES,
            Self::CronJobs => cronjobs::WATCHES,
            Self::Disruption => disruption::WATCHES,
            Self::Endpoints => endpoints::WATCHES,
            Self::Ephemeral => ephemeral::WATCHES,
            Self::ResourceClaims => resource_claims::WATCHES,
            Self::Protection => protection::WATCHES,
            Self::Nodes => nodes::WATCHES,
            Self::Policies => policies::WATCHES,
            Self::Volumes => volumes::WATCHES,
            Self::Quotas => quotas::WATCHES,
            Self::Node => node::WATCHES,
        }
    }

    /// Returns the keys to handle after an event of an object.
    fn keys(self, cluster: &Cluster, collection: &str, key: &str, object: &Object) -> Vec<String> {
        match self {
            Self::Accounts => accounts::keys(collection, &object.value),
            Self::Deployments => deployments::keys(cluster, collection, key, &object.value),
            Self::ReplicaSets => replicasets::keys(cluster, collection, key, &object.value),
            Self::StatefulSets => statefulsets::keys(cluster, collection, key, &object.value),
            Self::DaemonSets => daemonsets::keys(cluster, collection, key, &object.value),
            Self::Jobs => jobs::keys(cluster, collection, key, &object.value),
            Self::CronJobs => cronjobs::keys(cluster, collection, key, &object.value),
            Self::Disruption => disruption::keys(cluster, collection, key, &object.value),
            Self::Endpoints => endpoints::keys(cluster, collection, key, &object.value),
            Self::Ephemeral => ephemeral::keys(cluster, collection, key, &object.value),
            Self::ResourceClaims => resource_claims::keys(cluster, collection, key, &object.value),
            Self::Protection => protection::keys(collection, key, &object.value),
            Self::Nodes | Self::Policies => vec![key.to_owned()],
            Self::Volumes => volumes::keys(cluster, collection, key, &object.value),
            Self::Quotas => quotas::keys(cluster, collection, key, &object.value),
            Self::Node => node::keys(collection, key, &object.value),
        }
    }

    async fn reconcile(self, cluster: &Cluster, key: &str) -> Outcome {
        match self {
            Self::Accounts => accounts::reconcile(cluster, key).await,
            Self::Deployments => deployments::reconcile(cluster, key).await,
            Self::ReplicaSets => replicasets::reconcile(cluster, key).await,
            Self::StatefulSets => statefulsets::reconcile(cluster, key).await,
            Self::DaemonSets => daemonsets::reconcile(cluster, key).await,
            Self::Jobs => jobs::reconcile(cluster, key).await,
            Self::CronJobs => cronjobs::reconcile(cluster, key).await,
            Self::Disruption => disruption::reconcile(cluster, key).await,
            Self::Endpoints => endpoints::reconcile(cluster, key).await,
            Self::Ephemeral => ephemeral::reconcile(cluster, key).await,
            Self::ResourceClaims => resource_claims::reconcile(cluster, key).await,
            Self::Protection => protection::reconcile(cluster, key).await,
            Self::Nodes => nodes::reconcile(cluster, key).await,
            Self::Policies => policies::reconcile(cluster, key).await,
            Self::Volumes => volumes::reconcile(cluster, key).await,
            Self::Quotas => quotas::reconcile(cluster, key).await,
            Self::Node => node::reconcile(cluster, key).await,
        }
    }

    /// The field manager and the reporter of events.
    fn agent(self) -> &'static str {
        if self == Self::Node { "kubelet" } else { "kube-controller-manager" }
    }
}

/// Running controllers.
#[derive(Debug)]
pub(crate) struct Controllers {
    stop: signal::Sender<bool>,
    task: JoinHandle<()>,
}

impl Controllers {
    /// Starts the selected controllers; they end when the server stops, too.
    ///
    /// # Panics
    /// Panics outside of a tokio runtime.
    pub(crate) fn start(server: &Arc<Server>, selection: Selection) -> Self {
        let mut controllers = Vec::new();
        if selection.manager {
            controllers.extend([
                Controller::Accounts,
                Controller::Deployments,
                Controller::ReplicaSets,
                Controller::StatefulSets,
                Controller::DaemonSets,
                Controller::Jobs,
                Controller::CronJobs,
                Controller::Disruption,
                Controller::Endpoints,
                Controller::Nodes,
                Controller::Policies,
                Controller::Quotas,
            ]);
        }
        if selection.manager || selection.node {
            controllers.extend([
                Controller::Ephemeral,
                Controller::ResourceClaims,
                Controller::Protection,
                Controller::Volumes,
            ]);
        }
        if selection.node {
            controllers.push(Controller::Node);
        }
        let (stop, stopped) = signal::channel(false);
        let task = tokio::spawn(Loop::new(server.clone(), controllers).run(stopped));
        Self { stop, task }
    }

    /// Ends the controllers and waits for the running call.
    pub(crate) async fn stop(self) {
        self.stop.send_replace(true);
        if let Err(error) = self.task.await {
            tracing::error!(%error, "the controllers ended before they were stopped");
        }
    }
}

/// A collection that a controller watches.
struct Source {
    collection: &'static str,
    cursor: Cursor,
}

struct Loop {
    server: Arc<Server>,
    controllers: Vec<Controller>,
    sources: Vec<Source>,
    queue: Queue<Controller>,
}

impl Loop {
    fn new(server: Arc<Server>, controllers: Vec<Controller>) -> Self {
        let mut collections: Vec<&'static str> =
            controllers.iter().flat_map(|controller| controller.watches()).copied().collect();
        collections.sort_unstable();
        collections.dedup();
        let mut this = Self { server, controllers, sources: Vec::new(), queue: Queue::default() };
        for collection in collections {
            this.open(collection);
        }
        if this.controllers.contains(&Controller::Node) {
            this.queue.add(Controller::Node, node::NAME.to_owned());
        }
        this
    }

    fn cluster(&self, controller: Controller) -> Cluster {
        Cluster::new(self.server.clone(), controller.agent())
    }

    /// Starts to watch a collection, from its current objects.
    fn open(&mut self, collection: &'static str) {
        let (snapshot, cursor) = self.server.store.list_and_watch(collection, "");
        for (key, object) in &snapshot.objects {
            self.note(collection, key, object);
        }
        self.sources.push(Source { collection, cursor });
    }

    /// Queues the keys of an object's event.
    fn note(&mut self, collection: &'static str, key: &str, object: &Object) {
        for controller in self.controllers.clone() {
            if controller.watches().contains(&collection) {
                let cluster = self.cluster(controller);
                for key in controller.keys(&cluster, collection, key, object) {
                    self.queue.add(controller, key);
                }
            }
        }
    }

    /// Queues the keys of all objects. An object that was deleted in a gap of the history is only known from its
    /// dependents, which may be in any collection.
    fn note_all(&mut self) {
        let collections: Vec<&'static str> = self.sources.iter().map(|source| source.collection).collect();
        for collection in collections {
            // Only older versions can be compacted, and this is the current one.
            let snapshot = self.server.store.list(collection, "", None);
            for (key, object) in snapshot.map(|snapshot| snapshot.objects).unwrap_or_default() {
                self.note(collection, &key, &object);
            }
        }
    }

    /// Handles all pending events.
    fn take_events(&mut self) {
        let mut has_gap = false;
        for mut source in std::mem::take(&mut self.sources) {
            match source.cursor.take() {
                Ok(batch) => {
                    for event in &batch.events {
                        self.note(source.collection, &event.key, &event.object);
                        if let Some(previous) = &event.previous {
                            self.note(source.collection, &event.key, previous);
                        }
                    }
                    self.sources.push(source);
                }
                // The history was compacted.
                Err(_) => {
                    has_gap = true;
                    self.open(source.collection);
                }
            }
        }
        if has_gap {
            self.note_all();
        }
    }

    async fn run(mut self, mut stopped: signal::Receiver<bool>) {
        let mut stopping = self.server.stopping();
        loop {
            self.take_events();
            while let Some((controller, key)) = self.queue.next(Instant::now()) {
                if *stopped.borrow() || *stopping.borrow() {
                    return;
                }
                let outcome = controller.reconcile(&self.cluster(controller), &key).await;
                let is_unfinished = matches!(outcome, Ok(Some(Duration::ZERO)));
                self.settle(controller, key, outcome);
                self.take_events();
                if is_unfinished {
                    // Requests that change or delete a large owner need a turn.
                    tokio::task::yield_now().await;
                }
            }
            let timer = self.queue.next_timer();
            let sleep = async {
                match timer {
                    Some(at) => sleep_until(at).await,
                    None => std::future::pending().await,
                }
            };
            let changed = select_all(self.sources.iter_mut().map(|source| source.cursor.wait().boxed()));
            tokio::select! {
                biased;
                _ = stopped.changed() => return,
                _ = stopping.changed() => return,
                (_, _, _) = changed => {}
                () = sleep => {}
            }
        }
    }

    fn settle(&mut self, controller: Controller, key: String, outcome: Outcome) {
        match outcome {
            Ok(Some(Duration::ZERO)) => self.queue.unfinished(controller, key),
            Ok(again) => {
                let again = again.map(|after| Instant::now() + after.min(LONGEST_WAIT));
                self.queue.done(controller, key, again);
            }
            Err(fault) => {
                tracing::debug!(?controller, key, %fault, "will be tried again");
                self.queue.failed(controller, key, Instant::now());
            }
        }
    }
}
