//! Informers of several namespaces.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use k8s_openapi::api::core::v1::{ConfigMap, Node};
use kubesmith_runtime::informer::{
    InformerOptions, ResourceEventHandlerFuncs, SharedInformer, SharedInformerFactory,
};

use crate::fake::{Call, FakeServer, Sending, map_in, show, status};

type Informer = SharedInformer<ConfigMap>;

fn informer(server: &FakeServer) -> Informer {
    let options = InformerOptions::new().namespaces(["b", "a", "b"]);
    let informer = SharedInformer::new(server.client(), options);
    informer.start();
    informer
}

/// The next two requests, that for namespace `a` first.
async fn both(server: &mut FakeServer) -> [Call; 2] {
    let mut calls = [server.streaming_list().await, server.streaming_list().await];
    calls.sort_by_key(|call| call.path.clone());
    let paths = calls.each_ref().map(|call| call.path.as_str());
    assert_eq!(paths, ["/api/v1/namespaces/a/configmaps", "/api/v1/namespaces/b/configmaps"]);
    calls
}

fn listed(call: Call, namespace: &str, objects: &[(&str, u64)], version: &str) -> Sending {
    let sending = call.ok();
    for (name, version) in objects {
        sending.event("ADDED", &map_in(namespace, name, *version));
    }
    sending.bookmark(version, true);
    sending
}

/// Lets paused time run until all tasks are idle.
async fn quiet() {
    tokio::time::sleep(Duration::from_millis(100)).await;
}

#[tokio::test(start_paused = true)]
async fn each_namespace_has_its_own_watch() {
    let mut server = FakeServer::new();
    let informer = informer(&server);
    let initial = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&initial);
    let handler = ResourceEventHandlerFuncs::new().on_add(move |map: Arc<ConfigMap>, is_initial| {
        seen.lock().unwrap().push((map.metadata.name.clone().unwrap(), is_initial));
    });
    let registration = informer.add_event_handler(handler).unwrap();
    let [a, b] = both(&mut server).await;
    let watch_a = listed(a, "a", &[("x", 1), ("y", 2)], "10");
    quiet().await;
    assert_eq!(show(&informer.store().list()), ["x@1", "y@2"]);
    assert!(!informer.has_synced() && !registration.has_synced(), "the other one is not listed yet");
    assert_eq!(informer.last_sync_resource_version(), "");
    watch_a.event("ADDED", &map_in("a", "z", 11));
    quiet().await;
    let watch_b = listed(b, "b", &[("x", 3)], "9");
    quiet().await;
    assert!(informer.has_synced() && registration.has_synced());
    assert_eq!(informer.last_sync_resource_version(), "9", "what both have reached");
    assert_eq!(show(&informer.store().list()), ["x@1", "y@2", "z@11", "x@3"]);
    watch_b.bookmark("12", false);
    quiet().await;
    assert_eq!(informer.last_sync_resource_version(), "11");
    let expected = [("x", true), ("y", true), ("z", false), ("x", true)];
    assert_eq!(*initial.lock().unwrap(), expected.map(|(name, is_initial)| (name.to_owned(), is_initial)));
}

#[tokio::test(start_paused = true)]
async fn relist_of_one_namespace_does_not_affect_the_other() {
    let mut server = FakeServer::new();
    let informer = informer(&server);
    let [a, b] = both(&mut server).await;
    let watch_a = listed(a, "a", &[("x", 1), ("y", 2)], "10");
    let _watch_b = listed(b, "b", &[("x", 3)], "10");
    quiet().await;
    watch_a.event("ERROR", &status(410, "Expired"));
    let again = server.streaming_list().await;
    assert_eq!(again.path, "/api/v1/namespaces/a/configmaps");
    let _watch_a = listed(again, "a", &[("y", 12)], "13");
    quiet().await;
    assert_eq!(show(&informer.store().list()), ["y@12", "x@3"]);
}

#[tokio::test(start_paused = true)]
async fn forbidden_namespace_is_reported_and_the_other_is_cached() {
    let mut server = FakeServer::new();
    let informer = informer(&server);
    let [a, b] = both(&mut server).await;
    b.refuse(403, "Forbidden");
    let _watch_a = listed(a, "a", &[("x", 1)], "10");
    // Streaming is refused, so it is tried in pages.
    let list = server.list().await;
    assert_eq!(list.path, "/api/v1/namespaces/b/configmaps");
    list.refuse(403, "Forbidden");
    quiet().await;
    assert_eq!(show(&informer.store().list()), ["x@1"]);
    assert!(!informer.has_synced());
    assert!(informer.last_error().unwrap().contains("Forbidden"), "what works does not hide it");
    server.list().await.page(&[map_in("b", "z", 4)], "11", None);
    let _watch_b = server.watch().await.ok();
    quiet().await;
    assert_eq!((informer.has_synced(), informer.last_error()), (true, None));
}

#[tokio::test(start_paused = true)]
async fn cluster_scoped_kinds_have_no_namespaces() {
    let mut server = FakeServer::new();
    let factory = SharedInformerFactory::builder(server.client()).namespaces(["a", "b"]).build();
    let factory: SharedInformerFactory = factory;
    let _nodes = factory.informer_for::<Node>();
    factory.start();
    assert_eq!(server.streaming_list().await.path, "/api/v1/nodes");
    quiet().await;
    assert!(server.is_quiet());
    let _maps = factory.informer_for::<ConfigMap>();
    factory.start();
    both(&mut server).await;
    assert_eq!(factory.namespaces(), ["a", "b"]);
}
