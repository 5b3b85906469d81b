//! Informers behind a proxy that breaks requests by a seed.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use k8s_openapi::api::core::v1::ConfigMap;
use kube::api::{Api, DeleteParams, ListParams, ObjectMeta, PostParams};
use kubesmith_runtime::informer::{Deleted, InformerOptions, ResourceEventHandler, SharedInformer};
use kubesmith_runtime::reflector::ReflectorOptions;
use kubesmith_testenv::TestEnv;
use kubesmith_testenv::fault::{Random, Schedule};

/// How many schedules are tried.
const SEEDS: u64 = 300;

/// Name and version of every object.
type Versions = BTreeMap<String, String>;

fn versions<'a>(maps: impl IntoIterator<Item = &'a ConfigMap>) -> Versions {
    let version = |map: &ConfigMap| (map.metadata.name.clone(), map.metadata.resource_version.clone());
    maps.into_iter().map(version).map(|(name, version)| (name.unwrap(), version.unwrap())).collect()
}

/// Builds the state from what a handler is told, and checks that nothing is told twice or backwards.
#[derive(Clone, Default)]
struct Follower(Arc<Mutex<Versions>>);

fn number(map: &ConfigMap) -> u64 {
    map.metadata.resource_version.as_ref().unwrap().parse().unwrap()
}

impl ResourceEventHandler<ConfigMap> for Follower {
    fn on_add(&self, map: Arc<ConfigMap>, _: bool) {
        let old = self.0.lock().unwrap().insert(map.metadata.name.clone().unwrap(), number(&map).to_string());
        assert_eq!(old, None, "added twice");
    }

    fn on_update(&self, old: Arc<ConfigMap>, new: Arc<ConfigMap>) {
        assert!(number(&old) < number(&new), "an update goes back in time");
        let before =
            self.0.lock().unwrap().insert(new.metadata.name.clone().unwrap(), number(&new).to_string());
        assert_eq!(before, Some(number(&old).to_string()), "an update of something else");
    }

    fn on_delete(&self, deleted: Deleted<ConfigMap>) {
        let before = self.0.lock().unwrap().remove(deleted.object().metadata.name.as_ref().unwrap());
        assert!(before.is_some(), "deleted without having been there");
    }
}

/// Writes for a while: creates, updates and deletes, and sometimes forgets the history.
async fn write(env: &TestEnv, seed: u64) {
    let api: Api<ConfigMap> = Api::namespaced(env.client(), "default");
    for step in 0..20 {
        tokio::time::sleep(Duration::from_secs((seed + step * 7) % 11)).await;
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

/// Runs one schedule; the informer has to show what is there in the end.
async fn converges(seed: u64) {
    let env = TestEnv::builder().seed(seed).start().await.unwrap();
    let random = Random::seeded(seed).probability(0.5).calm_after(15);
    let proxy = env.fault_proxy(Schedule::new().random(random)).await.unwrap();
    let reflector = ReflectorOptions::new().seed(seed);
    let informer = SharedInformer::<ConfigMap>::new(
        proxy.client(),
        InformerOptions::new().namespace("default").reflector(reflector),
    );
    let follower = Follower::default();
    let registration = informer.add_event_handler(follower.clone()).unwrap();
    informer.start();
    write(&env, seed).await;

    let api: Api<ConfigMap> = Api::namespaced(env.client(), "default");
    let expected = versions(&api.list(&ListParams::default()).await.unwrap().items);
    let shown = || versions(informer.store().list().iter().map(AsRef::as_ref));
    let agreed = async {
        while !informer.has_synced() || shown() != expected || *follower.0.lock().unwrap() != expected {
            tokio::time::sleep(Duration::from_secs(1)).await;
        }
    };
    // Longer than all watches that are left waiting for their deadline.
    let agreed = tokio::time::timeout(Duration::from_secs(4 * 3600), agreed).await;
    let followed = follower.0.lock().unwrap().clone();
    assert!(
        agreed.is_ok(),
        "{}\nthere is {expected:?}, shown is {:?}, told was {followed:?}",
        proxy.report(),
        shown()
    );
    assert_eq!(registration.panics(), 0, "{}", proxy.report());
    informer.shutdown().await;
    proxy.stop().await;
    env.stop().await;
}

#[tokio::test(start_paused = true)]
async fn informers_come_to_the_servers_state_through_any_faults() {
    for seed in 0..SEEDS {
        converges(seed).await;
    }
}
