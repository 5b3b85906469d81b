//! Watches that are added to a running controller, and removed from it. Time is paused.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use kube::api::{Api, ObjectMeta, Patch, PatchParams, PostParams};
use kubesmith_runtime::cache::ObjectKey;
use kubesmith_runtime::controller::{
    Action, CancellationToken, Controller, ControllerBuilder, Predicate, Reconciler, Watch, reconcile_fn,
};
use kubesmith_runtime::informer::{InformerOptions, SharedInformer};
use kubesmith_runtime::sharding::Sharding;
use kubesmith_testenv::TestEnv;
use serde_json::json;
use tokio::time::sleep;

const SECOND: Duration = Duration::from_secs(1);

/// The keys that a controller has reconciled.
#[derive(Clone, Default)]
struct Seen(Arc<Mutex<BTreeSet<String>>>);

impl Seen {
    fn reconciler(&self) -> impl Reconciler<Key = ObjectKey> + use<> {
        let seen = self.clone();
        reconcile_fn(move |key: ObjectKey| {
            seen.0.lock().unwrap().insert(key.to_string());
            async { Ok(Action::done()) }
        })
    }

    /// Returns the keys of the next second.
    async fn next(&self) -> Vec<String> {
        sleep(SECOND).await;
        std::mem::take(&mut *self.0.lock().unwrap()).into_iter().collect()
    }
}

fn informers(env: &TestEnv) -> (SharedInformer<ConfigMap>, SharedInformer<Secret>) {
    let maps = SharedInformer::new(env.client(), InformerOptions::new().namespace("default"));
    let secrets = SharedInformer::new(env.client(), InformerOptions::new().namespace("default"));
    (maps, secrets)
}

fn controller(maps: &SharedInformer<ConfigMap>, seen: &Seen) -> Controller<impl Reconciler<Key = ObjectKey>> {
    ControllerBuilder::new("maps").for_(maps).complete(seen.reconciler()).unwrap()
}

async fn create(env: &TestEnv, name: &str) {
    let metadata = ObjectMeta { name: Some(name.to_owned()), ..ObjectMeta::default() };
    let secret = Secret { metadata, ..Secret::default() };
    let api: Api<Secret> = Api::namespaced(env.client(), "default");
    api.create(&PostParams::default(), &secret).await.unwrap();
}

async fn touch(env: &TestEnv, name: &str, label: &str) {
    let api: Api<Secret> = Api::namespaced(env.client(), "default");
    let patch = Patch::Merge(json!({"metadata": {"labels": {"label": label}}}));
    api.patch(name, &PatchParams::default(), &patch).await.unwrap();
}

/// A map of the secret's name.
fn map_of(secret: &Secret) -> Option<ObjectKey> {
    Some(ObjectKey::namespaced("default", secret.metadata.name.as_deref()?))
}

#[tokio::test(start_paused = true)]
async fn watch_is_added_to_a_running_controller_and_removed() {
    let env = TestEnv::builder().start().await.unwrap();
    let (maps, secrets) = informers(&env);
    let seen = Seen::default();
    let controller = controller(&maps, &seen);
    let (watches, stop) = (controller.watches(), CancellationToken::new());
    maps.start();
    let run = tokio::spawn(controller.run(stop.clone()));
    create(&env, "a").await;
    assert_eq!(seen.next().await, Vec::<String>::new());

    secrets.start();
    let only_b =
        Predicate::new().on_update(|_, secret: &Secret| secret.metadata.name.as_deref() == Some("b"));
    let added = watches.add(Watch::on(&secrets).filter(only_b), map_of).unwrap();
    assert_eq!(seen.next().await, ["default/a"], "it was there");
    create(&env, "b").await;
    touch(&env, "a", "1").await;
    assert_eq!(seen.next().await, ["default/b"]);
    touch(&env, "b", "1").await;
    assert_eq!(seen.next().await, ["default/b"]);

    added.remove();
    touch(&env, "b", "2").await;
    assert_eq!(seen.next().await, Vec::<String>::new());
    let again = watches.add(&secrets, map_of).unwrap();
    assert_eq!(seen.next().await, ["default/a", "default/b"]);
    // The handle is not needed.
    drop(again);
    touch(&env, "a", "2").await;
    assert_eq!(seen.next().await, ["default/a"]);

    stop.cancel();
    run.await.unwrap().unwrap();
    secrets.shutdown().await;
    assert!(watches.add(&secrets, map_of).is_err());
    maps.shutdown().await;
    env.stop().await;
}

/// Keys that a replica gains when another one leaves are looked up in added watches too, until these are removed.
#[tokio::test(start_paused = true)]
async fn gained_keys_of_an_added_watch_are_queued() {
    let env = TestEnv::builder().start().await.unwrap();
    for number in 0..10 {
        create(&env, &format!("m{number}")).await;
    }
    let (maps, secrets) = informers(&env);
    maps.start();
    secrets.start();
    let seen = Seen::default();
    let start = |identity: &str| {
        let sharding = Sharding::builder(env.client(), "default", "maps", identity).build().unwrap();
        let (shard, stop) = (sharding.shard(), CancellationToken::new());
        tokio::spawn(sharding.run(stop.clone()));
        (shard, stop)
    };
    let (shard, stop) = start("a");
    let (_, leave) = start("b");
    sleep(20 * SECOND).await;
    let controller = controller(&maps, &seen).sharded(&shard);
    let watches = controller.watches();
    let run = tokio::spawn(controller.run(stop.clone()));
    let added = watches.add(&secrets, map_of).unwrap();
    let own = seen.next().await;
    assert!(!own.is_empty() && own.len() < 10, "{own:?}");
    leave.cancel();
    sleep(10 * SECOND).await;
    assert_eq!(own.len() + seen.next().await.len(), 10);

    let (_, leave) = start("c");
    sleep(20 * SECOND).await;
    added.remove();
    leave.cancel();
    sleep(10 * SECOND).await;
    assert_eq!(seen.next().await, Vec::<String>::new(), "it was removed");
    stop.cancel();
    run.await.unwrap().unwrap();
    env.stop().await;
}
