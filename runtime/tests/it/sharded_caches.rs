//! Replicas whose caches contain one shard each, on the embedded server with and without the feature
//! `ShardedListAndWatch`, and under faults. Time is paused.

mod owned;
mod recreated;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use http::Request;
use http_body_util::BodyExt;
use k8s_openapi::api::core::v1::{ConfigMap, Namespace, Secret};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::OwnerReference;
use kube::api::{Api, DeleteParams, ListParams, ObjectMeta, PostParams};
use kube::client::Body;
use kubesmith_runtime::cache::ObjectKey;
use kubesmith_runtime::controller::{
    Action, BuildError, CancellationToken, ControllerBuilder, ControllerError, FinalizerEvent, Predicate,
    Watch, finalizer_fn, reconcile_fn,
};
use kubesmith_runtime::informer::{
    CacheShard, Cached, CachedClient, InformerOptions, SharedInformer, SharedInformerFactory,
};
use kubesmith_runtime::metrics::Registry;
use kubesmith_runtime::sharding::{ShardKey, ShardSelector, Sharding};
use kubesmith_testenv::TestEnv;
use kubesmith_testenv::fault::{Fault, FaultProxy, Rule, Schedule, Verb};
use serde_json::json;
use tokio::task::JoinHandle;
use tokio::time::sleep;

use crate::scripted;
use crate::sharding::{Log, reconciler};

const SECOND: Duration = Duration::from_secs(1);
/// Longer than the deadline of all watches.
const PATIENCE: Duration = Duration::from_secs(4 * 3600);
const REPLICAS: u32 = 5;

async fn server(is_sharded: bool) -> TestEnv {
    let gates = format!("ShardedListAndWatch={is_sharded}").parse().unwrap();
    // The seed determines the UIDs, and therefore the sizes of the shards.
    TestEnv::builder().seed(1).feature_gates(gates).start().await.unwrap()
}

fn shard(index: u32) -> ShardSelector {
    ShardSelector::nth(ShardKey::Uid, index, REPLICAS).unwrap()
}

/// Returns a UID in the first shard, or in another one.
fn uid(is_first: bool) -> String {
    let mut uids = (0..).map(|number| format!("uid-{number}"));
    uids.find(|uid| shard(0).matches(uid, "default") == is_first).unwrap()
}

fn of_shards<K: Cached>(shards: Option<ShardSelector>) -> InformerOptions<K> {
    shards.map_or_else(InformerOptions::new, |shards| InformerOptions::new().shard_selector(shards))
}

fn map(name: &str) -> ConfigMap {
    let metadata = ObjectMeta { name: Some(name.to_owned()), ..ObjectMeta::default() };
    let data = Some(BTreeMap::from([("text".to_owned(), "x".repeat(1000))]));
    ConfigMap { metadata, data, ..ConfigMap::default() }
}

async fn create(env: &TestEnv, names: impl IntoIterator<Item = String>) {
    let api: Api<ConfigMap> = Api::namespaced(env.client(), "default");
    for name in names {
        api.create(&PostParams::default(), &map(&name)).await.unwrap();
    }
}

async fn touch(env: &TestEnv) {
    let api: Api<ConfigMap> = Api::namespaced(env.client(), "default");
    for mut map in api.list(&ListParams::default()).await.unwrap() {
        map.metadata.labels.get_or_insert_default().insert("touched".to_owned(), "yes".to_owned());
        let name = map.metadata.name.clone().unwrap();
        api.replace(&name, &PostParams::default(), &map).await.unwrap();
    }
}

/// The keys of all objects, by shard.
async fn keys(env: &TestEnv) -> Vec<BTreeSet<String>> {
    let mut keys = vec![BTreeSet::new(); REPLICAS as usize];
    let api: Api<ConfigMap> = Api::namespaced(env.client(), "default");
    for map in api.list(&ListParams::default()).await.unwrap() {
        let uid = map.metadata.uid.as_deref().unwrap();
        let index = (0..REPLICAS).find(|index| shard(*index).matches(uid, "default")).unwrap();
        keys[index as usize].insert(format!("default/{}", map.metadata.name.unwrap()));
    }
    keys
}

