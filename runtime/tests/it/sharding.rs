//! Replicas that share keys, on the embedded server: one owner for each key while replicas join, leave, crash
//! or are cut off. Time is paused.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use k8s_openapi::api::coordination::v1::Lease;
use k8s_openapi::api::core::v1::ConfigMap;
use kube::api::{Api, ListParams, ObjectMeta, PostParams};
use kubesmith_runtime::cache::ObjectKey;
use kubesmith_runtime::controller::{
    Action, CancellationToken, Controller, ControllerBuilder, ControllerError, reconcile_fn,
};
use kubesmith_runtime::informer::SharedInformerFactory;
use kubesmith_runtime::leaderelection::{ElectionTimes, LeaderElector};
use kubesmith_runtime::manager::{Manager, ManagerError};
use kubesmith_runtime::metrics::Registry;
use kubesmith_runtime::sharding::{Shard, Sharding, ShardingBuildError, ShardingError, SharePhase};
use kubesmith_runtime::workqueue::Queue;
use kubesmith_testenv::TestEnv;
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep};

use crate::scripted::{Asked, client, failure};
use crate::transport::Switch;

const SECOND: Duration = Duration::from_secs(1);
const OBJECTS: usize = 30;

/// The actions of all replicas.
#[derive(Clone, Default)]
pub(crate) struct Log(Arc<Mutex<Entries>>);

#[derive(Default)]
struct Entries {
    /// The replica that works on each key.
    in_work: BTreeMap<String, String>,
    /// Two replicas worked on one key.
    twice: Vec<String>,
    /// Key, replica, and when it began.
    begun: Vec<(String, String, Instant)>,
    cut_off: Vec<String>,
    /// How long reconciles of a key take, if not a tenth of a second.
    efforts: BTreeMap<String, Duration>,
}

/// A reconcile, until it is dropped.
struct Work {
    log: Log,
    key: String,
    is_done: bool,
}

impl Work {
    fn begin(log: &Log, key: &str, replica: &str) -> (Self, Duration) {
        let mut entries = log.0.lock().unwrap();
        if let Some(other) = entries.in_work.insert(key.to_owned(), replica.to_owned()) {
            entries.twice.push(format!("{key} by {other} and {replica}"));
        }
        entries.begun.push((key.to_owned(), replica.to_owned(), Instant::now()));
        let effort = entries.efforts.get(key).copied().unwrap_or(SECOND / 10);
        (Work { log: log.clone(), key: key.to_owned(), is_done: false }, effort)
    }

    fn done(mut self) {
        self.is_done = true;
    }
}

impl Drop for Work {
    fn drop(&mut self) {
        let mut entries = self.log.0.lock().unwrap();
        entries.in_work.remove(&self.key);
        if !self.is_done {
            entries.cut_off.push(self.key.clone());
        }
    }
}

struct Replica {
    shard: Shard,
    stop: CancellationToken,
    run: JoinHandle<Result<(), ManagerError>>,
}

fn name(number: usize) -> String {
    format!("default/m{number}")
}

/// Of one namespace: a new cluster has config maps in another one.
fn factory(client: kube::Client) -> SharedInformerFactory {
    SharedInformerFactory::builder(client).namespace("default").build()
}

fn sharding(client: kube::Client, identity: &str) -> Sharding {
    Sharding::builder(client, "default", "maps", identity).build().unwrap()
}

impl Replica {
    fn start(client: kube::Client, identity: &str, log: &Log) -> Self {
        let sharding = sharding(client.clone(), identity);
        let shard = sharding.shard();
        let mut manager =
            Manager::builder(client.clone()).factory(factory(client)).sharding(sharding).build();
        let controller = ControllerBuilder::new("maps")
            .for_(&manager.factory().informer_for::<ConfigMap>())
            .workers(4)
            .complete(reconciler(identity, log))
            .unwrap();
        manager.add(controller);
        let stop = CancellationToken::new();
        let run = tokio::spawn(manager.run(stop.clone().cancelled_owned()));
        Replica { shard, stop, run }
    }

