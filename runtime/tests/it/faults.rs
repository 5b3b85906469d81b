//! Informers over a transport that breaks by a seed: faults of requests and responses, reordered events of
//! different objects, outages, and servers that return empty.
//!
//! Time is paused, and everything is decided by the seed. `FAULT_SEED=7 cargo test -p kubesmith-runtime faults` runs
//! that schedule alone, and `FAULT_SCHEDULES=1000` runs so many schedules of each test.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use k8s_openapi::api::core::v1::ConfigMap;
use kube::api::{Api, DeleteParams, ListParams, ObjectMeta, PostParams};
use kubesmith_runtime::cache::{Compact, ObjectKey};
use kubesmith_runtime::informer::{
    Cached, Deleted, HandlerRegistration, InformerOptions, ResourceEventHandler, SharedInformer,
};
use kubesmith_testenv::TestEnv;
use kubesmith_testenv::fault::{FaultProxy, Random, Schedule};

use crate::transport::Switch;

/// How many schedules each of the two tests runs by default.
const SCHEDULES: u64 = 200;
/// Longer than the deadline of all watches.
const PATIENCE: Duration = Duration::from_secs(4 * 3600);

/// An object's uid and version.
type Versions = BTreeMap<ObjectKey, (String, u64)>;

fn version<K: Cached>(object: &K) -> (String, u64) {
    (object.object_uid().unwrap().to_owned(), object.object_version().unwrap().parse().unwrap())
}

fn versions<'a, K: Cached>(objects: impl IntoIterator<Item = &'a K>) -> Versions {
    objects.into_iter().map(|object| (object.object_key(), version(object))).collect()
}

/// Builds the state from the events of a handler, and checks that none repeats or goes back.
#[derive(Clone, Default)]
struct Follower(Arc<Mutex<Versions>>);

impl<K: Cached> ResourceEventHandler<K> for Follower {
    fn on_add(&self, object: Arc<K>, _: bool) {
        let known = self.0.lock().unwrap().insert(object.object_key(), version(&*object));
        assert_eq!(known, None, "added twice");
    }

    fn on_update(&self, old: Arc<K>, new: Arc<K>) {
        let (old, new) = (version(&*old), (new.object_key(), version(&*new)));
        // An object that was deleted and created again, perhaps on another server, starts over.
        assert!(old.0 != new.1.0 || old.1 < new.1.1, "an update goes back in time");
        assert_eq!(self.0.lock().unwrap().insert(new.0, new.1), Some(old), "an update of something else");
    }

    fn on_delete(&self, deleted: Deleted<K>) {
        assert!(self.0.lock().unwrap().remove(deleted.key()).is_some(), "deleted without having been there");
    }
}

/// The parameters of a run, drawn from a seed.
#[derive(Clone, Copy, Debug)]
struct Plan {
    seed: u64,
    is_paged: bool,
    has_disorder: bool,
    has_outage: bool,
    comes_back_empty: bool,
}

impl Plan {
    fn of(seed: u64) -> Self {
        let one_in =
            |n: u64, salt: u64| ((seed ^ salt).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40).is_multiple_of(n);
        Self {
            seed,
            is_paged: one_in(3, 1),
            has_disorder: one_in(2, 2),
            has_outage: one_in(2, 3),
            comes_back_empty: one_in(3, 4),
        }
    }

    /// A server and the faults before it. The second server has another seed, so that uids differ.
    async fn server(&self, number: u64) -> (TestEnv, FaultProxy) {
        let seed = self.seed + (number << 32);
        let env = TestEnv::builder().seed(seed).start().await.unwrap();
        let random = Random::seeded(seed).probability(0.5).calm_after(15);
        let proxy = env.fault_proxy(Schedule::new().random(random)).await.unwrap();
        (env, proxy)
    }

    fn informer<K: Cached<DynamicType = ()>>(&self, switch: &Switch) -> SharedInformer<K> {
        let options = InformerOptions::new().namespace("default").seed(self.seed);
        let options = if self.is_paged { options.paged_lists() } else { options };
        let client = switch.client(self.has_disorder.then_some(self.seed));
        SharedInformer::new(client, options)
    }
}

