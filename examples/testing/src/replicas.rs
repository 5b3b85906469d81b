//! Replicas of one operator: one works at a time, and another takes over.

use std::collections::BTreeMap;
use std::future::Future;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use kubesmith_runtime::cache::ObjectKey;
use kubesmith_runtime::controller::{Action, CancellationToken, ReconcileError, Reconciler};
use kubesmith_runtime::informer::SharedInformerFactory;
use kubesmith_runtime::kube::Client;
use kubesmith_runtime::leaderelection::{ElectionTimes, LeaderElectionError, LeaderElector};
use kubesmith_runtime::manager::{Manager, ManagerError};
use kubesmith_testenv::Backend;
use kubesmith_testenv::fault::{Fault, Rule, Schedule};
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep};

use crate::cluster::Cluster;
use crate::wait::{eventually, in_time};

/// An operator with several replicas.
pub trait Operator {
    /// The name of the lease that they compete for.
    const LEASE: &'static str;

    /// Returns the name of the object that a test calls `name`. Without a namespace it has to be unique among all
    /// tests.
    #[must_use]
    fn name(_namespace: &str, name: &str) -> String {
        name.to_owned()
    }

    /// Adds the controller, its reconciler watched by `witness`, to `manager`, for objects of `namespace`; the
    /// manager's own informers are limited to it.
    fn add_to(manager: &mut Manager, namespace: &str, witness: Witness);

    /// Creates an object of this name.
    fn create(client: Client, namespace: &str, name: &str) -> impl Future<Output = ()>;

    /// Deletes objects outside of the test's namespace.
    fn clean_up(_client: Client, _namespace: &str) -> impl Future<Output = ()> {
        std::future::ready(())
    }
}

/// Checks that after a leader is killed the other takes over within the lease's bound, and nothing is reconciled by
/// both at once.
///
/// # Panics
///
/// Panics if it is not so.
pub async fn a_killed_leader_is_followed<O: Operator>(cluster: Cluster) {
    let replicas = Replicas::<O>::new(cluster);
    let start = Instant::now();
    let first = replicas.replica("first", replicas.cluster.operator_client());
    replicas.create("before").await;
    replicas.worked_on("first", "before").await;
    let second = replicas.replica("second", replicas.cluster.operator_client());
    sleep(replicas.long()).await;
    assert_eq!(replicas.workers_since(start), ["first"], "the other only watches");

    // As `kill -9`: the lease is not released.
    let killed = Instant::now();
    first.abort();
    replicas.create("after").await;
    let taken = replicas.worked_on("second", "after").await;
    replicas.assert_within_bound(taken - killed);
    replicas.worked_on("second", "before").await;
    replicas.stop(second).await;
}

/// Checks that a leader without a connection to the server stops before the other begins, which is within the lease's
/// bound, and nothing is reconciled by both at once.
///
/// # Panics
///
/// Panics if it is not so.
pub async fn a_leader_that_is_cut_off_is_followed<O: Operator>(cluster: Cluster) {
    let replicas = Replicas::<O>::new(cluster);
    let proxy = replicas.cluster.env.fault_proxy(Schedule::new()).await.expect("a proxy");
    let first = replicas.replica("first", proxy.client());
    replicas.create("before").await;
    replicas.worked_on("first", "before").await;
    let second = replicas.replica("second", replicas.cluster.operator_client());
    sleep(replicas.long()).await;

    let cut = Instant::now();
    proxy.add_rule(Rule::new(Fault::DropRequest));
    replicas.create("after").await;
    let taken = replicas.worked_on("second", "after").await;
    replicas.assert_within_bound(taken - cut);
    let ended = in_time("the end of who was cut off", first).await.expect("no panic");
    assert!(matches!(ended, Err(ManagerError::Leader(LeaderElectionError::Lost { .. }))), "{ended:?}");
    sleep(replicas.long()).await;
    assert_eq!(replicas.workers_since(taken), ["second"]);
    replicas.stop(second).await;
    proxy.stop().await;
}

/// The replicas that work on keys, now and before.
#[derive(Default)]
struct Log {
    now: BTreeMap<ObjectKey, &'static str>,
    all: Vec<(&'static str, ObjectKey, Instant)>,
    /// Keys that two replicas worked on at once.
    clashes: Vec<String>,
}

/// Records the keys that a replica works on, with times.
pub struct Witness {
    who: &'static str,
    log: Arc<Mutex<Log>>,
}

impl Witness {
    /// Wraps `inner` in a recorded reconciler.
    pub fn of<R>(self, inner: R) -> Witnessed<R> {
        Witnessed { witness: self, inner }
    }

    fn log(&self) -> MutexGuard<'_, Log> {
        lock(&self.log)
    }
}

