//! Two replicas: one works at a time, and the other takes over.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use balancer_api::v1alpha1::Balancer;
use balancer_client::clientset::Clientset;
use balancer_controller::{LEASE_NAME, NGINX_IMAGE};
use kubesmith_runtime::cache::ObjectKey;
use kubesmith_runtime::controller::{Action, CancellationToken, ReconcileError, Reconciler};
use kubesmith_runtime::kube::Client;
use kubesmith_runtime::kube::api::PostParams;
use kubesmith_runtime::leaderelection::{LeaderElectionError, LeaderElector};
use kubesmith_runtime::manager::{Manager, ManagerError};
use kubesmith_testenv::TestEnv;
use kubesmith_testenv::fault::{Fault, Rule, Schedule};
use tokio::task::JoinHandle;
use tokio::time::Instant;

use crate::support::{eventually, sample, server};

/// The lease's duration of 15 s, counted from when the other has seen the last renewal, and then its next try. Tries are
/// 2 s apart, and up to 1.2 times as much more.
const BOUND: Duration = Duration::from_millis(15_000 + 2 * 4_400);

/// Who works on what, and who has.
#[derive(Default)]
struct Log {
    now: BTreeMap<ObjectKey, &'static str>,
    all: Vec<(&'static str, ObjectKey, Instant)>,
    /// Keys that were in two hands.
    clashes: Vec<String>,
}

/// Takes down what passes through it to the operator's reconciler.
struct Logged<R> {
    who: &'static str,
    inner: R,
    log: Arc<Mutex<Log>>,
}

/// A stay in the log, which ends also where the reconcile is cut off.
struct Stay<'a>(&'a Mutex<Log>, &'a ObjectKey);

impl Drop for Stay<'_> {
    fn drop(&mut self) {
        self.0.lock().expect("no panic").now.remove(self.1);
    }
}

impl<R: Reconciler<Key = ObjectKey>> Reconciler for Logged<R> {
    type Key = ObjectKey;

    async fn reconcile(&self, key: &ObjectKey) -> Result<Action, ReconcileError> {
        {
            let mut log = self.log.lock().expect("no panic");
            if let Some(other) = log.now.insert(key.clone(), self.who) {
                log.clashes.push(format!("{key}: {other} and {}", self.who));
            }
            log.all.push((self.who, key.clone(), Instant::now()));
        }
        let _stay = Stay(&self.log, key);
        // Long enough to be met in.
        tokio::time::sleep(Duration::from_millis(300)).await;
        self.inner.reconcile(key).await
    }
}

struct Replicas {
    env: TestEnv,
    log: Arc<Mutex<Log>>,
    stop: CancellationToken,
}

impl Replicas {
    async fn start() -> Self {
        let env = server().start().await.expect("the server starts");
        Replicas { env, log: Arc::default(), stop: CancellationToken::new() }
    }

    fn replica(&self, who: &'static str, client: Client) -> JoinHandle<Result<(), ManagerError>> {
        let elector = LeaderElector::builder(client.clone(), "default", LEASE_NAME, who);
        let elector = elector.build().expect("the usual times");
        let mut manager = Manager::builder(client).leader_election(elector).build();
        let inner = balancer_controller::reconciler(&mut manager, NGINX_IMAGE);
        let reconciler = Logged { who, inner, log: self.log.clone() };
        let controller =
            balancer_controller::controller(&manager).complete(reconciler).expect("a controller");
        manager.add(controller);
        tokio::spawn(manager.run(self.stop.clone().cancelled_owned()))
    }

    async fn create(&self, name: &str) {
        let mut balancer: Balancer = sample();
        balancer.metadata.name = Some(name.to_owned());
        let balancers = Clientset::new(self.env.client()).exposer_v1alpha1().balancers().namespace("default");
        balancers.create(&balancer, &PostParams::default()).await.expect("created");
    }

    /// When `who` has first worked on the Balancer of this name.
    async fn worked_on(&self, who: &str, name: &str) -> Instant {
        eventually(&format!("{who} works on {name}"), async || {
            let log = self.log.lock().expect("no panic");
            log.all.iter().find(|(by, key, _)| *by == who && key.name() == name).map(|(_, _, at)| *at)
        })
        .await
    }

    async fn stop(self, running: JoinHandle<Result<(), ManagerError>>) {
        self.stop.cancel();
        running.await.expect("no panic").expect("no error");
        self.env.stop().await;
        assert!(self.log.lock().expect("no panic").clashes.is_empty(), "no key is in two hands");
    }

    /// Who has worked since `instant`.
    fn workers_since(&self, instant: Instant) -> Vec<&'static str> {
        let log = self.log.lock().expect("no panic");
        let mut workers: Vec<_> =
            log.all.iter().filter(|(_, _, at)| *at >= instant).map(|(who, ..)| *who).collect();
        workers.sort_unstable();
        workers.dedup();
        workers
    }
}

#[tokio::test(start_paused = true)]
async fn when_the_leader_is_killed_the_other_takes_over_within_the_leases_bound() {
    let replicas = Replicas::start().await;
    let start = Instant::now();
    let first = replicas.replica("first", replicas.env.client());
    replicas.create("before").await;
    replicas.worked_on("first", "before").await;
    let second = replicas.replica("second", replicas.env.client());
    tokio::time::sleep(Duration::from_secs(60)).await;
    assert_eq!(replicas.workers_since(start), ["first"], "the other only watches");

    // As `kill -9`: nothing is given back.
    let killed = Instant::now();
    first.abort();
    replicas.create("after").await;
    let taken = replicas.worked_on("second", "after").await;
    assert!(taken - killed <= BOUND, "after {:?}", taken - killed);
    replicas.worked_on("second", "before").await;

    replicas.stop(second).await;
}

#[tokio::test(start_paused = true)]
async fn a_leader_that_is_cut_off_stops_before_the_other_begins() {
    let replicas = Replicas::start().await;
    let proxy = replicas.env.fault_proxy(Schedule::new()).await.expect("a proxy");
    let first = replicas.replica("first", proxy.client());
    replicas.create("before").await;
    replicas.worked_on("first", "before").await;
    let second = replicas.replica("second", replicas.env.client());
    tokio::time::sleep(Duration::from_secs(60)).await;

    let cut = Instant::now();
    proxy.add_rule(Rule::new(Fault::DropRequest));
    replicas.create("after").await;
    let taken = replicas.worked_on("second", "after").await;
    assert!(taken - cut <= BOUND, "after {:?}", taken - cut);
    let ended = first.await.expect("no panic");
    assert!(matches!(ended, Err(ManagerError::Leader(LeaderElectionError::Lost { .. }))), "{ended:?}");
    tokio::time::sleep(Duration::from_secs(60)).await;
    assert_eq!(replicas.workers_since(taken), ["second"]);

    replicas.stop(second).await;
    proxy.stop().await;
}