/// Writes for a while: creates, updates and deletes, several at a time, and sometimes forgets the history.
async fn write(env: &TestEnv, seed: u64, steps: std::ops::Range<u64>) {
    let api: Api<ConfigMap> = Api::namespaced(env.client(), "default");
    for step in steps {
        if !(seed ^ step).is_multiple_of(3) {
            tokio::time::sleep(Duration::from_secs((seed + step * 7) % 11)).await;
        }
        let name = format!("m{}", (seed / 3 + step * 5) % 6);
        match api.get_opt(&name).await.unwrap() {
            Some(_) if (seed + step).is_multiple_of(3) => {
                api.delete(&name, &DeleteParams::default()).await.unwrap();
            }
            Some(mut map) => {
                map.data.get_or_insert_default().insert("step".to_owned(), step.to_string());
                api.replace(&name, &PostParams::default(), &map).await.unwrap();
            }
            None => {
                let metadata = ObjectMeta { name: Some(name), ..ObjectMeta::default() };
                let map = ConfigMap { metadata, ..ConfigMap::default() };
                api.create(&PostParams::default(), &map).await.unwrap();
            }
        }
        if (seed + step).is_multiple_of(13) {
            env.compact().unwrap();
        }
    }
}

/// Waits until the informer's cache and its handler have the server's state.
async fn agrees<K: Cached>(
    env: &TestEnv,
    informer: &SharedInformer<K>,
    follower: &Follower,
    registration: &HandlerRegistration,
    what: impl Fn() -> String,
) {
    let api: Api<ConfigMap> = Api::namespaced(env.client(), "default");
    let expected = versions(&api.list(&ListParams::default()).await.unwrap().items);
    let shown = || versions(informer.store().list().iter().map(AsRef::as_ref));
    let agreed = async {
        while !informer.has_synced() || shown() != expected || *follower.0.lock().unwrap() != expected {
            tokio::time::sleep(Duration::from_secs(1)).await;
        }
    };
    let agreed = tokio::time::timeout(PATIENCE, agreed).await;
    let followed = follower.0.lock().unwrap().clone();
    assert!(
        agreed.is_ok(),
        "{}\nthere is {expected:?}, shown is {:?}, told was {followed:?}",
        what(),
        shown()
    );
    assert_eq!(registration.panics(), 0, "{}", what());
}

/// Runs one schedule. At its end, the informer has the server's state.
async fn converges<K: Cached<DynamicType = ()>>(seed: u64) {
    let plan = Plan::of(seed);
    let switch = Switch::default();
    let (mut env, mut proxy) = plan.server(0).await;
    switch.connect(proxy.client());
    let informer = plan.informer::<K>(&switch);
    let follower = Follower::default();
    let registration = informer.add_event_handler(follower.clone()).unwrap();
    informer.start();
    write(&env, seed, 0..10).await;
    if plan.has_outage {
        switch.disconnect();
        write(&env, seed, 10..13).await;
        switch.connect(proxy.client());
    }
    write(&env, seed, 13..20).await;
    if plan.comes_back_empty {
        // The reflector notices versions that go back only if it has seen higher ones.
        let what = || format!("before the end of the first server: {plan:?}\n{}", proxy.report());
        agrees(&env, &informer, &follower, &registration, what).await;
        switch.disconnect();
        proxy.stop().await;
        env.stop().await;
        (env, proxy) = plan.server(1).await;
        switch.connect(proxy.client());
        write(&env, seed + 1, 0..8).await;
    }
    let what = || format!("{plan:?}\n{}", proxy.report());
    agrees(&env, &informer, &follower, &registration, what).await;
    informer.shutdown().await;
    proxy.stop().await;
    env.stop().await;
}

/// The requested schedule, or all from `first` on.
fn seeds(first: u64) -> std::ops::Range<u64> {
    let number = |name| std::env::var(name).ok().map(|text| text.parse().expect("it is a number"));
    match number("FAULT_SEED") {
        Some(seed) => seed..seed + 1,
        None => first..first + number("FAULT_SCHEDULES").unwrap_or(SCHEDULES),
    }
}

#[tokio::test(start_paused = true)]
async fn informers_reach_the_servers_state_through_faults() {
    for seed in seeds(0) {
        converges::<ConfigMap>(seed).await;
    }
}

#[tokio::test(start_paused = true)]
async fn compact_informers_reach_the_servers_state_through_faults() {
    for seed in seeds(100_000) {
        converges::<Compact<ConfigMap>>(seed).await;
    }
}
