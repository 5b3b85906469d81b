//! List and watch against a scripted server: the cache converges to the server's state after every failure.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use k8s_openapi::api::core::v1::ConfigMap;
use kubesmith_runtime::informer::{InformerOptions, ResourceEventHandlerFuncs, SharedInformer};
use serde_json::json;
use tokio::time::Instant;

use crate::fake::{FakeServer, broken, map, map_in, show, shows, status};

fn informer(server: &FakeServer) -> SharedInformer<ConfigMap> {
    let informer = SharedInformer::new(server.client(), InformerOptions::new());
    informer.start();
    informer
}

fn paged(server: &FakeServer) -> SharedInformer<ConfigMap> {
    let options = InformerOptions::new().paged_lists();
    let informer = SharedInformer::new(server.client(), options);
    informer.start();
    informer
}

async fn synced(informer: &SharedInformer<ConfigMap>) {
    informer.wait_for_sync(Duration::from_secs(60)).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn streaming_list_syncs_at_its_bookmark_and_continues() {
    let mut server = FakeServer::new();
    let informer = informer(&server);
    let call = server.streaming_list().await;
    assert_eq!(call.path, "/api/v1/configmaps");
    assert_eq!(call.get("resourceVersion"), None);
    let timeout: u64 = call.get("timeoutSeconds").unwrap().parse().unwrap();
    assert!((300..=600).contains(&timeout), "{timeout}");
    let watch = call.ok();
    watch.event("ADDED", &map("b", 2));
    watch.event("ADDED", &map("a", 1));
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert!(!informer.has_synced() && informer.store().is_empty());
    watch.bookmark("5", true);
    synced(&informer).await;
    assert_eq!(show(&informer.store().list()), ["a@1", "b@2"]);
    assert_eq!(informer.last_sync_resource_version(), "5");
    watch.event("MODIFIED", &map("a", 6));
    watch.event("DELETED", &map("b", 7));
    watch.event("ADDED", &map("c", 8));
    shows(&informer, &["a@6", "c@8"]).await;
    assert_eq!(informer.last_sync_resource_version(), "8");
    informer.shutdown().await;
}

#[tokio::test(start_paused = true)]
async fn server_without_streaming_lists_is_listed_in_pages() {
    let mut server = FakeServer::new();
    let informer = informer(&server);
    server.streaming_list().await.refuse(422, "Invalid");
    let first = server.list().await;
    assert_eq!((first.get("limit"), first.get("resourceVersion")), (Some("500"), Some("0")));
    first.page(&[map("a", 1)], "10", Some("next"));
    let second = server.list().await;
    assert_eq!((second.get("continue"), second.get("resourceVersion")), (Some("next"), None));
    assert!(!informer.has_synced());
    second.page(&[map("b", 2)], "10", None);
    let watch = server.watch().await;
    assert_eq!(watch.get("resourceVersion"), Some("10"));
    synced(&informer).await;
    shows(&informer, &["a@1", "b@2"]).await;
    watch.ok().event("ERROR", &status(410, "Expired"));
    let relist = server.list().await;
    assert_eq!((relist.get("resourceVersion"), relist.get("limit")), (None, Some("500")));
}

#[tokio::test(start_paused = true)]
async fn silent_streaming_list_is_replaced_by_pages() {
    let mut server = FakeServer::new();
    let informer = informer(&server);
    let silent = server.streaming_list().await.ok();
    silent.event("ADDED", &map("a", 1));
    server.list().await.page(&[map("b", 2)], "3", None);
    synced(&informer).await;
    assert!(silent.is_closed());
    shows(&informer, &["b@2"]).await;
}

#[tokio::test(start_paused = true)]
async fn objects_of_a_page_arrive_in_any_pieces_and_order_of_fields() {
    let mut server = FakeServer::new();
    let informer = paged(&server);
    let body = json!({
        "apiVersion": "v1", "items": [map("a", 1), map("b", 2)], "kind": "ConfigMapList",
        "metadata": { "remainingItemCount": 0, "resourceVersion": "9" },
    });
    let sending = server.list().await.ok();
    for byte in body.to_string().into_bytes() {
        sending.bytes(vec![byte]);
    }
    drop(sending);
    assert_eq!(server.watch().await.get("resourceVersion"), Some("9"));
    shows(&informer, &["a@1", "b@2"]).await;
}

#[tokio::test(start_paused = true)]
async fn expired_watch_event_causes_a_relist_with_synthetic_deletes() {
    let mut server = FakeServer::new();
    let informer = informer(&server);
    let watch = server.sync(&[map("a", 1), map("b", 2)], "5").await;
    synced(&informer).await;
    watch.event("ERROR", &status(410, "Expired"));
    let again = server.streaming_list().await;
    assert_eq!(again.get("resourceVersion"), None, "the expired version is not asked for");
    let watch = again.ok();
    watch.event("ADDED", &map("b", 8));
    watch.bookmark("9", true);
    shows(&informer, &["b@8"]).await;
    assert_eq!(informer.last_error(), None);
}

#[tokio::test(start_paused = true)]
async fn expired_watch_request_causes_a_relist() {
    let mut server = FakeServer::new();
    let informer = informer(&server);
    let watch = server.sync(&[map("a", 1)], "5").await;
    synced(&informer).await;
    tokio::time::sleep(Duration::from_secs(60)).await;
    drop(watch);
    let asked = Instant::now();
    server.watch().await.refuse(410, "Gone");
    let _watch = server.sync(&[map("c", 3)], "20").await;
    assert!(asked.elapsed() < Duration::from_millis(100), "the first relist is at once");
    shows(&informer, &["c@3"]).await;
}

#[tokio::test(start_paused = true)]
async fn expired_continue_token_causes_one_full_list() {
    let mut server = FakeServer::new();
    let informer = paged(&server);
    server.list().await.page(&[map("a", 1)], "10", Some("token"));
    server.list().await.refuse(410, "Expired");
    let whole = server.list().await;
    assert_eq!((whole.get("limit"), whole.get("continue"), whole.get("resourceVersion")), (None, None, None));
    whole.page(&[map("a", 11), map("b", 12)], "12", None);
    server.watch().await;
    shows(&informer, &["a@11", "b@12"]).await;
}

#[tokio::test(start_paused = true)]
async fn failed_page_is_requested_again_without_duplicates() {
    let mut server = FakeServer::new();
    let informer = paged(&server);
    server.list().await.page(&[map("a", 1)], "10", Some("token"));
    let broken_off = server.list().await.ok();
    broken_off.bytes(format!(r#"{{"metadata":{{"resourceVersion":"10"}},"items":[{},"#, map("b", 2)));
    broken_off.abort();
    let again = server.list().await;
    assert_eq!(again.get("continue"), Some("token"));
    again.page(&[map("c", 3)], "10", None);
    server.watch().await;
    shows(&informer, &["a@1", "c@3"]).await;
}

#[tokio::test(start_paused = true)]
async fn version_unknown_to_the_server_is_dropped() {
    let mut server = FakeServer::new();
    let informer = informer(&server);
    let watch = server.sync(&[map("a", 1)], "50").await;
    synced(&informer).await;
    drop(watch);
    let refused = json!({
        "kind": "Status", "status": "Failure", "reason": "Timeout", "code": 504,
        "message": "Too large resource version: 50, current: 3",
        "details": { "causes": [{ "reason": "ResourceVersionTooLarge" }], "retryAfterSeconds": 1 },
    });
    let sending = server.watch().await;
    sending.refuse_with(504, &refused);
    let list = server.streaming_list().await;
    assert_eq!(list.get("resourceVersion"), None);
}

#[tokio::test(start_paused = true)]
async fn too_many_requests_waits_for_the_servers_delay() {
    let mut server = FakeServer::new();
    let informer = informer(&server);
    server.streaming_list().await.refuse_after(429, "TooManyRequests", Some(17));
    let refused = Instant::now();
    let _watch = server.sync(&[map("a", 1)], "5").await;
    assert!(refused.elapsed() >= Duration::from_secs(17), "{:?}", refused.elapsed());
    synced(&informer).await;
}

#[tokio::test(start_paused = true)]
async fn failures_back_off_with_jitter_up_to_a_cap() {
    let mut server = FakeServer::new();
    let informer = informer(&server);
    let mut last = Instant::now();
    let mut delays = Vec::new();
    for _ in 0..9 {
        server.streaming_list().await.refuse(429, "TooManyRequests");
        delays.push(last.elapsed());
        last = Instant::now();
    }
    for (failure, delay) in delays.iter().enumerate().skip(1) {
        let base = Duration::from_millis(800 << (failure - 1)).min(Duration::from_secs(30));
        assert!(*delay >= base && *delay <= base * 2, "delay {failure} was {delay:?}, base {base:?}");
    }
    assert!(informer.last_error().unwrap().contains("TooManyRequests"));
    let error = informer.wait_for_sync(Duration::from_secs(1)).await.unwrap_err().to_string();
    assert!(
        error.starts_with("the cache of configmaps has not synced after 1s: cannot watch configmaps"),
        "{error}"
    );
}

#[tokio::test(start_paused = true)]
async fn dropped_watch_resumes_at_its_version() {
    let mut server = FakeServer::new();
    let informer = informer(&server);
    let watch = server.sync(&[map("a", 1)], "5").await;
    watch.event("MODIFIED", &map("a", 7));
    shows(&informer, &["a@7"]).await;
    watch.abort();
    let watch = server.watch().await;
    assert_eq!(watch.get("resourceVersion"), Some("7"));
    let watch = watch.ok();
    watch.bookmark("30", false);
    tokio::time::sleep(Duration::from_secs(2)).await;
    assert_eq!(informer.last_sync_resource_version(), "30");
    drop(watch);
    assert_eq!(server.watch().await.get("resourceVersion"), Some("30"));
}

#[tokio::test(start_paused = true)]
async fn watch_that_ends_at_once_waits_before_the_next() {
    let mut server = FakeServer::new();
    let informer = informer(&server);
    drop(server.sync(&[map("a", 1)], "5").await);
    synced(&informer).await;
    drop(server.watch().await.ok());
    let ended = Instant::now();
    server.watch().await;
    assert!(ended.elapsed() >= Duration::from_millis(800), "{:?}", ended.elapsed());
}

#[tokio::test(start_paused = true)]
async fn silent_watch_is_replaced_after_its_timeout() {
    let mut server = FakeServer::new();
    let informer = informer(&server);
    let silent = server.sync(&[map("a", 1)], "5").await;
    synced(&informer).await;
    let began = Instant::now();
    let watch = server.watch().await;
    assert!(silent.is_closed());
    assert_eq!(watch.get("resourceVersion"), Some("5"));
    let waited = began.elapsed();
    assert!(waited >= Duration::from_secs(330) && waited <= Duration::from_secs(631), "{waited:?}");
    watch.ok().event("ADDED", &map("b", 6));
    shows(&informer, &["a@1", "b@6"]).await;
}

#[tokio::test(start_paused = true)]
async fn restored_server_is_checked_when_its_watch_stays_empty() {
    let mut server = FakeServer::new();
    let informer = informer(&server);
    drop(server.sync(&[map("a", 100)], "100").await);
    synced(&informer).await;
    // The server, restored to version 40, waits for 100 to come.
    let silent = server.watch().await.ok();
    let check = server.list().await;
    assert!(silent.is_closed());
    assert_eq!((check.get("limit"), check.get("resourceVersion")), (Some("1"), None));
    check.refuse(503, "ServiceUnavailable");
    let silent = server.watch().await.ok();
    tokio::time::sleep(Duration::from_secs(60)).await;
    drop(silent);
    server.list().await.page(&[broken("b", 30)], "40", Some("more"));
    let again = server.streaming_list().await;
    assert_eq!(again.get("resourceVersion"), None);
    let watch = again.ok();
    watch.event("ADDED", &map("b", 30));
    watch.bookmark("40", true);
    shows(&informer, &["b@30"]).await;
    assert_eq!(informer.undecodable_total(), 0, "what the question brings is not looked at");
}

#[tokio::test(start_paused = true)]
async fn quiet_server_is_checked_without_a_relist() {
    let mut server = FakeServer::new();
    let informer = informer(&server);
    let watch = server.sync(&[map("a", 1)], "5").await;
    synced(&informer).await;
    tokio::time::sleep(Duration::from_secs(60)).await;
    drop(watch);
    let watch = server.watch().await.ok();
    tokio::time::sleep(Duration::from_secs(60)).await;
    drop(watch);
    server.list().await.page(&[map("a", 1)], "9", None);
    assert_eq!(server.watch().await.get("resourceVersion"), Some("5"));
    shows(&informer, &["a@1"]).await;
}

#[tokio::test(start_paused = true)]
async fn same_version_of_another_object_is_delivered() {
    let mut server = FakeServer::new();
    let informer = informer(&server);
    let uids = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&uids);
    let handler = ResourceEventHandlerFuncs::new().on_update(move |_, new: Arc<ConfigMap>| {
        seen.lock().unwrap().push(new.metadata.uid.clone().unwrap());
    });
    informer.add_event_handler(handler).unwrap();
    let watch = server.sync(&[map("a", 7)], "9").await;
    synced(&informer).await;
    watch.event("ERROR", &status(410, "Expired"));
    let mut other = map("a", 7);
    other["metadata"]["uid"] = json!("another");
    let _watch = server.sync(&[other], "8").await;
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert_eq!(*uids.lock().unwrap(), ["another"]);
}

#[tokio::test(start_paused = true)]
async fn repeated_malformed_event_causes_a_relist() {
    let mut server = FakeServer::new();
    let informer = informer(&server);
    let watch = server.sync(&[map("a", 1)], "5").await;
    synced(&informer).await;
    watch.event("MODIFIED", &map("a", 6));
    watch.bytes("{\"type\":\"ADDED\",\"object\":{]}\n");
    let second = server.watch().await;
    assert_eq!(second.get("resourceVersion"), Some("6"));
    second.ok().bytes("no json at all\n");
    let third = server.streaming_list().await;
    assert_eq!(third.get("resourceVersion"), Some("6"));
    assert!(informer.last_error().unwrap().contains("cannot be read"));
}

#[tokio::test(start_paused = true)]
async fn truncated_event_is_received_again() {
    let mut server = FakeServer::new();
    let informer = informer(&server);
    let watch = server.sync(&[map("a", 1)], "5").await;
    synced(&informer).await;
    let whole = json!({ "type": "MODIFIED", "object": map("a", 6) }).to_string();
    watch.bytes(whole[..whole.len() / 2].to_owned());
    drop(watch);
    let watch = server.watch().await;
    assert_eq!(watch.get("resourceVersion"), Some("5"));
    // Complete but for its newline.
    watch.ok().bytes(whole);
    shows(&informer, &["a@6"]).await;
}

#[tokio::test(start_paused = true)]
async fn undecodable_object_is_reported_and_others_are_cached() {
    let mut server = FakeServer::new();
    let seen = Arc::new(Mutex::new(Vec::new()));
    let informer = SharedInformer::<ConfigMap>::new(server.client(), InformerOptions::new());
    let hook = Arc::clone(&seen);
    informer.set_watch_error_handler(move |error| hook.lock().unwrap().push(error.to_string())).unwrap();
    informer.start();
    let watch = server.sync(&[map("a", 1), broken("b", 2), map("c", 3)], "5").await;
    synced(&informer).await;
    assert_eq!(show(&informer.store().list()), ["a@1", "c@3"]);
    let undecodable = informer.store().undecodable();
    assert_eq!(undecodable[0].0.to_string(), "default/b");
    assert_eq!(undecodable[0].1.resource_version.as_deref(), Some("2"));
    assert!(seen.lock().unwrap()[0].starts_with("cannot decode configmaps \"default/b\": invalid type"));

    // A known object becomes undecodable: its last state stays, its key is known.
    watch.event("MODIFIED", &broken("a", 6));
    watch.event("MODIFIED", &map("c", 7));
    shows(&informer, &["a@1", "c@7"]).await;
    assert_eq!(informer.undecodable_total(), 2);
    assert_eq!(informer.store().undecodable().len(), 2);
    // And decodable again, and deleted though not decodable.
    watch.event("MODIFIED", &map("b", 8));
    watch.event("DELETED", &broken("a", 9));
    shows(&informer, &["b@8", "c@7"]).await;
    assert!(informer.store().undecodable().is_empty());
}

#[tokio::test(start_paused = true)]
async fn undecodable_object_of_a_page_keeps_its_last_state() {
    let mut server = FakeServer::new();
    let informer = paged(&server);
    server.list().await.page(&[map("a", 1), map("b", 2), map("c", 3)], "5", None);
    let watch = server.watch().await.ok();
    shows(&informer, &["a@1", "b@2", "c@3"]).await;
    watch.event("ERROR", &status(410, "Expired"));
    server.list().await.page(&[map("a", 1), broken("b", 9)], "10", None);
    server.watch().await;
    shows(&informer, &["a@1", "b@2"]).await;
    assert_eq!(informer.store().undecodable().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn server_that_restarts_empty_is_detected_by_its_versions() {
    let mut server = FakeServer::new();
    let informer = informer(&server);
    let watch = server.sync(&[map("a", 100), map("b", 90)], "100").await;
    synced(&informer).await;
    drop(watch);
    let watch = server.watch().await.ok();
    watch.event("ADDED", &map("x", 3));
    let list = server.streaming_list().await;
    assert_eq!(list.get("resourceVersion"), None);
    let watch = list.ok();
    watch.event("ADDED", &map("x", 3));
    watch.bookmark("3", true);
    shows(&informer, &["x@3"]).await;
    watch.event("ADDED", &map("y", 4));
    shows(&informer, &["x@3", "y@4"]).await;
}

#[tokio::test(start_paused = true)]
async fn failed_connection_is_retried() {
    let mut server = FakeServer::new();
    let informer = informer(&server);
    drop(server.streaming_list().await);
    let dropped = Instant::now();
    let _watch = server.sync(&[map("a", 1)], "5").await;
    assert!(dropped.elapsed() >= Duration::from_millis(800));
    synced(&informer).await;
}

#[tokio::test(start_paused = true)]
async fn managed_fields_are_skipped_unless_wanted() {
    for keep in [false, true] {
        let mut server = FakeServer::new();
        let mut options = InformerOptions::new();
        if keep {
            options = options.keep_managed_fields();
        }
        let informer = SharedInformer::<ConfigMap>::new(server.client(), options);
        informer.start();
        let _watch = server.sync(&[map("a", 1)], "5").await;
        synced(&informer).await;
        let object = informer.store().get("default", "a").unwrap();
        assert_eq!(object.metadata.managed_fields.is_some(), keep);
        assert_eq!(object.metadata.uid.as_deref(), Some("a"));
        assert_eq!(object.data.as_ref().unwrap()["version"], "1");
    }
}

#[tokio::test(start_paused = true)]
async fn namespace_and_tweaked_options_reach_the_server() {
    let mut server = FakeServer::new();
    let options = InformerOptions::new()
        .namespace("team")
        .tweak_list_options(|params| params.label_selector = Some("app=web".to_owned()));
    let informer = SharedInformer::<ConfigMap>::new(server.client(), options);
    informer.start();
    let call = server.streaming_list().await;
    assert_eq!(call.path, "/api/v1/namespaces/team/configmaps");
    assert_eq!(call.get("labelSelector"), Some("app%3Dweb"));
    let watch = call.ok();
    watch.event("ADDED", &map_in("team", "a", 1));
    watch.bookmark("2", true);
    synced(&informer).await;
    assert_eq!(informer.lister().namespace("team").list(&Default::default()).len(), 1);
}

#[tokio::test(start_paused = true)]
async fn relist_keeps_unchanged_objects() {
    let mut server = FakeServer::new();
    let informer = informer(&server);
    let watch = server.sync(&[map("a", 1), map("b", 2)], "5").await;
    synced(&informer).await;
    let before = informer.store().get("default", "a").unwrap();
    watch.event("ERROR", &status(410, "Expired"));
    let _watch = server.sync(&[map("a", 1), map("b", 6)], "6").await;
    shows(&informer, &["a@1", "b@6"]).await;
    assert!(Arc::ptr_eq(&before, &informer.store().get("default", "a").unwrap()));
}

#[tokio::test(start_paused = true)]
async fn shutdown_drops_the_watch_and_sends_no_requests() {
    let mut server = FakeServer::new();
    let informer = informer(&server);
    let watch = server.sync(&[map("a", 1)], "5").await;
    synced(&informer).await;
    informer.shutdown().await;
    assert!(watch.is_closed());
    tokio::time::sleep(Duration::from_secs(3600)).await;
    assert!(server.is_quiet());
    assert_eq!(informer.store().len(), 1, "the cache stays readable");
}
