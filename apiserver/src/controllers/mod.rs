//! What a cluster's controllers do, in this process: workloads and their pods, the addresses of services, the accounts of
//! namespaces, and, as an option of its own, a node on which pods run.
//!
//! One task owns everything: it turns events of the store into keys, and works the keys off in their order, one at a
//! time. A controller is a function from a key to requests; it keeps nothing between two calls, so that an error or a
//! lost race is put right by calling it again. The task sleeps while the store is quiet.

mod accounts;
mod cluster;
mod cronjobs;
mod daemonsets;
mod deployments;
mod disruption;
mod endpoints;
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
mod replicasets;
mod statefulsets;
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

/// Which controllers run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Selection {
    /// Those of kube-controller-manager.
    pub(crate) manager: bool,
    /// The stand-in for scheduler and kubelet.
    pub(crate) node: bool,
}

/// A controller, in the order in which keys are worked off. The node comes first: what owns many pods looks at all that became
/// of them at once.
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
    Protection,
    Nodes,
    Policies,
    Volumes,
}

/// How far ahead a key is planned at most. What is due later is looked at in between, so that no time that somebody asks for is
/// too far away for the clock.
const LONGEST_WAIT: Duration = Duration::from_secs(24 * 60 * 60);
/// The most pods that one call creates: what asks for billions is taken in steps, between which it can be changed or deleted.
/// `BurstReplicas` of `pkg/controller/replicaset` and `MaxPodCreateDeletePerSync` of `pkg/controller/job`.
const MOST_CREATED: usize = 500;

/// What a call leaves to do: nothing, or the same again after a while. No time at all means that the call is not finished; it
/// goes on when all else has had its turn.
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
            Self::Protection => protection::WATCHES,
            Self::Nodes => nodes::WATCHES,
            Self::Policies => policies::WATCHES,
            Self::Volumes => volumes::WATCHES,
            Self::Node => node::WATCHES,
        }
    }

    /// What has to be looked at after an event of an object.
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
            Self::Protection => protection::keys(collection, key, &object.value),
            Self::Nodes | Self::Policies => vec![key.to_owned()],
            Self::Volumes => volumes::keys(cluster, collection, key, &object.value),
            Self::Node => node::keys(cluster, collection, key),
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
            Self::Protection => protection::reconcile(cluster, key).await,
            Self::Nodes => nodes::reconcile(cluster, key).await,
            Self::Policies => policies::reconcile(cluster, key).await,
            Self::Volumes => volumes::reconcile(cluster, key).await,
            Self::Node => node::reconcile(cluster, key).await,
        }
    }

    /// The name under which fields are owned and events are told.
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
    /// Outside of a tokio runtime.
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
                Controller::Protection,
                Controller::Nodes,
                Controller::Policies,
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

    /// Ends the controllers and waits for the one that is at work.
    pub(crate) async fn stop(self) {
        self.stop.send_replace(true);
        if let Err(error) = self.task.await {
            tracing::error!(%error, "the controllers ended before they were stopped");
        }
    }
}

/// A collection that somebody watches.
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

    /// Begins to watch a collection, with what is there.
    fn open(&mut self, collection: &'static str) {
        let (snapshot, cursor) = self.server.store.list_and_watch(collection, "");
        for (key, object) in &snapshot.objects {
            self.note(collection, key, object);
        }
        self.sources.push(Source { collection, cursor });
    }

    /// Queues what an object's event is about.
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

    /// Queues what all objects are about. What went in a gap of the history can only be told from what it left behind, and that
    /// may be in any collection.
    fn note_all(&mut self) {
        let collections: Vec<&'static str> = self.sources.iter().map(|source| source.collection).collect();
        for collection in collections {
            // Only the past can be out of reach, and this is the present.
            let snapshot = self.server.store.list(collection, "", None);
            for (key, object) in snapshot.map(|snapshot| snapshot.objects).unwrap_or_default() {
                self.note(collection, &key, &object);
            }
        }
    }

    /// Takes all events that are there.
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
                // The history was cut.
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
                    // Whoever wants to stop what asks for that much has to get a word in.
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
