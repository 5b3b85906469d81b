//! Reads include the client's own writes, however late the watch is.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures::StreamExt;
use http::Request;
use http_body::Frame;
use http_body_util::{BodyExt, StreamBody};
use k8s_openapi::api::core::v1::{ConfigMap, Node};
use kube::api::{Api, DeleteParams, ObjectMeta, Patch, PatchParams, PostParams};
use kube::client::Body;
use kube::core::PartialObjectMeta;
use kubesmith_runtime::cache::{Compact, Indexer, ObjectKey};
use kubesmith_runtime::informer::{
    CacheOf, CachedClient, InformerError, InformerOptions, SharedInformer, SharedInformerFactory,
};
use kubesmith_runtime::labels::Selector;
use kubesmith_testenv::TestEnv;
use serde_json::json;
use tokio::time::{Instant, sleep};

use crate::fake::{FakeServer, map as fake_map};

/// The delay of every part of a watch.
const LATE: Duration = Duration::from_secs(3);

/// The server of `env`, whose watches are late.
fn late(env: &TestEnv) -> kube::Client {
    let client = env.client();
    let service = tower::service_fn(move |request: Request<Body>| {
        let client = client.clone();
        let is_watch = request.uri().query().is_some_and(|query| query.contains("watch=true"));
        async move {
            let answer = client.send(request).await.map_err(std::io::Error::other)?;
            Ok::<_, std::io::Error>(answer.map(|body| {
                let late = body.into_data_stream().then(move |chunk| async move {
                    if is_watch {
                        sleep(LATE).await;
                    }
                    chunk.map(Frame::<Bytes>::data)
                });
                StreamBody::new(late.boxed())
            }))
        }
    });
    kube::Client::new(service, "default")
}

async fn started<C>() -> (TestEnv, CachedClient<ConfigMap, C>)
where
    C: CacheOf<ConfigMap> + kubesmith_runtime::informer::Cached<DynamicType = ()>,
{
    let env = TestEnv::builder().start().await.unwrap();
    let informer = SharedInformer::<C>::new(late(&env), InformerOptions::new());
    informer.start();
    informer.wait_for_sync(Duration::from_secs(60)).await.unwrap();
    let client = CachedClient::new(env.client(), &informer);
    (env, client)
}

fn map(name: &str) -> ConfigMap {
    let metadata = ObjectMeta {
        name: Some(name.to_owned()),
        namespace: Some("default".to_owned()),
        ..ObjectMeta::default()
    };
    ConfigMap { metadata, ..ConfigMap::default() }
}

fn key(name: &str) -> ObjectKey {
    ObjectKey::namespaced("default", name)
}

/// Runs `read` and returns the time that it took.
async fn timed<T>(read: impl Future<Output = T>) -> (T, Duration) {
    let begin = Instant::now();
    let read = read.await;
    (read, begin.elapsed())
}

