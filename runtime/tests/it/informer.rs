//! Shared informers and their factory against a scripted server.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use kubesmith_runtime::cache::Indexer;
use kubesmith_runtime::informer::{
    Deleted, HandlerOptions, HandlerRegistration, InformerError, InformerOptions, ResourceEventHandler,
    SharedInformer, SharedInformerFactory,
};
use kubesmith_runtime::metrics::Registry;
use tokio::time::Instant;

use crate::fake::{FakeServer, Sending, broken, map, show_one, status};

/// Records its notifications.
#[derive(Clone, Default)]
struct Recorder {
    events: Arc<Mutex<Vec<String>>>,
}

impl Recorder {
    fn note(&self, event: String) {
        self.events.lock().unwrap().push(event);
    }

    fn take(&self) -> Vec<String> {
        std::mem::take(&mut self.events.lock().unwrap())
    }

    /// Waits until the notifications are exactly `expected`, and clears them.
    async fn told(&self, expected: &[&str]) {
        for _ in 0..1000 {
            if self.events.lock().unwrap().len() >= expected.len() {
                break;
            }
            tokio::task::yield_now().await;
        }
        assert_eq!(self.take(), expected);
    }
}

impl ResourceEventHandler<ConfigMap> for Recorder {
    fn on_add(&self, object: Arc<ConfigMap>, initial: bool) {
        self.note(format!("{}{}", if initial { "=" } else { "+" }, show_one(&object)));
    }

    fn on_update(&self, old: Arc<ConfigMap>, new: Arc<ConfigMap>) {
        self.note(format!("{}>{}", show_one(&old), show_one(&new)));
    }

    fn on_delete(&self, deleted: Deleted<ConfigMap>) {
        let sign = if deleted.is_final_state_unknown() { "?" } else { "-" };
        self.note(format!("{sign}{}", show_one(deleted.object())));
    }
}

async fn started(options: InformerOptions<ConfigMap>) -> (FakeServer, SharedInformer<ConfigMap>, Sending) {
    let mut server = FakeServer::new();
    let informer = SharedInformer::new(server.client(), options);
    informer.start();
    let watch = server.sync(&[map("a", 1), map("b", 2)], "5").await;
    informer.wait_for_sync(Duration::from_secs(60)).await.unwrap();
    (server, informer, watch)
}

fn added(informer: &SharedInformer<ConfigMap>) -> (Recorder, HandlerRegistration) {
    let recorder = Recorder::default();
    let registration = informer.add_event_handler(recorder.clone()).unwrap();
    (recorder, registration)
}

#[tokio::test(start_paused = true)]
async fn handlers_get_all_events_in_order_and_know_their_initial_list() {
    let mut server = FakeServer::new();
    let informer = SharedInformer::<ConfigMap>::new(server.client(), InformerOptions::new());
    let (recorder, registration) = added(&informer);
    informer.start();
    let watch = server.sync(&[map("a", 1), map("b", 2)], "5").await;
    registration.synced().await;
    recorder.told(&["=a@1", "=b@2"]).await;
    watch.event("MODIFIED", &map("a", 6));
    watch.event("ADDED", &map("c", 7));
    watch.event("DELETED", &map("a", 8));
    recorder.told(&["a@1>a@6", "+c@7", "-a@8"]).await;
    // The deletion of an unknown object, and a known state: no notification.
    watch.event("DELETED", &map("x", 9));
    watch.event("MODIFIED", &map("c", 9));
    watch.event("ADDED", &map("c", 9));
    watch.event("MODIFIED", &map("b", 10));
    recorder.told(&["c@7>c@9", "b@2>b@10"]).await;
}

#[tokio::test(start_paused = true)]
async fn late_handler_starts_with_the_cache_and_misses_nothing() {
    let (_server, informer, watch) = started(InformerOptions::new()).await;
    let (recorder, registration) = added(&informer);
    assert!(!registration.has_synced());
    watch.event("MODIFIED", &map("b", 6));
    registration.synced().await;
    recorder.told(&["=a@1", "=b@2", "b@2>b@6"]).await;
}

