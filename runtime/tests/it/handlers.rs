//! Event handlers that do not return: they are reported, and the others continue.
//!
//! A blocked thread blocks in real time, so these tests have short limits instead of a paused clock. The
//! tests beside the code check with invented times when a call is reported.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

use k8s_openapi::api::core::v1::ConfigMap;
use kube::api::{Api, ObjectMeta, PostParams};
use kubesmith_runtime::client::connect;
use kubesmith_runtime::informer::{
    Deleted, EventKind, HandlerOptions, InformerOptions, ResourceEventHandler, SharedInformer, SlowCall,
};
use kubesmith_runtime::metrics::Registry;
use kubesmith_testenv::TestEnv;

use crate::fake::{FakeServer, map, show_one};

const LIMIT: Duration = Duration::from_millis(40);
const PATIENCE: Duration = Duration::from_secs(30);

/// Blocks the thread that delivers `b`, until it is released.
#[derive(Clone, Default)]
struct Stuck {
    told: Arc<Mutex<Vec<String>>>,
    gate: Arc<(Mutex<bool>, Condvar)>,
}

impl Stuck {
    fn let_go(&self) {
        *self.gate.0.lock().unwrap() = true;
        self.gate.1.notify_all();
    }

    fn told(&self) -> Vec<String> {
        self.told.lock().unwrap().clone()
    }

    fn hear(&self, map: &ConfigMap) {
        if map.metadata.name.as_deref() == Some("b") {
            let open = self.gate.0.lock().unwrap();
            // With a limit, because a failing test has to end.
            drop(self.gate.1.wait_timeout_while(open, PATIENCE, |open| !*open).unwrap());
        }
        let thread = std::thread::current().name().unwrap_or_default().to_owned();
        self.told.lock().unwrap().push(format!("{} {thread}", show_one(map)));
    }
}

impl ResourceEventHandler<ConfigMap> for Stuck {
    fn on_add(&self, object: Arc<ConfigMap>, _: bool) {
        self.hear(&object);
    }

    fn on_update(&self, _: Arc<ConfigMap>, new: Arc<ConfigMap>) {
        self.hear(&new);
    }
}

/// Records updates and deletions once the first `b` is released.
#[derive(Clone, Default)]
struct Writing(Stuck, Arc<Mutex<Vec<String>>>);

impl ResourceEventHandler<ConfigMap> for Writing {
    fn on_add(&self, object: Arc<ConfigMap>, _: bool) {
        self.0.hear(&object);
    }

    fn on_update(&self, old: Arc<ConfigMap>, new: Arc<ConfigMap>) {
        self.1.lock().unwrap().push(format!("{}>{}", show_one(&old), show_one(&new)));
    }

    fn on_delete(&self, deleted: Deleted<ConfigMap>) {
        self.1.lock().unwrap().push(format!("-{}", show_one(deleted.object())));
    }
}

/// Counts its notifications.
#[derive(Clone, Default)]
struct Counting(Arc<AtomicUsize>);

impl ResourceEventHandler<ConfigMap> for Counting {
    fn on_add(&self, _: Arc<ConfigMap>, _: bool) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }

    fn on_update(&self, _: Arc<ConfigMap>, _: Arc<ConfigMap>) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

fn reports() -> (Arc<Mutex<Vec<SlowCall>>>, HandlerOptions) {
    let reports: Arc<Mutex<Vec<SlowCall>>> = Arc::default();
    let log = reports.clone();
    let hook = move |call: &SlowCall| log.lock().unwrap().push(call.clone());
    (reports, HandlerOptions::new().name("stuck").call_limit(LIMIT).on_slow_call(hook))
}

async fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let begin = Instant::now();
    while !holds() {
        assert!(begin.elapsed() < PATIENCE, "{what}");
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn stuck_handler_is_reported_and_gets_a_thread() {
    let mut server = FakeServer::new();
    let registry = Registry::new();
    let informer = SharedInformer::<ConfigMap>::new(server.client(), InformerOptions::new());
    informer.register_metrics(&registry, "");
    let (reports, options) = reports();
    let stuck = Stuck::default();
    let registration =
        informer.add_event_handler_with_options(stuck.clone(), options.queue_limit(2)).unwrap();
    let counting = Counting::default();
    informer.add_event_handler(counting.clone()).unwrap();
    informer.start();
    let watch = server.sync(&[map("a", 1), map("b", 2)], "5").await;
    until("the call is reported twice", || reports.lock().unwrap().len() >= 2).await;
    let (first, second) = {
        let reports = reports.lock().unwrap();
        (reports[0].clone(), reports[1].clone())
    };
    assert_eq!((&*first.resource, &*first.handler, first.event), ("configmaps", "stuck", EventKind::Add));
    assert_eq!(first.key.as_str(), "default/b");
    assert!(first.running >= LIMIT && second.running >= 2 * LIMIT, "{first:?} {second:?}");

    // All other handlers continue, and the backlog of this handler is bounded.
    for version in 6..1006 {
        watch.event("MODIFIED", &map("a", version));
    }
    until("the other handler is told everything", || counting.0.load(Ordering::SeqCst) == 1002).await;
    let state = registration.state();
    assert!(state.waiting <= 3 && state.merged >= 990, "{state:?}");
    assert_eq!((state.slow_calls, state.has_synced), (1, false));
    assert!(state.in_call.is_some_and(|call| call.key.as_str() == "default/b" && call.running >= LIMIT));
    assert_eq!(informer.state().handlers.len(), 2);
    let text = registry.encode();
    let labels = r#"{name="",group="",version="v1",resource="configmaps"}"#;
    for (name, value) in [("handler_slow_calls_total", 1), ("handler_panics_total", 0)] {
        let line = format!("informer_{name}{labels} {value}\n");
        assert!(text.contains(&line), "no {line} in\n{text}");
    }
    assert!(
        !text.contains(&format!("informer_handler_longest_running_call_seconds{labels} 0.0\n")),
        "{text}"
    );

    // The last state arrives, on a thread that delays no other handler.
    stuck.let_go();
    until("the last state arrives", || stuck.told().iter().any(|told| told.starts_with("a@1005"))).await;
    assert!(registration.state().has_thread && registration.has_synced());
    until("the call is over", || registration.state().in_call.is_none()).await;
    assert_eq!(registration.state().slow_calls, 1);
    informer.shutdown().await;
}

/// A handler that maps objects to owners needs the deletion of the state that it knows, even if other states
/// followed.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn merged_deletion_delivers_the_last_state_first() {
    let mut server = FakeServer::new();
    let informer = SharedInformer::<ConfigMap>::new(server.client(), InformerOptions::new());
    let writing = Writing::default();
    let options = HandlerOptions::new().blocking().queue_limit(1);
    let registration = informer.add_event_handler_with_options(writing.clone(), options).unwrap();
    informer.start();
    let watch = server.sync(&[map("a", 1), map("b", 2), map("c", 3)], "5").await;
    until("the handler is stuck", || {
        registration.state().in_call.is_some_and(|call| call.key.as_str() == "default/b")
    })
    .await;
    watch.event("MODIFIED", &map("a", 6));
    watch.event("MODIFIED", &map("a", 7));
    watch.event("DELETED", &map("a", 8));
    watch.event("MODIFIED", &map("c", 9));
    until("the changes are there", || informer.store().resource_version() == "9").await;
    writing.0.let_go();
    until("the last is told", || writing.1.lock().unwrap().iter().any(|told| told.ends_with("c@9"))).await;
    let told = writing.1.lock().unwrap().clone();
    assert_eq!(told, ["a@1>a@8", "-a@8", "c@3>c@9"]);
    informer.shutdown().await;
}

/// Real sockets: nothing but their readiness wakes the informer's runtime.
#[test]
fn sockets_are_read_while_a_handler_blocks_a_worker() {
    let (sender, receiver) = std::sync::mpsc::channel();
    let (done, wait_for_done) = tokio::sync::oneshot::channel::<()>();
    let server = std::thread::spawn(move || {
        tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
            let mut env = TestEnv::builder().start().await.unwrap();
            sender.send(env.config().await.unwrap()).unwrap();
            let _ = wait_for_done.await;
            env.stop().await;
        });
    });
    let config = receiver.recv().unwrap();
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let informer = runtime.block_on(async {
        let client = connect(config.clone()).await.unwrap();
        SharedInformer::<ConfigMap>::new(client, InformerOptions::new().namespace("default"))
    });
    let (reports, options) = reports();
    let stuck = Stuck::default();
    informer.add_event_handler_with_options(stuck.clone(), options).unwrap();
    runtime.block_on(async { informer.start() });

    // Writes come from a runtime of their own, so that nothing but the informer's sockets wakes its runtime.
    let writer = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    writer.block_on(async {
        let api: Api<ConfigMap> = Api::namespaced(connect(config).await.unwrap(), "default");
        let create = async |name: &str| {
            let metadata = ObjectMeta { name: Some(name.to_owned()), ..ObjectMeta::default() };
            let map = ConfigMap { metadata, ..ConfigMap::default() };
            api.create(&PostParams::default(), &map).await.unwrap();
        };
        until("the informer has synced", || informer.has_synced()).await;
        create("b").await;
        until("the handler is stuck", || !reports.lock().unwrap().is_empty()).await;
        for number in 0..20 {
            create(&format!("c{number}")).await;
            until("the cache goes on", || informer.store().len() == 2 + number).await;
        }
    });
    stuck.let_go();
    runtime.block_on(informer.shutdown());
    done.send(()).unwrap();
    server.join().unwrap();
}