    fn owned(&self) -> BTreeSet<String> {
        (0..OBJECTS).map(name).filter(|key| self.shard.owns(key)).collect()
    }

    async fn stop(self) {
        self.stop.cancel();
        self.run.await.unwrap().unwrap();
    }
}

pub(crate) fn reconciler(
    identity: &str,
    log: &Log,
) -> impl kubesmith_runtime::controller::Reconciler<Key = ObjectKey> + use<> {
    let (identity, log) = (identity.to_owned(), log.clone());
    reconcile_fn(move |key: ObjectKey| {
        let (identity, log) = (identity.clone(), log.clone());
        async move {
            log.work(key.as_str(), &identity).await;
            Ok(Action::done())
        }
    })
}

impl Log {
    /// Works on the key as long as it takes.
    pub(crate) async fn work(&self, key: &str, replica: &str) {
        let (work, effort) = Work::begin(self, key, replica);
        sleep(effort).await;
        work.done();
    }

    pub(crate) fn check(&self) {
        assert_eq!(self.0.lock().unwrap().twice, Vec::<String>::new());
    }

    /// Which replicas have begun each key since.
    pub(crate) fn since(&self, time: Instant) -> BTreeMap<String, BTreeSet<String>> {
        let mut workers: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for (key, replica, _) in self.0.lock().unwrap().begun.iter().filter(|(_, _, at)| *at >= time) {
            workers.entry(key.clone()).or_default().insert(replica.clone());
        }
        workers
    }

    fn set_effort(&self, key: &str, effort: Duration) {
        self.0.lock().unwrap().efforts.insert(key.to_owned(), effort);
    }
}

async fn server() -> TestEnv {
    let env = TestEnv::builder().seed(7).start().await.unwrap();
    let api: Api<ConfigMap> = Api::namespaced(env.client(), "default");
    for number in 0..OBJECTS {
        let metadata = ObjectMeta { name: Some(format!("m{number}")), ..ObjectMeta::default() };
        api.create(&PostParams::default(), &ConfigMap { metadata, ..ConfigMap::default() }).await.unwrap();
    }
    env
}

/// Changes every object.
async fn touch(env: &TestEnv) {
    let api: Api<ConfigMap> = Api::namespaced(env.client(), "default");
    for mut map in api.list(&ListParams::default()).await.unwrap() {
        let data = map.data.get_or_insert_default();
        let times = data.get("times").map_or(0, String::len);
        data.insert("times".to_owned(), "x".repeat(times + 1));
        let name = map.metadata.name.clone().unwrap();
        api.replace(&name, &PostParams::default(), &map).await.unwrap();
    }
}

async fn leases(env: &TestEnv) -> Vec<String> {
    let api: Api<Lease> = Api::namespaced(env.client(), "default");
    let leases = api.list(&ListParams::default()).await.unwrap();
    leases.items.into_iter().filter_map(|lease| lease.metadata.name).collect()
}

fn check_one_owner_each(replicas: &[&Replica]) {
    for key in (0..OBJECTS).map(name) {
        let owners = replicas.iter().filter(|replica| replica.shard.owns(&key)).count();
        assert_eq!(owners, 1, "{key}");
    }
}

#[tokio::test(start_paused = true)]
async fn three_replicas_share_the_keys() {
    let env = server().await;
    let log = Log::default();
    let replicas = ["a", "b", "c"].map(|identity| Replica::start(env.client(), identity, &log));
    sleep(10 * SECOND).await;
    check_one_owner_each(&replicas.each_ref());
    assert!(replicas.iter().all(|replica| replica.owned().len() > 3));
    assert_eq!(leases(&env).await, ["maps-a", "maps-b", "maps-c"]);
    assert_eq!(log.since(Instant::now() - 10 * SECOND).len(), OBJECTS, "each was reconciled");
    let before = Instant::now();
    touch(&env).await;
    sleep(5 * SECOND).await;
    for (key, workers) in log.since(before) {
        let owner = replicas.iter().position(|replica| replica.shard.owns(&key)).unwrap();
        assert_eq!(workers, BTreeSet::from([["a", "b", "c"][owner].to_owned()]), "{key}");
    }
    assert_eq!(log.since(before).len(), OBJECTS);
    let state = replicas[0].shard.state();
    assert_eq!((state.phase, state.members.len(), state.lost), (SharePhase::Working, 3, 0));
    for replica in replicas {
        replica.stop().await;
    }
    assert_eq!(leases(&env).await, Vec::<String>::new(), "given back");
    log.check();
    env.stop().await;
}

