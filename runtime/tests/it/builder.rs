//! Controllers built from informers: which change queues which key.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use k8s_openapi::api::core::v1::{ConfigMap, Node, Pod};
use kubesmith_runtime::cache::{Indexer, ObjectKey};
use kubesmith_runtime::controller::{
    Action, BuildError, CancellationToken, ControllerBuilder, ControllerError, Predicate, ReconcileError,
    Watch, reconcile_fn,
};
use kubesmith_runtime::informer::{InformerOptions, SharedInformer};
use kubesmith_runtime::labels::Selector;
use serde_json::{Value, json};
use tokio::task::JoinHandle;
use tokio::time::sleep;

use crate::fake::{FakeServer, map};

const SECOND: Duration = Duration::from_secs(1);

fn pod(name: &str, version: u64, generation: u64) -> Value {
    json!({
        "kind": "Pod", "apiVersion": "v1",
        "metadata": {
            "name": name, "namespace": "default", "uid": name, "resourceVersion": version.to_string(),
            "generation": generation,
        },
    })
}

fn owned(name: &str, version: u64, kind: &str, owner: &str) -> Value {
    let mut map = map(name, version);
    map["metadata"]["ownerReferences"] =
        json!([{ "apiVersion": "v1", "kind": kind, "name": owner, "uid": owner, "controller": true }]);
    map
}

/// What was reconciled, in order.
#[derive(Clone, Default)]
struct Seen(Arc<Mutex<Vec<String>>>);

impl Seen {
    /// Lets paused time run until all tasks are idle, and takes the recorded keys.
    async fn take(&self) -> Vec<String> {
        sleep(SECOND).await;
        std::mem::take(&mut self.0.lock().unwrap())
    }
}

struct Running {
    seen: Seen,
    stop: CancellationToken,
    run: JoinHandle<Result<(), ControllerError>>,
}

impl Running {
    fn start(builder: ControllerBuilder) -> Self {
        let seen = Seen::default();
        let log = seen.clone();
        let reconciler = reconcile_fn(move |key: ObjectKey| {
            log.0.lock().unwrap().push(key.to_string());
            async { Ok(Action::done()) }
        });
        let stop = CancellationToken::new();
        let run = tokio::spawn(builder.complete(reconciler).unwrap().run(stop.clone()));
        Running { seen, stop, run }
    }

    async fn stop(self) {
        self.stop.cancel();
        self.run.await.unwrap().unwrap();
    }
}

fn informer<K>(server: &FakeServer) -> SharedInformer<K>
where
    K: kube::Resource<DynamicType = ()> + serde::de::DeserializeOwned + Send + Sync + 'static,
{
    let informer = SharedInformer::new(server.client(), InformerOptions::new());
    informer.start();
    informer
}

#[tokio::test(start_paused = true)]
async fn changes_of_the_primary_kind_queue_its_key() {
    let mut server = FakeServer::new();
    let pods: SharedInformer<Pod> = informer(&server);
    let running = Running::start(ControllerBuilder::new("pods").for_(&pods));
    let watch = server.sync(&[pod("a", 1, 1), pod("b", 2, 1)], "5").await;
    assert_eq!(running.seen.take().await, ["default/a", "default/b"]);
    watch.event("MODIFIED", &pod("a", 6, 1));
    assert_eq!(running.seen.take().await, ["default/a"]);
    watch.event("DELETED", &pod("b", 7, 1));
    assert_eq!(running.seen.take().await, ["default/b"]);
    running.stop().await;
}

#[tokio::test(start_paused = true)]
async fn predicates_filter_changes() {
    let mut server = FakeServer::new();
    let pods: SharedInformer<Pod> = informer(&server);
    let watch = Watch::on(&pods).filter(Predicate::generation_changed());
    let running = Running::start(ControllerBuilder::new("pods").for_(watch));
    let watch = server.sync(&[pod("a", 1, 1)], "5").await;
    assert_eq!(running.seen.take().await, ["default/a"]);
    watch.event("MODIFIED", &pod("a", 6, 1));
    assert!(running.seen.take().await.is_empty(), "only the status has changed");
    watch.event("MODIFIED", &pod("a", 7, 2));
    assert_eq!(running.seen.take().await, ["default/a"]);
    running.stop().await;
}