#[tokio::test(start_paused = true)]
async fn deletions_found_by_a_relist_are_tombstones() {
    let (mut server, informer, watch) = started(InformerOptions::new()).await;
    let (recorder, registration) = added(&informer);
    registration.synced().await;
    recorder.take();
    watch.event("ERROR", &status(410, "Expired"));
    let _watch = server.sync(&[map("b", 2), map("c", 7)], "9").await;
    // `b` has not changed, so it causes no notification.
    recorder.told(&["?a@1", "+c@7"]).await;
}

#[tokio::test(start_paused = true)]
async fn removed_handler_gets_no_events() {
    let (_server, informer, watch) = started(InformerOptions::new()).await;
    let (first, registration) = added(&informer);
    let (second, other) = added(&informer);
    registration.synced().await;
    other.synced().await;
    first.take();
    second.take();
    informer.remove_event_handler(&registration).unwrap();
    watch.event("ADDED", &map("c", 6));
    second.told(&["+c@6"]).await;
    assert_eq!(first.take(), Vec::<String>::new());
}

struct Panicking(Recorder);

impl ResourceEventHandler<ConfigMap> for Panicking {
    fn on_add(&self, object: Arc<ConfigMap>, initial: bool) {
        assert_ne!(object.metadata.name.as_deref(), Some("a"), "the test wants this panic");
        self.0.on_add(object, initial);
    }
}

#[tokio::test(start_paused = true)]
async fn panicking_handler_skips_the_event_and_is_counted() {
    let (_server, informer, _watch) = started(InformerOptions::new()).await;
    let recorder = Recorder::default();
    let registration = informer.add_event_handler(Panicking(recorder.clone())).unwrap();
    let (other, _) = added(&informer);
    registration.synced().await;
    recorder.told(&["=b@2"]).await;
    assert_eq!(registration.panics(), 1);
    other.told(&["=a@1", "=b@2"]).await;
}

/// Blocks its thread until it is released.
#[derive(Clone, Default)]
struct Blocking {
    recorder: Recorder,
    entered: Arc<AtomicBool>,
    gate: Arc<(Mutex<bool>, Condvar)>,
}

impl Blocking {
    fn open(&self) {
        *self.gate.0.lock().unwrap() = true;
        self.gate.1.notify_all();
    }

    fn pass(&self) {
        self.entered.store(true, Ordering::SeqCst);
        let open = self.gate.0.lock().unwrap();
        drop(self.gate.1.wait_while(open, |open| !*open).unwrap());
    }
}

impl ResourceEventHandler<ConfigMap> for Blocking {
    fn on_add(&self, object: Arc<ConfigMap>, initial: bool) {
        self.pass();
        self.recorder.on_add(object, initial);
    }

    fn on_update(&self, old: Arc<ConfigMap>, new: Arc<ConfigMap>) {
        self.recorder.on_update(old, new);
    }
}

#[tokio::test]
async fn blocked_handler_does_not_delay_others_and_gets_last_states() {
    let (_server, informer, watch) = started(InformerOptions::new()).await;
    let blocking = Blocking::default();
    let options = HandlerOptions::new().blocking().queue_limit(2);
    let registration = informer.add_event_handler_with_options(blocking.clone(), options).unwrap();
    let (recorder, other) = added(&informer);
    other.synced().await;
    recorder.take();
    while !blocking.entered.load(Ordering::SeqCst) {
        tokio::task::yield_now().await;
    }
    for version in 6..106 {
        watch.event("MODIFIED", &map("a", version));
        watch.event("MODIFIED", &map("b", version));
    }
    for _ in 0..100_000 {
        if recorder.events.lock().unwrap().len() == 200 {
            break;
        }
        tokio::task::yield_now().await;
    }
    assert_eq!(recorder.take().len(), 200, "the other handler is told everything meanwhile");
    blocking.open();
    while blocking.recorder.events.lock().unwrap().len() < 4 || !registration.has_synced() {
        tokio::task::yield_now().await;
    }
    let told = blocking.recorder.take();
    assert!(told.len() < 20, "{told:?}");
    assert!(told.contains(&"=a@1".to_owned()) && told.contains(&"=b@2".to_owned()), "{told:?}");
    assert!(told.iter().any(|event| event.ends_with(">a@105")), "{told:?}");
    assert!(told.iter().any(|event| event.ends_with(">b@105")), "{told:?}");
    informer.shutdown().await;
}