/// Returns a client that counts the bytes of responses. With `forgets`, some requests lose their shard selector: they
/// reach a server of the control plane that does not have the feature yet.
fn counted(client: kube::Client, forgets: bool) -> (kube::Client, Arc<AtomicU64>) {
    let bytes = Arc::new(AtomicU64::new(0));
    let (counter, requests) = (bytes.clone(), Arc::new(AtomicU64::new(0)));
    let service = tower::service_fn(move |mut request: Request<Body>| {
        let (client, counter) = (client.clone(), counter.clone());
        let number = requests.fetch_add(1, Ordering::Relaxed);
        if forgets && number.is_multiple_of(2) {
            let text = request.uri().to_string().replace("shardSelector=", "unknown=");
            *request.uri_mut() = text.parse().unwrap();
        }
        async move {
            let response = client.send(request).await?;
            Ok::<_, kube::Error>(response.map(|body| {
                body.map_frame(move |frame| {
                    let length = frame.data_ref().map_or(0, bytes::Bytes::len);
                    counter.fetch_add(length as u64, Ordering::Relaxed);
                    frame
                })
            }))
        }
    });
    (kube::Client::new(service, "default"), bytes)
}

/// A replica with the informer of its shard, and a controller over it.
struct Replica {
    maps: SharedInformer<ConfigMap>,
    bytes: Arc<AtomicU64>,
    stop: CancellationToken,
    run: JoinHandle<Result<(), ControllerError>>,
}

impl Replica {
    fn start((client, bytes): (kube::Client, Arc<AtomicU64>), index: Option<u32>, log: &Log) -> Self {
        let name = index.map_or_else(|| "all".to_owned(), |index| index.to_string());
        let mut options = InformerOptions::new().namespace("default").seed(index.unwrap_or(99).into());
        if let Some(index) = index {
            options = options.shard_selector(shard(index));
        }
        let maps = SharedInformer::<ConfigMap>::new(client, options);
        let controller = ControllerBuilder::new("maps")
            .for_(&maps)
            .workers(4)
            .cache_sync_timeout(PATIENCE)
            .complete(reconciler(&name, log))
            .unwrap();
        maps.start();
        let stop = CancellationToken::new();
        Replica { maps, bytes, run: tokio::spawn(controller.run(stop.clone())), stop }
    }

    fn cached(&self) -> BTreeSet<String> {
        self.maps.store().list().iter().map(|map| ObjectKey::of(&**map).to_string()).collect()
    }

    fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }

    async fn stop(self) {
        self.stop.cancel();
        self.run.await.unwrap().unwrap();
        self.maps.shutdown().await;
    }
}

/// Checks that each key was only ever worked on by the replica of its shard, and by no two at once.
fn check_owners(log: &Log, keys: &[BTreeSet<String>]) {
    log.check();
    let begun = log.since(tokio::time::Instant::now() - 2 * PATIENCE);
    for (index, keys) in keys.iter().enumerate() {
        let owner = BTreeSet::from([index.to_string()]);
        for key in keys {
            assert_eq!(begun.get(key), Some(&owner), "{key}");
        }
    }
}

/// Every replica lists twice: requests are lost and refused, and a watch expires.
#[tokio::test(start_paused = true)]
async fn five_replicas_receive_a_fifth_each_and_share_no_key_under_faults() {
    let env = server(true).await;
    create(&env, (0..500).map(|number| format!("m{number}"))).await;
    let (log, of_all) = (Log::default(), Log::default());
    let mut proxies = Vec::new();
    for _ in 0..=REPLICAS {
        let watch = |fault, nth| Rule::new(fault).verb(Verb::Watch).nth(nth);
        let schedule = Schedule::new()
            .rule(watch(Fault::DropAnswer, 1))
            .rule(watch(Fault::Status(503), 2))
            .rule(Rule::new(Fault::TooManyRequests(3)).verb(Verb::List).nth(1))
            .rule(watch(Fault::EndWatch(0), 3))
            .rule(watch(Fault::ExpireWatch(0), 4));
        proxies.push(env.fault_proxy(schedule).await.unwrap());
    }
    let client = |number: u32| counted(proxies[number as usize].client(), false);
    let all = Replica::start(client(REPLICAS), None, &of_all);
    let replicas: Vec<Replica> =
        (0..REPLICAS).map(|index| Replica::start(client(index), Some(index), &log)).collect();
    sleep(300 * SECOND).await;
    touch(&env).await;
    create(&env, (500..600).map(|number| format!("m{number}"))).await;
    sleep(300 * SECOND).await;
    for proxy in &proxies {
        assert_eq!(proxy.injections().len(), 5, "{}", proxy.report());
    }
    let keys = keys(&env).await;
    for (replica, keys) in replicas.iter().zip(&keys) {
        assert_eq!(&replica.cached(), keys);
        // Refusals count as responses, and not as lists or watches.
        let received = replica.maps.state().received_bytes;
        assert!(received > 0 && received <= replica.bytes(), "{received} of {}", replica.bytes());
        let share = replica.bytes() as f64 / all.bytes() as f64;
        assert!(share <= 1.25 / f64::from(REPLICAS), "a replica received {share} of all bytes");
    }
    check_owners(&log, &keys);
    for replica in replicas.into_iter().chain([all]) {
        replica.stop().await;
    }
    for proxy in proxies {
        proxy.stop().await;
    }
    env.stop().await;
}