#[tokio::test]
async fn blocked_single_threaded_runtime_is_reported() {
    let mut server = FakeServer::new();
    let informer = SharedInformer::<ConfigMap>::new(server.client(), InformerOptions::new());
    let (reports, options) = reports();
    let stuck = Stuck::default();
    informer.add_event_handler_with_options(stuck.clone(), options).unwrap();
    informer.start();
    let _watch = server.sync(&[map("b", 2)], "5").await;
    // Another thread has to release it, because this thread is the blocked one.
    let watcher = std::thread::spawn(move || {
        let begin = Instant::now();
        while reports.lock().unwrap().is_empty() && begin.elapsed() < PATIENCE {
            std::thread::sleep(Duration::from_millis(2));
        }
        stuck.let_go();
        reports.lock().unwrap().len()
    });
    informer.wait_for_sync(PATIENCE).await.unwrap();
    tokio::task::spawn_blocking(move || assert!(watcher.join().unwrap() > 0)).await.unwrap();
    informer.shutdown().await;
}

struct PanicsOnce(Arc<AtomicUsize>);

impl ResourceEventHandler<ConfigMap> for PanicsOnce {
    fn on_add(&self, _: Arc<ConfigMap>, _: bool) {
        assert_ne!(self.0.fetch_add(1, Ordering::SeqCst), 0, "the test wants this panic");
    }
}

#[tokio::test(start_paused = true)]
async fn panics_of_a_removed_handler_are_still_counted() {
    let mut server = FakeServer::new();
    let registry = Registry::new();
    let informer = SharedInformer::<ConfigMap>::new(server.client(), InformerOptions::new());
    informer.register_metrics(&registry, "");
    let calls = Arc::new(AtomicUsize::new(0));
    let registration = informer.add_event_handler(PanicsOnce(calls.clone())).unwrap();
    informer.start();
    let _watch = server.sync(&[map("a", 1), map("b", 2)], "5").await;
    registration.synced().await;
    let state = registration.state();
    assert_eq!((state.name.as_str(), state.panics, calls.load(Ordering::SeqCst)), ("handler 0", 1, 2));
    informer.remove_event_handler(&registration).unwrap();
    while !informer.state().handlers.is_empty() {
        tokio::task::yield_now().await;
    }
    let labels = r#"{name="",group="",version="v1",resource="configmaps"}"#;
    let line = format!("informer_handler_panics_total{labels} 1\n");
    assert!(registry.encode().contains(&line), "{}", registry.encode());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn removing_a_stuck_handler_drops_its_waiting_changes() {
    let mut server = FakeServer::new();
    let informer = SharedInformer::<ConfigMap>::new(server.client(), InformerOptions::new());
    let (reports, options) = reports();
    let stuck = Stuck::default();
    let registration = informer.add_event_handler_with_options(stuck.clone(), options).unwrap();
    informer.start();
    let watch = server.sync(&[map("b", 2)], "5").await;
    until("the handler is stuck", || !reports.lock().unwrap().is_empty()).await;
    for version in 6..106 {
        watch.event("MODIFIED", &map("a", version));
    }
    until("changes wait", || registration.state().waiting >= 100).await;
    informer.remove_event_handler(&registration).unwrap();
    until("nothing waits", || registration.state().waiting == 0).await;
    stuck.let_go();
    informer.shutdown().await;
    assert_eq!(stuck.told().len(), 1, "no call after the removal");
}
