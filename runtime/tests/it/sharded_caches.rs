//! Replicas whose caches contain one shard each, on the embedded server with and without the feature
//! `ShardedListAndWatch`, and under faults. Time is paused.

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
/// Longer than all watches that are left waiting for their deadline.
const PATIENCE: Duration = Duration::from_secs(4 * 3600);
const REPLICAS: u32 = 5;

async fn server(is_sharded: bool) -> TestEnv {
    let gates = format!("ShardedListAndWatch={is_sharded}").parse().unwrap();
    // The seed decides the UIDs, and so how even the shards are.
    TestEnv::builder().seed(1).feature_gates(gates).start().await.unwrap()
}

fn shard(index: u32) -> ShardSelector {
    ShardSelector::nth(ShardKey::Uid, index, REPLICAS).unwrap()
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

/// Starts a replica whose reconciler has a finalizer. It logs the events with the object's UID, and its work by name.
fn start_with_finalizer(client: kube::Client, index: u32, log: &Log, events: &Events) -> Replica {
    let options = InformerOptions::new().namespace("default").paged_lists().seed(index.into());
    let maps = SharedInformer::<ConfigMap>::new(client.clone(), options.shard_selector(shard(index)));
    let (log, events) = (log.clone(), events.clone());
    let objects = CachedClient::new(client, &maps).timeout(PATIENCE);
    let reconciler = finalizer_fn(objects, "example.com/disk", move |event| {
        let (log, events) = (log.clone(), events.clone());
        async move {
            let (event, map) = match &event {
                FinalizerEvent::Apply(map) => ("apply", map),
                FinalizerEvent::Cleanup(map) => ("cleanup", map),
            };
            let key = ObjectKey::of(&**map);
            log.work(key.as_str(), &index.to_string()).await;
            events.lock().unwrap().push((event, map.metadata.uid.clone().unwrap()));
            Ok(Action::done())
        }
    });
    let controller =
        ControllerBuilder::new("maps").for_(&maps).cache_sync_timeout(PATIENCE).complete(reconciler).unwrap();
    maps.start();
    let stop = CancellationToken::new();
    Replica { maps, bytes: Arc::default(), run: tokio::spawn(controller.run(stop.clone())), stop }
}

type Events = Arc<Mutex<Vec<(&'static str, String)>>>;

/// Creates an object with this name in the shard, and returns its UID.
async fn create_in(api: &Api<ConfigMap>, name: &str, index: u32) -> String {
    loop {
        let map = api.create(&PostParams::default(), &map(name)).await.unwrap();
        let uid = map.metadata.uid.unwrap();
        if shard(index).matches(&uid, "default") {
            return uid;
        }
        api.delete(name, &DeleteParams::default()).await.unwrap();
    }
}

/// The response to the removal of the finalizer is lost, and the watch is silent: the cache still shows the object.
#[tokio::test(start_paused = true)]
async fn object_is_cleaned_up_once_when_another_shard_has_its_name() {
    let env = server(true).await;
    let api: Api<ConfigMap> = Api::namespaced(env.client(), "default");
    let first = create_in(&api, "m", 0).await;
    let (log, events) = (Log::default(), Events::default());
    let watch = |fault, nth| Rule::new(fault).verb(Verb::Watch).nth(nth);
    let schedule = Schedule::new()
        // The finalizer and the deletion.
        .rule(watch(Fault::EndWatch(2), 1))
        .rule(watch(Fault::SilenceWatch(Some(20 * SECOND)), 2))
        .rule(Rule::new(Fault::DropAnswer).verb(Verb::Patch).nth(2));
    let proxy = env.fault_proxy(schedule).await.unwrap();
    let former = start_with_finalizer(proxy.client(), 0, &log, &events);
    sleep(SECOND).await;
    api.delete("m", &DeleteParams::default()).await.unwrap();
    sleep(SECOND).await;
    assert_eq!(former.maps.store().len(), 1, "{}", proxy.report());
    assert!(api.get_opt("m").await.unwrap().is_none());
    let second = create_in(&api, "m", 1).await;
    let latter = start_with_finalizer(env.client(), 1, &log, &events);
    sleep(60 * SECOND).await;
    assert_eq!(proxy.injections().len(), 3, "{}", proxy.report());
    let applied = events.lock().unwrap().clone();
    let of = |uid: &str| -> Vec<&str> {
        applied.iter().filter(|(_, other)| other == uid).map(|(event, _)| *event).collect()
    };
    assert_eq!(of(&first).iter().filter(|event| **event == "cleanup").count(), 1, "{applied:?}");
    assert!(of(&second).contains(&"apply") && !of(&second).contains(&"cleanup"), "{applied:?}");
    log.check();
    former.stop().await;
    latter.stop().await;
    proxy.stop().await;
    env.stop().await;
}

/// Objects are deleted and created again under their names while requests fail. The finalizer keeps a name until the
/// replica that has it is done.
#[tokio::test(start_paused = true)]
async fn replicas_with_a_finalizer_share_no_name_of_recreated_objects() {
    for seed in 0..4 {
        let env = server(seed % 2 == 0).await;
        let api: Api<ConfigMap> = Api::namespaced(env.client(), "default");
        let (log, events) = (Log::default(), Events::default());
        let mut proxies: Vec<FaultProxy> = Vec::new();
        for index in 0..u64::from(REPLICAS) {
            proxies.push(env.fault_proxy(Schedule::seeded(seed * 100 + index)).await.unwrap());
        }
        let replicas: Vec<Replica> = (0..REPLICAS)
            .map(|index| start_with_finalizer(proxies[index as usize].client(), index, &log, &events))
            .collect();
        let names: Vec<String> = (0..10).map(|number| format!("m{number}")).collect();
        let mut owners: BTreeMap<String, BTreeSet<usize>> = BTreeMap::new();
        for round in 0..8 {
            for name in &names {
                while api.get_opt(name).await.unwrap().is_some() {
                    sleep(SECOND / 100).await;
                }
                let map = api.create(&PostParams::default(), &map(name)).await.unwrap();
                let uid = map.metadata.uid.unwrap();
                let owner = (0..REPLICAS).position(|index| shard(index).matches(&uid, "default")).unwrap();
                owners.entry(name.clone()).or_default().insert(owner);
            }
            sleep(60 * SECOND).await;
            if round == 7 {
                proxies.iter().for_each(|proxy| proxy.set_schedule(Schedule::new()));
            }
            for name in &names {
                api.delete(name, &DeleteParams::default()).await.unwrap();
            }
        }
        sleep(PATIENCE).await;
        assert!(api.list(&ListParams::default()).await.unwrap().items.is_empty(), "seed {seed}");
        assert!(owners.values().any(|owners| owners.len() > 2), "names have moved: {owners:?}");
        log.check();
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

/// Returns a UID in the first shard, or in another one.
fn uid(is_first: bool) -> String {
    let mut uids = (0..).map(|number| format!("uid-{number}"));
    uids.find(|uid| shard(0).matches(uid, "default") == is_first).unwrap()
}

fn owned_by(owner: &ConfigMap, name: &str) -> Secret {
    let meta = &owner.metadata;
    let owner = OwnerReference {
        api_version: "v1".to_owned(),
        kind: "ConfigMap".to_owned(),
        name: meta.name.clone().unwrap(),
        uid: meta.uid.clone().unwrap(),
        controller: Some(true),
        block_owner_deletion: None,
    };
    let metadata = ObjectMeta {
        name: Some(name.to_owned()),
        owner_references: Some(vec![owner]),
        ..ObjectMeta::default()
    };
    Secret { metadata, ..Secret::default() }
}

#[tokio::test(start_paused = true)]
async fn changes_of_other_kinds_queue_only_objects_of_the_shard() {
    let env = server(true).await;
    create(&env, (0..10).map(|number| format!("m{number}"))).await;
    let seen: Arc<Mutex<Vec<String>>> = Arc::default();
    let factory = SharedInformerFactory::builder(env.client())
        .namespace("default")
        .shard_selector_for::<ConfigMap>(shard(1))
        .build();
    let maps = factory.informer_for::<ConfigMap>();
    let secrets = factory.informer_for::<Secret>();
    let log = seen.clone();
    let reconciler = reconcile_fn(move |key: ObjectKey| {
        log.lock().unwrap().push(key.to_string());
        async { Ok(Action::done()) }
    });
    let controller = ControllerBuilder::new("maps")
        // The order does not matter.
        .watches(&secrets, |secret: &Secret| {
            secret.metadata.annotations.as_ref().map(|_| ObjectKey::namespaced("default", "m0"))
        })
        .for_(&maps)
        .owns(&secrets)
        .complete(reconciler)
        .unwrap();
    let (watches, stop) = (controller.watches(), CancellationToken::new());
    factory.start();
    let run = tokio::spawn(controller.run(stop.clone()));
    sleep(SECOND).await;
    let ours: BTreeSet<String> = keys(&env).await.swap_remove(1);
    assert!(!ours.is_empty() && ours.len() < 10);
    assert_eq!(std::mem::take(&mut *seen.lock().unwrap()).into_iter().collect::<BTreeSet<_>>(), ours);

    let api: Api<ConfigMap> = Api::namespaced(env.client(), "default");
    let api_of_secrets: Api<Secret> = Api::namespaced(env.client(), "default");
    for map in api.list(&ListParams::default()).await.unwrap() {
        let mut secret = owned_by(&map, map.metadata.name.as_deref().unwrap());
        secret.metadata.annotations = Some(BTreeMap::from([("a".to_owned(), "b".to_owned())]));
        api_of_secrets.create(&PostParams::default(), &secret).await.unwrap();
    }
    sleep(SECOND).await;
    assert_eq!(secrets.store().len(), 10, "the owned kind is not sharded");
    assert_eq!(std::mem::take(&mut *seen.lock().unwrap()).into_iter().collect::<BTreeSet<_>>(), ours);

    watches.add(&secrets, |secret: &Secret| Some(ObjectKey::of(secret))).unwrap();
    sleep(SECOND).await;
    assert_eq!(seen.lock().unwrap().iter().cloned().collect::<BTreeSet<_>>(), ours);
    stop.cancel();
    run.await.unwrap().unwrap();
    factory.shutdown().await;
    env.stop().await;
}

/// The owned objects arrive first, and a predicate refuses their owners: these are queued once both caches are filled.
#[tokio::test(start_paused = true)]
async fn owners_are_queued_when_their_cache_is_filled_last() {
    let env = server(true).await;
    create(&env, (0..10).map(|number| format!("m{number}"))).await;
    let api: Api<ConfigMap> = Api::namespaced(env.client(), "default");
    let secrets: Api<Secret> = Api::namespaced(env.client(), "default");
    for map in api.list(&ListParams::default()).await.unwrap() {
        let secret = owned_by(&map, map.metadata.name.as_deref().unwrap());
        secrets.create(&PostParams::default(), &secret).await.unwrap();
    }
    let maps = SharedInformer::<ConfigMap>::new(
        env.client(),
        InformerOptions::new().namespace("default").shard_selector(shard(1)),
    );
    let secrets = SharedInformer::<Secret>::new(env.client(), InformerOptions::new().namespace("default"));
    let log = Log::default();
    let of_owned = Watch::on(&maps).filter(Predicate::new().on_create(|_| false));
    let controller =
        ControllerBuilder::new("maps").for_(of_owned).owns(&secrets).complete(reconciler("1", &log)).unwrap();
    secrets.start();
    secrets.wait_for_sync(SECOND).await.unwrap();
    // The handler has seen the owned objects.
    sleep(SECOND).await;
    maps.start();
    let stop = CancellationToken::new();
    let run = tokio::spawn(controller.run(stop.clone()));
    sleep(10 * SECOND).await;
    let begun: BTreeSet<String> = log.since(tokio::time::Instant::now() - PATIENCE).into_keys().collect();
    assert_eq!(begun, keys(&env).await.swap_remove(1));
    assert!(!begun.is_empty());
    stop.cancel();
    run.await.unwrap().unwrap();
    env.stop().await;
}

#[tokio::test(start_paused = true)]
async fn shard_of_namespaces_has_all_kinds_of_a_namespace() {
    let env = server(true).await;
    let shards = ShardSelector::nth(ShardKey::Namespace, 0, 2).unwrap();
    let namespaces = ["alpha", "beta", "payments", "shop"];
    for namespace in namespaces {
        let metadata = ObjectMeta { name: Some(namespace.to_owned()), ..ObjectMeta::default() };
        let object = Namespace { metadata, ..Namespace::default() };
        Api::all(env.client()).create(&PostParams::default(), &object).await.unwrap();
        let api: Api<ConfigMap> = Api::namespaced(env.client(), namespace);
        let owner = api.create(&PostParams::default(), &map("m")).await.unwrap();
        let api: Api<Secret> = Api::namespaced(env.client(), namespace);
        api.create(&PostParams::default(), &owned_by(&owner, "s")).await.unwrap();
    }
    let factory = SharedInformerFactory::builder(env.client()).shard_selector(shards.clone()).build();
    let maps = factory.informer_for::<ConfigMap>();
    let secrets = factory.informer_for::<Secret>();
    factory.start();
    factory.wait_for_cache_sync(SECOND).await.unwrap();
    for namespace in namespaces {
        let is_ours = shards.matches("", namespace);
        let has_map = maps.store().get_by_key(&ObjectKey::namespaced(namespace, "m")).is_some();
        let has_secret = secrets.store().get_by_key(&ObjectKey::namespaced(namespace, "s")).is_some();
        assert_eq!((has_map, has_secret), (is_ours, is_ours), "{namespace}");
    }
    assert_eq!(secrets.store().len(), 2);
    factory.shutdown().await;
    env.stop().await;
}

#[tokio::test]
async fn owned_kind_is_sharded_only_with_its_owners() {
    let (client, _) = scripted::client(|_| scripted::failure(500, "Unexpected"));
    let build = |maps: Option<ShardSelector>, secrets: Option<ShardSelector>| {
        let maps = SharedInformer::<ConfigMap>::new(client.clone(), of_shards(maps));
        let secrets = SharedInformer::<Secret>::new(client.clone(), of_shards(secrets));
        let reconciler = reconcile_fn(|_: ObjectKey| async { Ok(Action::done()) });
        ControllerBuilder::new("maps").for_(&maps).owns(&secrets).complete(reconciler).map(|_| ())
    };
    let namespaces = |index| ShardSelector::nth(ShardKey::Namespace, index, 2);
    assert!(build(namespaces(0), namespaces(0)).is_ok());
    assert!(build(Some(shard(0)), None).is_ok());
    for (maps, secrets) in
        [(Some(shard(0)), Some(shard(0))), (namespaces(0), namespaces(1)), (None, namespaces(0))]
    {
        let error = build(maps, secrets).unwrap_err();
        assert!(
            matches!(&error, BuildError::OwnedSharded { resource, .. } if resource == "secrets"),
            "{error}"
        );
    }
}

fn of_shards<K: Cached>(shards: Option<ShardSelector>) -> InformerOptions<K> {
    shards.map_or_else(InformerOptions::new, |shards| InformerOptions::new().shard_selector(shards))
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
        // A bookmark would come within a minute only.
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