/// Servers with the feature, without it, and both behind one address. Objects are created, changed and deleted while
/// requests fail.
#[tokio::test(start_paused = true)]
async fn replicas_share_no_key_on_servers_with_and_without_the_feature() {
    for seed in 0..12 {
        let (is_sharded, forgets) = [(true, false), (false, false), (true, true)][seed as usize % 3];
        let env = server(is_sharded).await;
        create(&env, (0..40).map(|number| format!("m{number}"))).await;
        let log = Log::default();
        let mut proxies: Vec<FaultProxy> = Vec::new();
        for index in 0..u64::from(REPLICAS) {
            proxies.push(env.fault_proxy(Schedule::seeded(seed * 100 + index)).await.unwrap());
        }
        let replicas: Vec<Replica> = (0..REPLICAS)
            .map(|index| {
                let client = proxies[index as usize].client();
                Replica::start(counted(client, forgets), Some(index), &log)
            })
            .collect();
        let api: Api<ConfigMap> = Api::namespaced(env.client(), "default");
        for round in 0..10 {
            sleep(60 * SECOND).await;
            create(&env, [format!("late-{round}")]).await;
            api.delete(&format!("m{round}"), &DeleteParams::default()).await.unwrap();
            touch(&env).await;
        }
        proxies.iter().for_each(|proxy| proxy.set_schedule(Schedule::new()));
        sleep(PATIENCE).await;
        let keys = keys(&env).await;
        for (replica, keys) in replicas.iter().zip(&keys) {
            assert_eq!(&replica.cached(), keys, "seed {seed}");
        }
        check_owners(&log, &keys);
        for replica in replicas {
            replica.stop().await;
        }
        for proxy in proxies {
            proxy.stop().await;
        }
        env.stop().await;
    }
}

/// The gauge follows the server: 0 while it sends objects of other shards, and 1 again after a list without them.
#[tokio::test(start_paused = true)]
async fn metrics_show_whether_the_server_filters() {
    let (ours, foreign) = (uid(true), uid(false));
    let lists = AtomicU64::new(0);
    let (client, _) = scripted::client(move |asked| {
        if asked.uri.contains("watch=true") {
            return scripted::failure(410, "Expired");
        }
        let item =
            |name: &str, uid: &str| json!({"metadata": {"name": name, "namespace": "default", "uid": uid}});
        let mut items = vec![item("ours", &ours), item("foreign", &foreign)];
        // The second server has the feature.
        items.truncate(if lists.fetch_add(1, Ordering::Relaxed) == 0 { 2 } else { 1 });
        (
            200,
            json!({"kind": "ConfigMapList", "apiVersion": "v1", "metadata": {"resourceVersion": "1"}, "items": items}),
        )
    });
    let registry = Registry::new();
    let start = |shards| {
        let maps = SharedInformer::<ConfigMap>::new(client.clone(), of_shards(shards).paged_lists());
        maps.register_metrics(&registry, "");
        maps
    };
    let maps = start(Some(shard(0)));
    assert!(!registry.encode().contains("informer_shard_server_filters{"), "not known yet");
    maps.start();
    maps.wait_for_sync(SECOND).await.unwrap();
    let state = || maps.state().shard.unwrap();
    assert_eq!(state(), CacheShard { selector: shard(0), filters_here: true, dropped: 1 });
    let labels = "name=\"\",group=\"\",version=\"v1\",resource=\"configmaps\"";
    let check = |lines: [&str; 3]| {
        let text = registry.encode();
        for line in lines {
            assert!(
                text.contains(&format!("informer_{}\n", line.replace("LABELS", labels))),
                "{line}\n{text}"
            );
        }
    };
    let selector = shard(0).to_string();
    let info = format!("shard_info{{LABELS,selector=\"{selector}\"}} 1.0");
    check([&info, "shard_server_filters{LABELS} 0.0", "shard_dropped_total{LABELS} 1"]);
    sleep(60 * SECOND).await;
    check([&info, "shard_server_filters{LABELS} 1.0", "shard_dropped_total{LABELS} 1"]);
    maps.shutdown().await;
    drop(maps);

    let all = start(None);
    let text = registry.encode();
    assert!(
        text.contains("informer_received_bytes_total{") && !text.contains("informer_shard_info{"),
        "{text}"
    );
    all.shutdown().await;
}