#[tokio::test(start_paused = true)]
async fn owned_objects_queue_their_controller() {
    let (mut of_pods, mut of_maps) = (FakeServer::new(), FakeServer::new());
    let pods: SharedInformer<Pod> = informer(&of_pods);
    let maps: SharedInformer<ConfigMap> = informer(&of_maps);
    let running = Running::start(ControllerBuilder::new("pods").for_(&pods).owns(&maps));
    let _pods = of_pods.sync(&[], "5").await;
    let watch = of_maps.sync(&[map("nobodys", 1), owned("of-a-job", 2, "Job", "x")], "5").await;
    assert!(running.seen.take().await.is_empty());
    watch.event("ADDED", &owned("m", 6, "Pod", "a"));
    assert_eq!(running.seen.take().await, ["default/a"]);
    watch.event("MODIFIED", &owned("m", 7, "Pod", "b"));
    assert_eq!(running.seen.take().await, ["default/a", "default/b"], "the old owner and the new one");
    watch.event("DELETED", &owned("m", 8, "Pod", "b"));
    assert_eq!(running.seen.take().await, ["default/b"]);
    running.stop().await;
}

#[tokio::test(start_paused = true)]
async fn cluster_scoped_owners_have_keys_without_namespace() {
    let (mut of_nodes, mut of_maps) = (FakeServer::new(), FakeServer::new());
    let nodes: SharedInformer<Node> = informer(&of_nodes);
    let maps: SharedInformer<ConfigMap> = informer(&of_maps);
    let running = Running::start(ControllerBuilder::new("nodes").for_(&nodes).owns(&maps));
    let _nodes = of_nodes.sync(&[], "5").await;
    let _maps = of_maps.sync(&[owned("m", 6, "Node", "n")], "5").await;
    assert_eq!(running.seen.take().await, ["n"]);
    running.stop().await;
}

#[tokio::test(start_paused = true)]
async fn watched_objects_queue_their_mapped_keys() {
    let mut server = FakeServer::new();
    let maps: SharedInformer<ConfigMap> = informer(&server);
    let users = |map: &ConfigMap| {
        let users = map.data.as_ref().and_then(|data| data.get("users")).cloned().unwrap_or_default();
        users.split(',').map(ObjectKey::cluster).collect::<Vec<_>>()
    };
    let selected = Predicate::label_selector("tier=web".parse::<Selector>().unwrap());
    let running =
        Running::start(ControllerBuilder::new("users").watches(Watch::on(&maps).filter(selected), users));
    let with_users = |version: u64, tier: &str, users: &str| {
        let mut map = map("m", version);
        map["metadata"]["labels"] = json!({ "tier": tier });
        map["data"] = json!({ "users": users });
        map
    };
    let watch = server.sync(&[with_users(1, "web", "x,y")], "5").await;
    assert_eq!(running.seen.take().await, ["x", "y"]);
    watch.event("MODIFIED", &with_users(6, "web", "y,z"));
    assert_eq!(running.seen.take().await, ["x", "y", "z"], "who used it and who uses it");
    watch.event("MODIFIED", &with_users(7, "db", "y,z"));
    assert!(running.seen.take().await.is_empty());
    running.stop().await;
}

#[tokio::test(start_paused = true)]
async fn controllers_without_source_or_primary_kind_are_refused() {
    let server = FakeServer::new();
    let maps: SharedInformer<ConfigMap> = SharedInformer::new(server.client(), InformerOptions::new());
    let reconciler = || reconcile_fn(|_: ObjectKey| async { Ok(Action::done()) });
    let error = ControllerBuilder::new("idle").complete(reconciler()).unwrap_err();
    assert!(matches!(error, BuildError::NoSource { .. }), "{error}");
    let error = ControllerBuilder::new("x").owns(&maps).complete(reconciler()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "controller \"x\" owns configmaps but has no primary kind: call for_ before owns"
    );
    maps.shutdown().await;
    let error = ControllerBuilder::new("x").for_(&maps).complete(reconciler()).unwrap_err();
    assert!(matches!(error, BuildError::Informer { .. }), "{error}");
}

#[tokio::test(start_paused = true)]
async fn cache_that_does_not_fill_is_named_with_its_error() {
    let mut server = FakeServer::new();
    let pods: SharedInformer<Pod> = informer(&server);
    let reconciler = reconcile_fn(|_: ObjectKey| async { Ok(Action::done()) });
    let controller = ControllerBuilder::new("pods").for_(&pods).complete(reconciler).unwrap();
    let run = tokio::spawn(controller.run(CancellationToken::new()));
    let refuse = async {
        loop {
            server.call().await.refuse(403, "Forbidden");
        }
    };
    tokio::select! {
        () = refuse => {}
        result = run => {
            let text = result.unwrap().unwrap_err().to_string();
            assert!(text.contains("120 s for the caches of pods ("), "{text}");
            assert!(text.contains("Forbidden"), "{text}");
        }
    }
}