#[tokio::test(start_paused = true)]
async fn crashed_replica_is_replaced_after_its_lease() {
    let env = server().await;
    let log = Log::default();
    let [a, b, c] = ["a", "b", "c"].map(|identity| Replica::start(env.client(), identity, &log));
    sleep(10 * SECOND).await;
    let lost = b.owned();
    let crash = Instant::now();
    b.run.abort();
    sleep(12 * SECOND).await;
    assert!(lost.iter().all(|key| !a.shard.owns(key) && !c.shard.owns(key)), "it may still be at work");
    // The lease's duration, a list of each survivor, and the deletion in between.
    sleep(8 * SECOND).await;
    check_one_owner_each(&[&a, &c]);
    let since = log.since(crash);
    let taken_over: BTreeSet<String> = since.keys().cloned().collect();
    assert_eq!(taken_over, lost, "these were queued, and no others");
    assert_eq!(leases(&env).await, ["maps-a", "maps-c"]);
    a.stop().await;
    c.stop().await;
    log.check();
    env.stop().await;
}

#[tokio::test(start_paused = true)]
async fn hand_over_waits_only_for_keys_in_processing() {
    let env = server().await;
    let log = Log::default();
    let [a, b, c] = ["a", "b", "c"].map(|identity| Replica::start(env.client(), identity, &log));
    sleep(10 * SECOND).await;
    // Every key's next reconcile takes a minute, and there are four workers in each replica.
    (0..OBJECTS).for_each(|number| log.set_effort(&name(number), 60 * SECOND));
    touch(&env).await;
    sleep(SECOND).await;
    let busy: BTreeSet<String> = log.0.lock().unwrap().in_work.keys().cloned().collect();
    assert_eq!(busy.len(), 12);
    (0..OBJECTS).for_each(|number| log.set_effort(&name(number), SECOND / 10));
    let joined = Instant::now();
    let d = Replica::start(env.client(), "d", &log);
    sleep(10 * SECOND).await;
    let begun: BTreeSet<String> = log.since(joined).into_keys().collect();
    assert!(!begun.is_empty(), "it works on keys that nobody had in work");
    assert!(begun.is_disjoint(&busy));
    let state = d.shard.state();
    let waits: usize = [&a, &b, &c].iter().map(|replica| replica.shard.state().finishing).sum();
    assert_eq!((state.phase, state.blocked), (SharePhase::Working, waits));
    assert!(waits > 0, "some of the keys in work are for the fourth");
    sleep(60 * SECOND).await;
    check_one_owner_each(&[&a, &b, &c, &d]);
    assert_eq!(d.shard.state().blocked, 0);
    let since = log.since(joined);
    assert!(d.owned().iter().all(|key| since[key].contains("d")), "what it waited for was queued");
    for replica in [a, b, c, d] {
        replica.stop().await;
    }
    log.check();
    env.stop().await;
}

#[tokio::test(start_paused = true)]
async fn leaving_replica_is_replaced_at_once() {
    let env = server().await;
    let log = Log::default();
    let [a, b] = ["a", "b"].map(|identity| Replica::start(env.client(), identity, &log));
    sleep(10 * SECOND).await;
    let left = b.owned();
    b.stop().await;
    let leave = Instant::now();
    sleep(3 * SECOND).await;
    check_one_owner_each(&[&a]);
    assert_eq!(log.since(leave).into_keys().collect::<BTreeSet<_>>(), left);
    a.stop().await;
    log.check();
    env.stop().await;
}