#[tokio::test(start_paused = true)]
async fn controller_with_a_sharded_cache_shares_no_keys_by_leases() {
    let env = server(true).await;
    let maps =
        SharedInformer::<ConfigMap>::new(env.client(), InformerOptions::new().shard_selector(shard(0)));
    let sharding = Sharding::builder(env.client(), "default", "maps", "a").build().unwrap();
    let reconciler = reconcile_fn(|_: ObjectKey| async { Ok(Action::done()) });
    let controller = ControllerBuilder::new("maps").for_(&maps).complete(reconciler).unwrap();
    let error = controller.sharded(&sharding.shard()).run(CancellationToken::new()).await.unwrap_err();
    assert!(matches!(error, ControllerError::ShardedTwice { .. }), "{error}");
    env.stop().await;
}

#[tokio::test(start_paused = true)]
async fn reads_do_not_wait_for_writes_of_other_shards() {
    let env = server(true).await;
    let options = || InformerOptions::new().namespace("default").shard_selector(shard(2));
    let maps = SharedInformer::<ConfigMap>::new(env.client(), options());
    maps.start();
    maps.wait_for_sync(SECOND).await.unwrap();
    let client: CachedClient<ConfigMap> = CachedClient::new(env.client(), &maps);
    let mut ours = 0;
    for number in 0..20 {
        let mut map = map(&format!("m{number}"));
        map.metadata.namespace = Some("default".to_owned());
        let map = client.create(&map, &PostParams::default()).await.unwrap();
        let is_ours = shard(2).matches(map.metadata.uid.as_deref().unwrap(), "default");
        ours += usize::from(is_ours);
        let key = ObjectKey::of(&map);
        // A bookmark would arrive only after up to a minute.
        maps.wait_for_write(&map, SECOND).await.unwrap();
        assert_eq!(client.get(&key).await.unwrap().is_some(), is_ours, "{key}");
        if number % 2 == 0 {
            client.delete(&key, &DeleteParams::default()).await.unwrap();
            assert!(client.get(&key).await.unwrap().is_none());
        }
    }
    assert!(ours > 0 && ours < 20);
    for _ in 0..20 {
        let mut map = map("again");
        map.metadata.namespace = Some("default".to_owned());
        let map = client.create(&map, &PostParams::default()).await.unwrap();
        maps.wait_for_write(&map, SECOND).await.unwrap();
        let is_ours = shard(2).matches(map.metadata.uid.as_deref().unwrap(), "default");
        let cached = maps.store().get_by_key(&ObjectKey::of(&map)).and_then(|map| map.metadata.uid.clone());
        assert_eq!(cached, map.metadata.uid.clone().filter(|_| is_ours), "no earlier object of the name");
        client.delete(&ObjectKey::of(&map), &DeleteParams::default()).await.unwrap();
    }
    maps.shutdown().await;
    env.stop().await;
}

#[tokio::test(start_paused = true)]
async fn undecodable_objects_of_other_shards_are_not_reported() {
    let (ours, foreign) = (uid(true), uid(false));
    let (client, _) = scripted::client(move |asked| {
        if asked.uri.contains("watch=true") {
            return scripted::failure(503, "ServiceUnavailable");
        }
        let item = |name: &str, uid: &str| json!({"metadata": {"name": name, "namespace": "default", "uid": uid}, "data": {"a": 1}});
        let items = [item("ours", &ours), item("foreign", &foreign)];
        (
            200,
            json!({"kind": "ConfigMapList", "apiVersion": "v1", "metadata": {"resourceVersion": "1"}, "items": items}),
        )
    });
    let options = InformerOptions::new().paged_lists().shard_selector(shard(0));
    let maps = SharedInformer::<ConfigMap>::new(client, options);
    maps.start();
    maps.wait_for_sync(SECOND).await.unwrap();
    assert_eq!((maps.undecodable_total(), maps.store().undecodable().len()), (1, 1));
    maps.shutdown().await;
}