#[test]
fn predicates_combine() {
    let with_label = |value: &str| -> Pod {
        serde_json::from_value(json!({ "metadata": { "labels": { "a": value }, "generation": 1 } })).unwrap()
    };
    let (one, two) = (with_label("1"), with_label("2"));
    let labels = Predicate::<Pod>::labels_changed;
    let generation = Predicate::<Pod>::generation_changed;
    assert!(labels().passes_update(&one, &two) && !labels().passes_update(&one, &one));
    assert!(!labels().and(generation()).passes_update(&one, &two));
    assert!(labels().or(generation()).passes_update(&one, &two));
    assert!(!labels().negate().passes_update(&one, &two) && !labels().negate().passes_create(&one));
    assert!(!Predicate::<Pod>::annotations_changed().passes_update(&one, &two));
    assert!(!Predicate::<Pod>::resource_version_changed().passes_update(&one, &two));
    let never = Predicate::<Pod>::new().on_create(|_| false).on_delete(|_| false).on_update(|_, _| false);
    assert!(!never.passes_create(&one) && !never.passes_delete(&one) && !never.passes_update(&one, &two));
}

#[tokio::test(start_paused = true)]
async fn watched_objects_queue_primaries_that_refer_to_them() {
    let mut server = FakeServer::new();
    let pods: SharedInformer<Pod> = informer(&server);
    let pods_sent = server.streaming_list().await.ok();
    let maps: SharedInformer<ConfigMap> = informer(&server);
    let maps_sent = server.streaming_list().await.ok();
    for (name, uses) in [("web", "a"), ("db", "b"), ("api", "a")] {
        let mut pod = pod(name, 1, 1);
        pod["metadata"]["annotations"] = json!({ "uses": format!("default/{uses}") });
        pods_sent.event("ADDED", &pod);
    }
    pods_sent.bookmark("5", true);
    maps_sent.event("ADDED", &map("a", 2));
    maps_sent.bookmark("5", true);
    let uses = || {
        Indexer::new("uses", |pod: &Pod| {
            pod.metadata.annotations.iter().filter_map(|all| all.get("uses").cloned()).collect()
        })
    };
    let builder = ControllerBuilder::new("pods").for_(&pods).watches_indexed(&maps, &pods, uses());
    let running = Running::start(builder);
    assert_eq!(running.seen.take().await.len(), 3);
    maps_sent.event("MODIFIED", &map("a", 6));
    assert_eq!(running.seen.take().await, ["default/api", "default/web"]);
    maps_sent.event("ADDED", &map("c", 7));
    assert_eq!(running.seen.take().await, Vec::<String>::new(), "nobody names it");
    // The next state of a pod counts, and a second controller may use the same index.
    let mut moved = pod("web", 8, 1);
    moved["metadata"]["annotations"] = json!({ "uses": "default/c" });
    pods_sent.event("MODIFIED", &moved);
    assert_eq!(running.seen.take().await, ["default/web"]);
    let second = Running::start(ControllerBuilder::new("maps").watches_indexed(&maps, &pods, uses()));
    second.seen.take().await;
    maps_sent.event("DELETED", &map("c", 9));
    assert_eq!(running.seen.take().await, ["default/web"]);
    assert_eq!(second.seen.take().await, ["default/web"]);
    running.stop().await;
    second.stop().await;
}

#[tokio::test(start_paused = true)]
async fn error_policy_sees_the_object_and_decides_when_the_key_comes_again() {
    let mut server = FakeServer::new();
    let maps = informer::<ConfigMap>(&server);
    let seen = Seen::default();
    let log = seen.clone();
    let builder = ControllerBuilder::new("maps").for_(&maps).error_policy(&maps, |map, error| {
        assert_eq!(error.to_string(), "no");
        let is_a = map.is_some_and(|map| map.metadata.name.as_deref() == Some("a"));
        is_a.then(|| Action::requeue_after(60 * SECOND))
    });
    let start = tokio::time::Instant::now();
    let reconciler = reconcile_fn(move |key: ObjectKey| {
        log.0.lock().unwrap().push(format!("{} {}", key.name(), start.elapsed().as_secs()));
        async { Err(ReconcileError::new("no")) }
    });
    let stop = CancellationToken::new();
    let run = tokio::spawn(builder.complete(reconciler).unwrap().max_retries(1).run(stop.clone()));
    let _watch = server.sync(&[map("a", 1), map("b", 2)], "5").await;
    sleep(90 * SECOND).await;
    let mut seen = seen.take().await;
    seen.sort();
    assert_eq!(seen, ["a 0", "a 60", "b 0", "b 0"], "b is retried once, at the rate limiter's pace");
    stop.cancel();
    run.await.unwrap().unwrap();
}