#[tokio::test(start_paused = true)]
async fn disconnected_replica_stops_and_joins_again() {
    let env = server().await;
    let log = Log::default();
    let switch = Switch::default();
    switch.connect(env.client());
    let a = Replica::start(switch.client(None), "a", &log);
    let b = Replica::start(env.client(), "b", &log);
    sleep(10 * SECOND).await;
    let long: String = a.owned().into_iter().next().unwrap();
    log.set_effort(&long, 3600 * SECOND);
    touch(&env).await;
    sleep(SECOND).await;
    assert_eq!(log.0.lock().unwrap().in_work.get(&long).map(String::as_str), Some("a"));
    log.set_effort(&long, SECOND / 10);
    switch.disconnect();
    sleep(11 * SECOND).await;
    assert_eq!(log.0.lock().unwrap().cut_off, [long.as_str()], "it stops by its own clock");
    assert_eq!((a.owned().len(), a.shard.state().lost), (0, 1));
    assert!(a.shard.state().last_error.is_some());
    sleep(12 * SECOND).await;
    check_one_owner_each(&[&b]);
    switch.connect(env.client());
    sleep(10 * SECOND).await;
    check_one_owner_each(&[&a, &b]);
    assert!(a.shard.owns(&long));
    assert_eq!(a.shard.state().last_error, None);
    a.stop().await;
    b.stop().await;
    log.check();
    env.stop().await;
}

/// A killed process restarts under its name: no other replica can know whether the former process still runs.
#[tokio::test(start_paused = true)]
async fn restarted_replica_waits_for_its_former_lease() {
    let env = server().await;
    let log = Log::default();
    let first = Replica::start(env.client(), "a", &log);
    sleep(5 * SECOND).await;
    first.run.abort();
    let second = Replica::start(env.client(), "a", &log);
    sleep(12 * SECOND).await;
    assert_eq!(second.shard.state().phase, SharePhase::Joining);
    sleep(8 * SECOND).await;
    assert_eq!(second.owned().len(), OBJECTS);
    second.stop().await;
    log.check();
    env.stop().await;
}

#[tokio::test(start_paused = true)]
async fn with_leader_election_some_controllers_see_all_keys() {
    let env = server().await;
    let (shared, led) = (Log::default(), Log::default());
    let run = |identity: &'static str| {
        let elector = LeaderElector::builder(env.client(), "default", "leader", identity).build().unwrap();
        let sharding = sharding(env.client(), identity);
        let mut manager = Manager::builder(env.client())
            .factory(factory(env.client()))
            .sharding(sharding)
            .leader_election(elector)
            .build();
        let maps = manager.factory().informer_for::<ConfigMap>();
        let of =
            |name: &str, log| ControllerBuilder::new(name).for_(&maps).complete(reconciler(identity, log));
        manager.add(of("shared", &shared).unwrap());
        manager.add_on_leader(of("led", &led).unwrap());
        let stop = CancellationToken::new();
        (stop.clone(), tokio::spawn(manager.run(stop.cancelled_owned())))
    };
    let start = Instant::now();
    let replicas = ["a", "b"].map(run);
    sleep(20 * SECOND).await;
    let workers = |log: &Log| log.since(start).into_values().flatten().collect::<BTreeSet<_>>().len();
    assert_eq!((workers(&shared), workers(&led)), (2, 1));
    assert_eq!(led.since(start).len(), OBJECTS);
    for (stop, run) in replicas {
        stop.cancel();
        run.await.unwrap().unwrap();
    }
    shared.check();
    led.check();
    env.stop().await;
}

#[tokio::test(start_paused = true)]
async fn leaders_work_needs_an_elector() {
    let (client, _) = client(|_: &Asked| failure(500, "Unexpected"));
    let mut manager = Manager::builder(client.clone()).sharding(sharding(client, "a")).build();
    manager.add_runnable("migrate", |_| async { Ok::<_, std::io::Error>(()) });
    let error = manager.run(std::future::pending()).await.unwrap_err();
    assert!(matches!(&error, ManagerError::NoLeader { name } if name == "migrate"), "{error}");
}