/// With a single thread, changes would merge if the informer continued to read before its handler ran.
#[tokio::test]
async fn fast_handler_gets_every_change_of_a_burst() {
    let (_server, informer, watch) = started(InformerOptions::new()).await;
    let recorder = Recorder::default();
    let options = HandlerOptions::new().queue_limit(4096);
    let registration = informer.add_event_handler_with_options(recorder.clone(), options).unwrap();
    registration.synced().await;
    recorder.take();
    for version in 6..20_006 {
        watch.event("MODIFIED", &map("a", version));
    }
    while informer.last_sync_resource_version() != "20005" {
        tokio::task::yield_now().await;
    }
    for _ in 0..1000 {
        tokio::task::yield_now().await;
    }
    assert_eq!(recorder.take().len(), 20_000);
    informer.shutdown().await;
}

#[tokio::test]
async fn waiting_handler_thread_ends_with_the_last_handle() {
    let (_server, informer, _watch) = started(InformerOptions::new()).await;
    let blocking = Blocking::default();
    blocking.open();
    let kept = Arc::downgrade(&blocking.gate);
    let options = HandlerOptions::new().blocking();
    let registration = informer.add_event_handler_with_options(blocking, options).unwrap();
    registration.synced().await;
    drop(informer);
    // The handler is dropped when its thread has ended.
    while kept.strong_count() > 0 {
        tokio::task::yield_now().await;
    }
}

#[tokio::test(start_paused = true)]
async fn each_handler_resyncs_in_its_own_period() {
    let (_server, informer, _watch) = started(InformerOptions::new()).await;
    let fast = Recorder::default();
    let slow = Recorder::default();
    let never = Recorder::default();
    // Less than a second becomes a second.
    informer.add_event_handler_with_resync_period(fast.clone(), Duration::from_millis(10)).unwrap();
    informer.add_event_handler_with_resync_period(slow.clone(), Duration::from_millis(2500)).unwrap();
    informer.add_event_handler_with_resync_period(never.clone(), Duration::ZERO).unwrap();
    never.told(&["=a@1", "=b@2"]).await;
    fast.take();
    slow.take();
    tokio::time::sleep(Duration::from_millis(3500)).await;
    assert_eq!(fast.take().len(), 6, "three resyncs of two objects");
    assert_eq!(slow.take(), ["a@1>a@1", "b@2>b@2"], "due at 2.5 s, asked at 3 s");
    assert_eq!(never.take(), Vec::<String>::new());
}

#[tokio::test(start_paused = true)]
async fn unchanged_object_of_a_relist_reaches_only_handlers_with_due_resync() {
    let (mut server, informer, watch) = started(InformerOptions::new()).await;
    let due = Recorder::default();
    informer.add_event_handler_with_resync_period(due.clone(), Duration::from_secs(3600)).unwrap();
    let (other, registration) = added(&informer);
    registration.synced().await;
    due.told(&["=a@1", "=b@2"]).await;
    other.take();
    watch.event("ERROR", &status(410, "Expired"));
    let _watch = server.sync(&[map("a", 1), map("b", 2)], "9").await;
    while informer.last_sync_resource_version() != "9" {
        tokio::task::yield_now().await;
    }
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert_eq!(due.take(), Vec::<String>::new(), "not due before the hour");
    assert_eq!(other.take(), Vec::<String>::new());
}

#[tokio::test(start_paused = true)]
async fn transform_changes_objects_before_they_are_stored() {
    let mut server = FakeServer::new();
    let informer = SharedInformer::<ConfigMap>::new(server.client(), InformerOptions::new());
    informer.set_transform(|map| map.data = None).unwrap();
    informer.start();
    assert!(matches!(informer.set_transform(|_| {}), Err(InformerError::Started { .. })));
    let watch = server.sync(&[map("a", 1)], "5").await;
    informer.wait_for_sync(Duration::from_secs(1)).await.unwrap();
    watch.event("ADDED", &map("b", 6));
    while informer.store().len() < 2 {
        tokio::task::yield_now().await;
    }
    assert!(informer.store().list().iter().all(|map| map.data.is_none()));
}