#[tokio::test(start_paused = true)]
async fn cached_client_shows_own_writes_when_the_lister_is_stale() {
    let (env, maps) = started::<ConfigMap>().await;
    let written = maps.create(&map("a"), &PostParams::default()).await.unwrap();
    assert!(maps.lister().get_by_key(&key("a")).is_err(), "the cache cannot know yet");
    assert_eq!(maps.pending_writes(), 1);
    let (other, waited) = timed(maps.get(&key("b"))).await;
    assert!(other.unwrap().is_none() && waited.is_zero(), "what was not written is not waited for");
    let (read, waited) = timed(maps.get(&key("a"))).await;
    assert_eq!(read.unwrap().unwrap().metadata.resource_version, written.metadata.resource_version);
    assert!(waited > Duration::ZERO && waited <= LATE, "{waited:?}");
    assert_eq!(maps.pending_writes(), 0);

    let mut changed = written;
    changed.data = Some([("k".to_owned(), "1".to_owned())].into());
    maps.update(&changed, &PostParams::default()).await.unwrap();
    assert!(maps.lister().get_by_key(&key("a")).unwrap().data.is_none(), "stale");
    assert_eq!(maps.get(&key("a")).await.unwrap().unwrap().data.as_ref().unwrap()["k"], "1");

    let patch = Patch::Merge(json!({ "data": { "k": "2" } }));
    maps.patch(&key("a"), &PatchParams::default(), &patch).await.unwrap();
    let listed = maps.list_namespace("default", &Selector::everything()).await.unwrap();
    assert!(listed.iter().any(|map| map.data.as_ref().is_some_and(|data| data["k"] == "2")));

    let mut applied = map("b");
    applied.data = Some([("k".to_owned(), "3".to_owned())].into());
    maps.apply(&applied, &PatchParams::apply("test")).await.unwrap();
    assert!(maps.list(&Selector::everything()).await.unwrap().len() >= 2);

    maps.delete(&key("a"), &DeleteParams::default()).await.unwrap();
    assert!(maps.lister().get_by_key(&key("a")).is_ok(), "stale");
    assert!(maps.get(&key("a")).await.unwrap().is_none());
    // Created and deleted before the cache has received either event.
    maps.create(&map("c"), &PostParams::default()).await.unwrap();
    maps.delete(&key("c"), &DeleteParams::default()).await.unwrap();
    let (read, waited) = timed(maps.get(&key("c"))).await;
    assert!(read.unwrap().is_none() && !waited.is_zero());
    // Another object with the same name.
    let again = maps.create(&map("c"), &PostParams::default()).await.unwrap();
    assert_eq!(maps.get(&key("c")).await.unwrap().unwrap().metadata.uid, again.metadata.uid);
    assert_eq!(maps.pending_writes(), 0);
    maps.informer().shutdown().await;
    env.stop().await;
}

#[tokio::test(start_paused = true)]
async fn reads_do_not_wait_for_writes_in_other_namespaces() {
    let env = TestEnv::builder().start().await.unwrap();
    let informer = SharedInformer::<ConfigMap>::new(late(&env), InformerOptions::new().namespace("default"));
    informer.start();
    informer.wait_for_sync(Duration::from_secs(60)).await.unwrap();
    let maps = CachedClient::new(env.client(), &informer);
    let mut elsewhere = map("a");
    elsewhere.metadata.namespace = Some("kube-public".to_owned());
    maps.create(&elsewhere, &PostParams::default()).await.unwrap();
    let (listed, waited) = timed(maps.list(&Selector::everything())).await;
    assert!(!listed.unwrap().iter().any(|map| map.metadata.name.as_deref() == Some("a")) && waited.is_zero());
    maps.delete(&ObjectKey::of(&elsewhere), &DeleteParams::default()).await.unwrap();
    assert_eq!(maps.pending_writes(), 0);
    informer.shutdown().await;
    env.stop().await;
}

#[tokio::test(start_paused = true)]
async fn reads_do_not_wait_for_dry_runs() {
    let (env, maps) = started::<ConfigMap>().await;
    let try_only = PostParams { dry_run: true, ..PostParams::default() };
    maps.create(&map("a"), &try_only).await.unwrap();
    assert_eq!(maps.pending_writes(), 0);
    maps.create(&map("a"), &PostParams::default()).await.unwrap();
    maps.get(&key("a")).await.unwrap();
    let patch = Patch::Merge(json!({ "data": { "k": "2" } }));
    maps.patch(&key("a"), &PatchParams { dry_run: true, ..PatchParams::default() }, &patch).await.unwrap();
    maps.delete(&key("a"), &DeleteParams { dry_run: true, ..DeleteParams::default() }).await.unwrap();
    assert_eq!(maps.pending_writes(), 0);
    let (read, waited) = timed(maps.get(&key("a"))).await;
    assert!(read.unwrap().unwrap().data.is_none() && waited.is_zero());
    maps.informer().shutdown().await;
    env.stop().await;
}