#[tokio::test(start_paused = true)]
async fn join_timeout_is_an_error() {
    let (client, _) = client(|_: &Asked| failure(403, "Forbidden"));
    let sharding =
        Sharding::builder(client, "default", "maps", "a").join_timeout(30 * SECOND).build().unwrap();
    let error = sharding.run(CancellationToken::new()).await.unwrap_err();
    let ShardingError::NotJoined { lease, last_error, .. } = &error else { panic!("{error}") };
    assert_eq!(lease, "default/maps-a");
    assert!(last_error.as_ref().unwrap().contains("Forbidden"), "{error}");
}

#[tokio::test(start_paused = true)]
async fn settings_are_checked() {
    let (client, _) = client(|_: &Asked| failure(500, "Unexpected"));
    let build = |group: &str, identity: &str| {
        Sharding::builder(client.clone(), "default", group, identity).build().map(|_| ())
    };
    assert_eq!(build("maps", "pod-7f9c"), Ok(()));
    for (group, identity) in [("Maps", "a"), ("maps", "A"), ("maps", ""), ("", "a"), ("maps", "a_b")] {
        let error = build(group, identity).unwrap_err();
        assert!(matches!(error, ShardingBuildError::Name { .. }), "{error}");
    }
    let times = ElectionTimes { renew_deadline: 15 * SECOND, ..ElectionTimes::default() };
    let built = Sharding::builder(client, "default", "maps", "a").times(times).build();
    assert!(matches!(built.map(|_| ()), Err(ShardingBuildError::Times(_))));
}

#[tokio::test(start_paused = true)]
async fn custom_keys_are_assigned_by_their_text() {
    let env = server().await;
    let registry = Registry::new();
    let sharding =
        Sharding::builder(env.client(), "default", "numbers", "a").metrics(&registry).build().unwrap();
    let shard = sharding.shard();
    let seen: Arc<Mutex<Vec<u32>>> = Arc::default();
    let controller = |seen: &Arc<Mutex<Vec<u32>>>| {
        let (queue, seen) = (Queue::new("numbers"), seen.clone());
        let reconciler = reconcile_fn(move |key: u32| {
            seen.lock().unwrap().push(key);
            async { Ok(Action::done()) }
        });
        Controller::new("numbers", queue, reconciler).sharded(&shard)
    };
    let error = controller(&seen).run(CancellationToken::new()).await.unwrap_err();
    assert!(matches!(error, ControllerError::NotShardable { .. }), "{error}");
    let by_hand = controller(&seen).shard_by(u32::to_string).keys_from(|queue| (0..3).for_each(queue));
    by_hand.queue().add(17);
    let stop = CancellationToken::new();
    let worked = tokio::spawn(by_hand.run(stop.clone()));
    let shared = tokio::spawn(sharding.run(stop.clone()));
    sleep(5 * SECOND).await;
    let mut keys = std::mem::take(&mut *seen.lock().unwrap());
    keys.sort_unstable();
    assert_eq!(keys, [0, 1, 2, 17], "what was queued before, and what is there");
    let text = registry.encode();
    for line in [
        "sharding_members{group=\"numbers\"} 1.0",
        "sharding_working{group=\"numbers\"} 1.0",
        "sharding_owned_ratio{group=\"numbers\"} 1.0",
        "sharding_handovers_total{group=\"numbers\"} 1",
        "sharding_lost_total{group=\"numbers\"} 0",
        "sharding_finishing_keys{group=\"numbers\"} 0.0",
        "sharding_blocked_keys{group=\"numbers\"} 0.0",
    ] {
        assert!(text.lines().any(|other| other == line), "no {line} in\n{text}");
    }
    stop.cancel();
    worked.await.unwrap().unwrap();
    shared.await.unwrap().unwrap();
    env.stop().await;
}