#[tokio::test(start_paused = true)]
async fn cache_keeps_the_last_state_when_a_transform_panics() {
    let mut server = FakeServer::new();
    let informer = SharedInformer::<ConfigMap>::new(server.client(), InformerOptions::new());
    let transform = |map: &mut ConfigMap| {
        let version = map.metadata.resource_version.clone();
        map.data = None;
        assert!(version.as_deref() != Some("6"), "the object is half changed here");
    };
    informer.set_transform(transform).unwrap();
    informer.start();
    let watch = server.sync(&[map("a", 1)], "5").await;
    informer.wait_for_sync(Duration::from_secs(1)).await.unwrap();
    watch.event("MODIFIED", &map("a", 6));
    while informer.store().undecodable().is_empty() {
        tokio::task::yield_now().await;
    }
    let (key, why) = informer.store().undecodable().remove(0);
    assert_eq!(key.as_str(), "default/a");
    assert!(why.message.starts_with("the transform panicked"), "{}", why.message);
    let version = |map: Arc<ConfigMap>| map.metadata.resource_version.clone();
    assert_eq!(informer.store().list().into_iter().map(version).collect::<Vec<_>>(), [Some("1".to_owned())]);
    watch.event("MODIFIED", &map("a", 7));
    while !informer.store().undecodable().is_empty() {
        tokio::task::yield_now().await;
    }
    assert_eq!(informer.store().list().into_iter().map(version).collect::<Vec<_>>(), [Some("7".to_owned())]);
}

#[tokio::test(start_paused = true)]
async fn indexers_may_come_before_or_after_the_start() {
    let (_server, informer, watch) = started(InformerOptions::new()).await;
    let by_version = || {
        Indexer::new("version", |map: &ConfigMap| {
            map.data.iter().flat_map(|data| data.get("version").cloned()).collect()
        })
    };
    informer.add_indexer(by_version()).unwrap();
    assert!(matches!(informer.add_indexer(by_version()), Err(InformerError::IndexerExists { .. })));
    let lister = informer.lister();
    assert_eq!(lister.by_index("version", "2").unwrap().len(), 1);
    watch.event("MODIFIED", &map("a", 6));
    while lister.by_index("version", "6").unwrap().is_empty() {
        tokio::task::yield_now().await;
    }
    assert!(lister.by_index("version", "1").unwrap().is_empty());
    let missing = lister.by_index("color", "red").unwrap_err().to_string();
    assert_eq!(missing, "there is no index \"color\" (there are: version); add it with add_indexer");
}

#[tokio::test(start_paused = true)]
async fn dropping_the_last_handle_stops_the_informer() {
    let (_server, informer, watch) = started(InformerOptions::new()).await;
    let store = informer.store().clone();
    drop(informer);
    while !watch.is_closed() {
        tokio::task::yield_now().await;
    }
    assert_eq!(store.len(), 2);
}

#[tokio::test(start_paused = true)]
async fn handlers_are_refused_after_shutdown() {
    let (_server, informer, _watch) = started(InformerOptions::new()).await;
    informer.shutdown().await;
    informer.shutdown().await;
    let refused = informer.add_event_handler(Recorder::default()).unwrap_err();
    assert_eq!(refused.to_string(), "the informer of configmaps was shut down; create a new one");
}

#[tokio::test(start_paused = true)]
async fn factory_shares_informers_and_starts_only_new_ones() {
    let mut server = FakeServer::new();
    let factory = SharedInformerFactory::builder(server.client()).name("test").build();
    let maps = factory.informer_for::<ConfigMap>();
    factory.start();
    let _watch = server.sync(&[map("a", 1)], "5").await;
    factory.wait_for_cache_sync(Duration::from_secs(5)).await.unwrap();
    assert_eq!(factory.informer_for::<ConfigMap>().store().len(), 1, "the same informer");

    let secrets = factory.informer_for::<Secret>();
    factory.wait_for_cache_sync(Duration::from_secs(5)).await.unwrap();
    assert!(!secrets.is_started());
    factory.start();
    let call = server.streaming_list().await;
    assert_eq!(call.path, "/api/v1/secrets");
    call.refuse(403, "Forbidden");
    server.list().await.refuse(403, "Forbidden");
    let waited = Instant::now();
    let error = factory.wait_for_cache_sync(Duration::from_secs(5)).await.unwrap_err();
    assert_eq!(waited.elapsed(), Duration::from_secs(5));
    assert_eq!(error.not_synced.len(), 1);
    assert_eq!(
        error.to_string(),
        "test has not synced within 5s: secrets: cannot list secrets: Forbidden says the test (Forbidden, code 403); \
         grant list on secrets to the client's account: informers need list and watch"
    );

    factory.shutdown().await;
    assert!(maps.is_stopped() && secrets.is_stopped());
    let late = factory.informer_for::<k8s_openapi::api::core::v1::Pod>();
    factory.start();
    assert!(!late.is_started(), "nothing starts after a shutdown");
}