#[tokio::test(start_paused = true)]
async fn deleted_object_with_finalizer_is_read_as_terminating() {
    let (env, maps) = started::<ConfigMap>().await;
    let mut kept = map("kept");
    kept.metadata.finalizers = Some(vec!["example.com/wait".to_owned()]);
    maps.create(&kept, &PostParams::default()).await.unwrap();
    maps.get(&key("kept")).await.unwrap();
    maps.delete(&key("kept"), &DeleteParams::default()).await.unwrap();
    let read = maps.get(&key("kept")).await.unwrap().unwrap();
    assert!(read.metadata.deletion_timestamp.is_some());
    let patch = Patch::Merge(json!({ "metadata": { "finalizers": null } }));
    maps.patch(&key("kept"), &PatchParams::default(), &patch).await.unwrap();
    assert!(maps.get(&key("kept")).await.unwrap().is_none(), "the patch was the end of it");
    maps.informer().shutdown().await;
    env.stop().await;
}

async fn reads_own_writes<C>()
where
    C: CacheOf<ConfigMap> + kubesmith_runtime::informer::Cached<DynamicType = ()>,
{
    let (env, maps) = started::<C>().await;
    let written = maps.create(&map("a"), &PostParams::default()).await.unwrap();
    let read = maps.get(&key("a")).await.unwrap().unwrap();
    assert_eq!(read.object_version(), written.metadata.resource_version.as_deref());
    maps.delete(&key("a"), &DeleteParams::default()).await.unwrap();
    assert!(maps.get(&key("a")).await.unwrap().is_none());
    maps.informer().shutdown().await;
    env.stop().await;
}

#[tokio::test(start_paused = true)]
async fn caches_in_every_form_show_own_writes() {
    reads_own_writes::<Compact<ConfigMap>>().await;
    reads_own_writes::<PartialObjectMeta<ConfigMap>>().await;
    reads_own_writes::<Compact<PartialObjectMeta<ConfigMap>>>().await;
}

#[tokio::test(start_paused = true)]
async fn clients_of_one_informer_share_their_writes() {
    let env = TestEnv::builder().start().await.unwrap();
    let factory: SharedInformerFactory = SharedInformerFactory::builder(late(&env)).build();
    let nodes = factory.informer_for::<Node>();
    let writer = CachedClient::new(env.client(), &nodes);
    let reader = CachedClient::<Node>::new(env.client(), &factory.informer_for());
    factory.start();
    let metadata = ObjectMeta { name: Some("n".to_owned()), ..ObjectMeta::default() };
    writer.create(&Node { metadata, ..Node::default() }, &PostParams::default()).await.unwrap();
    assert!(reader.get(&ObjectKey::cluster("n")).await.unwrap().is_some());
    factory.shutdown().await;
    env.stop().await;
}

#[tokio::test(start_paused = true)]
async fn fresh_lister_has_own_writes_in_its_indexes() {
    let (env, maps) = started::<ConfigMap>().await;
    let by_color = Indexer::new("color", |map: &ConfigMap| {
        map.data.iter().filter_map(|data| data.get("color").cloned()).collect()
    });
    maps.informer().add_indexer(by_color).unwrap();
    let mut red = map("a");
    red.data = Some([("color".to_owned(), "red".to_owned())].into());
    maps.create(&red, &PostParams::default()).await.unwrap();
    assert_eq!(maps.lister().by_index("color", "red").unwrap().len(), 0);
    assert_eq!(maps.fresh_lister().await.unwrap().by_index("color", "red").unwrap().len(), 1);
    maps.informer().shutdown().await;
    env.stop().await;
}