/// A recorded reconciler.
pub struct Witnessed<R> {
    witness: Witness,
    inner: R,
}

/// An entry of the log, which also ends when the reconcile is cancelled.
struct Stay<'a>(&'a Witness, &'a ObjectKey);

impl Drop for Stay<'_> {
    fn drop(&mut self) {
        self.0.log().now.remove(self.1);
    }
}

impl<R: Reconciler<Key = ObjectKey>> Reconciler for Witnessed<R> {
    type Key = ObjectKey;

    async fn reconcile(&self, key: &ObjectKey) -> Result<Action, ReconcileError> {
        let who = self.witness.who;
        {
            let mut log = self.witness.log();
            if let Some(other) = log.now.insert(key.clone(), who) {
                log.clashes.push(format!("{key}: {other} and {who}"));
            }
            log.all.push((who, key.clone(), Instant::now()));
        }
        let _stay = Stay(&self.witness, key);
        // Long enough for an overlap to occur.
        sleep(Duration::from_millis(300)).await;
        self.inner.reconcile(key).await
    }
}

/// Replicas of the operator `O`.
struct Replicas<O> {
    cluster: Cluster,
    times: ElectionTimes,
    log: Arc<Mutex<Log>>,
    stop: CancellationToken,
    operator: std::marker::PhantomData<O>,
}

impl<O: Operator> Replicas<O> {
    fn new(cluster: Cluster) -> Self {
        let times = match cluster.env.backend() {
            Backend::Embedded => ElectionTimes::default(),
            // Short enough for time that is not paused, but long enough for a busy machine to renew.
            _ => ElectionTimes {
                lease_duration: Duration::from_secs(12),
                renew_deadline: Duration::from_secs(10),
                retry_period: Duration::from_millis(500),
            },
        };
        let (log, stop, operator) = Default::default();
        Replicas { cluster, times, log, stop, operator }
    }

    /// The lease's duration, counted from the other's observation of the last renewal, and then its next attempt.
    /// Attempts are a period apart, and up to 1.2 times as much more.
    fn bound(&self) -> Duration {
        self.times.lease_duration + 2 * self.times.retry_period.mul_f64(2.2)
    }

    /// Only if time is paused: delays of a machine and its network have no bound.
    fn assert_within_bound(&self, taken: Duration) {
        let is_paused = self.cluster.env.backend() == Backend::Embedded;
        assert!(taken <= self.bound() || !is_paused, "after {taken:?}");
    }

    /// Long enough for the other to take over, if it did.
    fn long(&self) -> Duration {
        self.bound() + 2 * self.times.retry_period
    }

    fn replica(&self, who: &'static str, client: Client) -> JoinHandle<Result<(), ManagerError>> {
        let namespace = &self.cluster.namespace;
        let elector = LeaderElector::builder(client.clone(), namespace, O::LEASE, who).times(self.times);
        let elector = elector.build().expect("times that keep leaders apart");
        let informers = SharedInformerFactory::builder(client.clone()).namespace(namespace).build();
        let mut manager = Manager::builder(client).factory(informers).leader_election(elector).build();
        O::add_to(&mut manager, namespace, Witness { who, log: self.log.clone() });
        tokio::spawn(manager.run(self.stop.clone().cancelled_owned()))
    }

    async fn create(&self, name: &str) {
        let namespace = &self.cluster.namespace;
        O::create(self.cluster.client(), namespace, &O::name(namespace, name)).await;
    }

    /// Returns the time when `who` first worked on the object of this name.
    async fn worked_on(&self, who: &str, name: &str) -> Instant {
        let name = O::name(&self.cluster.namespace, name);
        eventually(&format!("{who} works on {name}"), async || {
            let log = lock(&self.log);
            log.all.iter().find(|(by, key, _)| *by == who && key.name() == name).map(|(_, _, at)| *at)
        })
        .await
    }

    /// Returns the replicas that have worked since `instant`.
    fn workers_since(&self, instant: Instant) -> Vec<&'static str> {
        let log = lock(&self.log);
        let mut workers: Vec<_> =
            log.all.iter().filter(|(_, _, at)| *at >= instant).map(|(who, ..)| *who).collect();
        workers.sort_unstable();
        workers.dedup();
        workers
    }

    async fn stop(self, running: JoinHandle<Result<(), ManagerError>>) {
        self.stop.cancel();
        in_time("the end of who leads", running).await.expect("no panic").expect("no error");
        O::clean_up(self.cluster.client(), &self.cluster.namespace).await;
        self.cluster.stop().await;
        assert!(lock(&self.log).clashes.is_empty(), "no key is in two hands");
    }
}

fn lock(log: &Mutex<Log>) -> MutexGuard<'_, Log> {
    log.lock().unwrap_or_else(PoisonError::into_inner)
}