#[tokio::test(start_paused = true)]
async fn metrics_show_a_cache_until_its_informer_is_dropped() {
    let mut server = FakeServer::new();
    let registry = Registry::new();
    let builder = SharedInformerFactory::builder(server.client()).metrics(&registry).name("west");
    let factory: SharedInformerFactory = builder.build();
    let informer = factory.informer_for::<ConfigMap>();
    factory.start();
    server.streaming_list().await.refuse(503, "ServiceUnavailable");
    server.list().await.page(&[map("a", 1), broken("b", 2), map("c", 3)], "17", None);
    let _watch = server.watch().await.ok();
    informer.wait_for_sync(Duration::from_secs(60)).await.unwrap();
    let text = registry.encode();
    let labels = r#"{name="west",group="",version="v1",resource="configmaps"}"#;
    for (name, value) in [
        ("objects", "2.0"),
        ("store_resource_version", "17.0"),
        ("synced", "1.0"),
        ("undecodable_objects", "1.0"),
        ("undecodable_total", "1"),
        ("watch_errors_total", "2"),
    ] {
        let line = format!("informer_{name}{labels} {value}\n");
        assert!(text.contains(&line), "no {line} in\n{text}");
    }
    factory.shutdown().await;
    drop((informer, factory));
    assert!(!registry.encode().contains("west"), "{}", registry.encode());
}

#[tokio::test(start_paused = true)]
async fn wait_for_write_returns_when_the_cache_shows_it() {
    let mut server = FakeServer::new();
    let informer = SharedInformer::<ConfigMap>::new(server.client(), InformerOptions::new());
    informer.start();
    let watch = server.sync(&[map("a", 1)], "5").await;
    informer.wait_for_sync(Duration::from_secs(60)).await.unwrap();
    let written = |name, version| serde_json::from_value::<ConfigMap>(map(name, version)).unwrap();
    let patience = Duration::from_secs(5);
    let wait = |map: ConfigMap| {
        let informer = informer.clone();
        tokio::spawn(async move { informer.wait_for_write(&map, patience).await })
    };
    // Known already, by the object or by the version.
    wait(written("a", 1)).await.unwrap().unwrap();
    wait(written("b", 4)).await.unwrap().unwrap();
    // The version itself, and a later one.
    let waits = wait(written("a", 9));
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert!(!waits.is_finished());
    watch.event("MODIFIED", &map("a", 9));
    waits.await.unwrap().unwrap();
    let waits = wait(written("a", 10));
    watch.event("MODIFIED", &map("a", 11));
    waits.await.unwrap().unwrap();
    // Deleted meanwhile, or not selected.
    let waits = wait(written("c", 20));
    watch.bookmark("21", false);
    waits.await.unwrap().unwrap();

    // The response to the removal of the last finalizer has the version before.
    let mut removed = map("a", 11);
    removed["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z".into();
    let waits = wait(serde_json::from_value(removed).unwrap());
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert!(!waits.is_finished());
    watch.event("DELETED", &map("a", 22));
    waits.await.unwrap().unwrap();

    let error = wait(written("a", 100)).await.unwrap().unwrap_err().to_string();
    assert_eq!(error, "the cache of configmaps has not shown the write of \"default/a\" after 5s");
    let waits = wait(written("a", 100));
    tokio::time::sleep(Duration::from_secs(1)).await;
    informer.shutdown().await;
    assert!(matches!(waits.await.unwrap(), Err(InformerError::Stopped { .. })));
}