#[tokio::test(start_paused = true)]
async fn live_read_shows_writes_of_others() {
    let (env, maps) = started::<ConfigMap>().await;
    let others: kube::Api<ConfigMap> = kube::Api::namespaced(env.client(), "default");
    let written = others.create(&PostParams::default(), &map("a")).await.unwrap();
    assert!(maps.get(&key("a")).await.unwrap().is_none(), "the cache cannot know yet");
    assert_eq!(maps.get_live(&key("a")).await.unwrap(), Some(written));
    assert_eq!(maps.get_live(&key("b")).await.unwrap(), None);
    assert_eq!(maps.pending_writes(), 0, "a read is no write");
    maps.informer().shutdown().await;
    env.stop().await;
}

#[tokio::test(start_paused = true)]
async fn read_fails_while_the_cache_does_not_follow() {
    let mut server = FakeServer::new();
    let informer = SharedInformer::<ConfigMap>::new(server.client(), InformerOptions::new());
    let maps = CachedClient::<ConfigMap>::new(server.client(), &informer).timeout(Duration::from_secs(5));
    let error = maps.get(&key("a")).await.unwrap_err();
    assert!(matches!(error, InformerError::NotSynced { .. }), "{error}");
    informer.start();
    let watch = server.sync(&[fake_map("a", 1)], "5").await;
    informer.wait_for_sync(Duration::from_secs(60)).await.unwrap();
    let update = {
        let maps = maps.clone();
        let object = serde_json::from_value::<ConfigMap>(fake_map("a", 1)).unwrap();
        tokio::spawn(async move { maps.update(&object, &PostParams::default()).await })
    };
    let call = server.call().await;
    assert_eq!(call.path, "/api/v1/namespaces/default/configmaps/a");
    call.json(&fake_map("a", 9));
    update.await.unwrap().unwrap();
    for _ in 0..2 {
        let (read, waited) = timed(maps.get(&key("a"))).await;
        let error = read.unwrap_err().to_string();
        assert_eq!(error, "the cache of configmaps has not shown the write of \"default/a\" after 5s");
        assert_eq!(waited, Duration::from_secs(5));
    }
    assert!(maps.list(&Selector::everything()).await.is_err());
    let (elsewhere, waited) = timed(maps.list_namespace("other", &Selector::everything())).await;
    assert!(elsewhere.unwrap().is_empty() && waited.is_zero());
    watch.event("MODIFIED", &fake_map("a", 10));
    assert_eq!(maps.get(&key("a")).await.unwrap().unwrap().metadata.resource_version.as_deref(), Some("10"));
    informer.shutdown().await;
}

#[tokio::test(start_paused = true)]
async fn concurrent_tasks_never_miss_their_own_writes() {
    let (env, maps) = started::<ConfigMap>().await;
    let tasks = (0..8_u32).map(|task| {
        let maps = maps.clone();
        tokio::spawn(async move {
            for round in 0..20_u32 {
                let name = format!("t{task}-{}", round % 3);
                let data: Arc<str> = round.to_string().into();
                match maps.get(&key(&name)).await.unwrap() {
                    Some(_) if (task + round) % 4 == 0 => {
                        maps.delete(&key(&name), &DeleteParams::default()).await.unwrap();
                        assert!(maps.get(&key(&name)).await.unwrap().is_none());
                    }
                    // A stale cache would make the server refuse one of these.
                    Some(known) => {
                        let mut known = ConfigMap::clone(&known);
                        known.data = Some([("round".to_owned(), data.to_string())].into());
                        maps.update(&known, &PostParams::default()).await.unwrap();
                    }
                    None => {
                        maps.create(&map(&name), &PostParams::default()).await.unwrap();
                    }
                }
            }
        })
    });
    for task in tasks.collect::<Vec<_>>() {
        task.await.unwrap();
    }
    let listed = maps.list_namespace("default", &Selector::everything()).await.unwrap();
    let api: Api<ConfigMap> = Api::namespaced(env.client(), "default");
    assert_eq!(listed.len(), api.list(&kube::api::ListParams::default()).await.unwrap().items.len());
    assert_eq!(maps.pending_writes(), 0);
    maps.informer().shutdown().await;
    env.stop().await;
}
