//! Bad input from servers and from proxies before them: the cache reaches the server's state, and errors name
//! the cause.
//!
//! docs/operations/faults.md has the table of all faults and their tests; `table_of_faults_names_existing_tests` checks it.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use k8s_openapi::api::core::v1::ConfigMap;
use kubesmith_runtime::informer::{InformerOptions, ResourceEventHandlerFuncs, SharedInformer};
use kubesmith_runtime::metrics::Registry;
use serde_json::json;
use tokio::time::Instant;

use crate::fake::{FakeServer, Sending, broken, map, show, show_one, status};

const PATIENCE: Duration = Duration::from_secs(3600);

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

async fn shows(informer: &SharedInformer<ConfigMap>, expected: &[&str]) {
    let shown = async {
        while show(&informer.store().list()) != expected {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    };
    let shown = tokio::time::timeout(PATIENCE, shown).await;
    assert!(shown.is_ok(), "{:?} is shown", show(&informer.store().list()));
}

async fn last_error(informer: &SharedInformer<ConfigMap>) -> String {
    let failed = async {
        loop {
            if let Some(error) = informer.last_error() {
                return error;
            }
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    };
    tokio::time::timeout(PATIENCE, failed).await.expect("it fails")
}

/// A valid beginning of a list; an item follows.
fn beginning() -> String {
    format!(r#"{{"kind":"ConfigMapList","metadata":{{"resourceVersion":"5"}},"items":[{}"#, map("old", 1))
}

#[tokio::test(start_paused = true)]
async fn unreadable_list_is_requested_again() {
    for body in [
        "<html>502 Bad Gateway</html>".to_owned(),
        "[]".to_owned(),
        String::new(),
        r#"{"kind":"ConfigMapList","metadata":{"resourceVersion":"5"}}"#.to_owned(),
        beginning(),
        format!("{},{{\"metadata\":{{]}}]}}", beginning()),
        format!("{},null,7]}}", beginning()),
        format!("{},{{\"metadata\":{{\"name\":\"ha", beginning()),
    ] {
        let mut server = FakeServer::new();
        let informer = paged(&server);
        server.list().await.ok().bytes(body.clone());
        let failed = Instant::now();
        let error = last_error(&informer).await;
        assert!(
            error.starts_with("cannot list configmaps: the response cannot be read: "),
            "{body}: {error}"
        );
        let again = server.list().await;
        assert!(failed.elapsed() >= Duration::from_millis(800), "{body}");
        assert!(!informer.has_synced() && informer.store().is_empty(), "{body}");
        again.page(&[map("a", 2)], "7", None);
        server.watch().await;
        shows(&informer, &["a@2"]).await;
    }
}

#[tokio::test(start_paused = true)]
async fn invalid_utf8_ends_a_watch() {
    let mut server = FakeServer::new();
    let informer = informer(&server);
    let watch = server.sync(&[map("a", 1)], "5").await;
    shows(&informer, &["a@1"]).await;
    watch.event("MODIFIED", &map("a", 6));
    watch.bytes(&b"\xff\xfe\x00{\n"[..]);
    let watch = server.watch().await;
    assert_eq!(watch.get("resourceVersion"), Some("6"));
    watch.ok().event("ADDED", &map("b", 7));
    shows(&informer, &["a@6", "b@7"]).await;
}

/// A response without an end; the reflector aborts it before it fills the memory.
async fn endless(informer: &SharedInformer<ConfigMap>, sending: &Sending) {
    let piece = vec![b'x'; 1 << 20];
    let mut sent = 0;
    while !sending.is_closed() && sent < 100 {
        sending.bytes(piece.clone());
        sent += 1;
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    assert!((32..40).contains(&sent), "{sent} MiB were read");
    let error = last_error(informer).await;
    assert!(error.contains("longer than 33554432 bytes"), "{error}");
}

#[tokio::test(start_paused = true)]
async fn endless_line_or_object_is_aborted() {
    let mut server = FakeServer::new();
    let watching = informer(&server);
    let watch = server.sync(&[map("a", 1)], "5").await;
    shows(&watching, &["a@1"]).await;
    watch.bytes("{\"type\":\"");
    endless(&watching, &watch).await;

    let mut server = FakeServer::new();
    let listing = paged(&server);
    let list = server.list().await.ok();
    list.bytes(format!("{},{{\"data\":\"", beginning()));
    endless(&listing, &list).await;
}

#[tokio::test(start_paused = true)]
async fn refusal_without_status_is_reported_verbatim() {
    let mut server = FakeServer::new();
    let informer = paged(&server);
    server.list().await.refuse_text(502, "<html>upstream is away</html>");
    let error = last_error(&informer).await;
    assert_eq!(error, "cannot list configmaps: <html>upstream is away</html> (code 502)");
    server.list().await.page(&[map("a", 1)], "5", None);
    shows(&informer, &["a@1"]).await;
}

#[tokio::test(start_paused = true)]
async fn duplicate_event_is_delivered_once() {
    let mut server = FakeServer::new();
    let informer = informer(&server);
    let told: Arc<Mutex<Vec<String>>> = Arc::default();
    let (added, updated) = (Arc::clone(&told), Arc::clone(&told));
    let handler = ResourceEventHandlerFuncs::<ConfigMap>::new()
        .on_add(move |map, _| added.lock().unwrap().push(show_one(&map)))
        .on_update(move |_, map| updated.lock().unwrap().push(show_one(&map)));
    informer.add_event_handler(handler).unwrap();
    let watch = server.sync(&[map("a", 1)], "5").await;
    for _ in 0..3 {
        watch.event("MODIFIED", &map("a", 6));
    }
    watch.event("ADDED", &map("b", 7));
    watch.event("ADDED", &map("b", 7));
    watch.bookmark("7", false);
    watch.bookmark("7", false);
    shows(&informer, &["a@6", "b@7"]).await;
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert_eq!(*told.lock().unwrap(), ["a@1", "a@6", "b@7"]);
    assert!(server.is_quiet(), "a version that comes again is no version that goes back");
}

#[tokio::test(start_paused = true)]
async fn version_that_goes_back_causes_a_relist() {
    let mut server = FakeServer::new();
    let informer = informer(&server);
    let watch = server.sync(&[map("a", 1)], "50").await;
    shows(&informer, &["a@1"]).await;
    tokio::time::sleep(Duration::from_secs(60)).await;
    watch.event("MODIFIED", &map("a", 49));
    let again = server.streaming_list().await;
    assert!(watch.is_closed());
    assert_eq!(again.get("resourceVersion"), None);
    let watch = again.ok();
    watch.event("ADDED", &map("a", 49));
    watch.bookmark("49", true);
    shows(&informer, &["a@49"]).await;
    assert_eq!(informer.last_sync_resource_version(), "49");
}

#[tokio::test(start_paused = true)]
async fn event_without_version_does_not_change_the_version() {
    let mut server = FakeServer::new();
    let informer = informer(&server);
    // A streaming list without its end is not a list.
    server.streaming_list().await.ok().bookmark("", true);
    server.list().await.page(&[map("a", 1)], "5", None);
    let watch = server.watch().await.ok();
    shows(&informer, &["a@1"]).await;
    let mut nameless = map("b", 0);
    nameless["metadata"]["resourceVersion"] = json!("");
    watch.event("ADDED", &nameless);
    watch.bookmark("", false);
    shows(&informer, &["a@1", "b@"]).await;
    watch.abort();
    assert_eq!(server.watch().await.get("resourceVersion"), Some("5"));
}

#[tokio::test(start_paused = true)]
async fn silent_server_is_abandoned_after_the_timeout() {
    let mut server = FakeServer::new();
    let informer = informer(&server);
    server.streaming_list().await.refuse_after(503, "ServiceUnavailable", Some(u64::MAX));
    server.list().await.refuse_after(503, "ServiceUnavailable", Some(u64::MAX));
    let refused = Instant::now();
    let mut call = server.call().await;
    assert!(refused.elapsed() >= Duration::from_secs(3599), "{:?}", refused.elapsed());
    while call.get("watch").is_some() {
        call.refuse(405, "MethodNotAllowed");
        call = server.call().await;
    }
    call.page(&[map("a", 1)], "5", None);
    shows(&informer, &["a@1"]).await;
}

/// Refuses everything for an hour, and returns the number of requests.
async fn storm(server: &mut FakeServer, retry_after: Option<u64>) -> u32 {
    let (began, mut requests) = (Instant::now(), 0);
    while began.elapsed() < Duration::from_secs(3600) {
        server.call().await.refuse_after(429, "TooManyRequests", retry_after);
        requests += 1;
    }
    requests
}

#[tokio::test(start_paused = true)]
async fn informers_send_few_requests_while_all_are_refused() {
    for (retry_after, most) in [(None, 130), (Some(0), 130), (Some(1), 130), (Some(60), 61)] {
        let mut server = FakeServer::new();
        let informer = informer(&server);
        let requests = storm(&mut server, retry_after).await;
        assert!(requests <= most, "{requests} with {retry_after:?}");
        let watch = server.sync(&[map("a", 1)], "5").await;
        shows(&informer, &["a@1"]).await;
        assert_eq!(informer.last_error(), None);
        // A postponed watch keeps the cached objects.
        watch.abort();
        let requests = storm(&mut server, retry_after).await;
        assert!(requests <= most, "{requests} with {retry_after:?}");
        let watch = server.watch().await;
        assert_eq!(watch.get("resourceVersion"), Some("5"));
        watch.ok().event("ADDED", &map("b", 6));
        shows(&informer, &["a@1", "b@6"]).await;
    }
}

#[tokio::test(start_paused = true)]
async fn refused_credentials_are_reported_and_the_cache_is_kept() {
    let mut server = FakeServer::new();
    let informer = informer(&server);
    let watch = server.sync(&[map("a", 1), map("b", 2)], "5").await;
    shows(&informer, &["a@1", "b@2"]).await;
    watch.abort();
    server.watch().await.refuse(401, "Unauthorized");
    tokio::time::sleep(Duration::from_millis(1)).await;
    assert_eq!(
        informer.last_error().unwrap(),
        "cannot watch configmaps: Unauthorized says the test (Unauthorized, code 401); renew the credentials: the \
         client reads them again after a refusal"
    );
    for _ in 0..20 {
        server.call().await.refuse(401, "Unauthorized");
    }
    shows(&informer, &["a@1", "b@2"]).await;
    // The credentials are renewed; a deletion was missed meanwhile.
    loop {
        let call = server.call().await;
        if call.get("watch").is_none() {
            call.page(&[map("a", 7)], "9", None);
            break;
        }
        call.refuse(401, "Unauthorized");
    }
    assert_eq!(server.watch().await.get("resourceVersion"), Some("9"));
    shows(&informer, &["a@7"]).await;
}

#[tokio::test(start_paused = true)]
async fn watch_errors_name_a_remedy() {
    for (code, reason, step) in [
        (403, "Forbidden", "grant list on configmaps to the client's account: informers need list and watch"),
        (404, "NotFound", "install configmaps, or request a served version"),
    ] {
        let mut server = FakeServer::new();
        let informer = paged(&server);
        server.list().await.refuse(code, reason);
        let error = last_error(&informer).await;
        assert_eq!(
            error,
            format!("cannot list configmaps: {reason} says the test ({reason}, code {code}); {step}")
        );
    }
}

#[tokio::test(start_paused = true)]
async fn undecodable_objects_are_counted_and_named_until_decoded() {
    let mut server = FakeServer::new();
    let (registry, told) = (Registry::new(), Arc::<Mutex<Vec<String>>>::default());
    let informer = SharedInformer::<ConfigMap>::new(server.client(), InformerOptions::new());
    informer.register_metrics(&registry, "");
    let hook = Arc::clone(&told);
    informer.set_watch_error_handler(move |error| hook.lock().unwrap().push(error.to_string())).unwrap();
    informer.start();
    let watch = server.sync(&[broken("a", 1), broken("b", 2), broken("c", 3), map("d", 4)], "5").await;
    shows(&informer, &["d@4"]).await;
    let undecodable = || -> Vec<String> {
        informer.store().undecodable().into_iter().map(|(key, _)| key.to_string()).collect()
    };
    assert_eq!(undecodable(), ["default/a", "default/b", "default/c"]);
    let labels = r#"{name="",group="",version="v1",resource="configmaps"}"#;
    let shown = format!("informer_undecodable_objects{labels} 3.0\n");
    assert!(registry.encode().contains(&shown), "{}", registry.encode());
    let first = told.lock().unwrap()[0].clone();
    assert!(first.starts_with("cannot decode configmaps \"default/a\": "), "{first}");
    assert!(first.ends_with("; compare its type with the CRD's schema"), "{first}");
    watch.event("MODIFIED", &map("a", 6));
    watch.event("DELETED", &broken("b", 7));
    shows(&informer, &["a@6", "d@4"]).await;
    assert_eq!(undecodable(), ["default/c"]);
    // A list without the object also removes its key.
    watch.event("ERROR", &status(410, "Expired"));
    let _watch = server.sync(&[map("a", 6), map("d", 4)], "9").await;
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert_eq!(undecodable(), [""; 0]);
}

#[tokio::test(start_paused = true)]
async fn object_that_changes_during_a_list_has_its_last_state() {
    let mut server = FakeServer::new();
    let informer = informer(&server);
    let watch = server.streaming_list().await.ok();
    for (kind, object) in [
        ("ADDED", map("a", 1)),
        ("ADDED", broken("b", 2)),
        ("ADDED", map("c", 3)),
        ("ADDED", broken("d", 4)),
        ("MODIFIED", broken("a", 5)),
        ("DELETED", map("c", 6)),
        ("MODIFIED", map("b", 7)),
        ("DELETED", broken("d", 8)),
    ] {
        watch.event(kind, &object);
    }
    watch.bookmark("9", true);
    shows(&informer, &["a@1", "b@7"]).await;
    let undecodable = informer.store().undecodable();
    let shown: Vec<String> =
        undecodable.iter().map(|(key, why)| format!("{key}@{:?}", why.resource_version)).collect();
    assert_eq!(shown, ["default/a@Some(\"5\")"]);
}

/// After a suspended laptop or a moved machine, time leaps, and the connection reports nothing.
#[tokio::test(start_paused = true)]
async fn informer_recovers_from_a_leap_in_time() {
    let mut server = FakeServer::new();
    let informer = informer(&server);
    let watch = server.sync(&[map("a", 1)], "5").await;
    shows(&informer, &["a@1"]).await;
    for version in [6, 7] {
        tokio::time::advance(Duration::from_secs(86_400 * 30)).await;
        // After a watch without any event, the reflector queries the server.
        let mut call = server.call().await;
        if call.get("watch").is_none() {
            call.page(&[map("a", version)], &version.to_string(), None);
            call = server.watch().await;
        }
        call.ok().event("MODIFIED", &map("a", version));
        shows(&informer, &[&format!("a@{version}")]).await;
    }
    assert!(watch.is_closed());
}

#[tokio::test(start_paused = true)]
async fn inconsistent_continue_token_causes_a_full_list() {
    let mut server = FakeServer::new();
    let informer = paged(&server);
    server.list().await.page(&[map("a", 1)], "10", Some("token"));
    // The server offers to continue with a newer state, which would not match the pages before.
    let mut gone = status(410, "Expired");
    gone["metadata"] = json!({ "continue": "inconsistent" });
    server.list().await.refuse_with(410, &gone);
    let whole = server.list().await;
    assert_eq!((whole.get("limit"), whole.get("continue")), (None, None));
    whole.page(&[map("b", 12)], "12", None);
    server.watch().await;
    shows(&informer, &["b@12"]).await;
}

#[tokio::test(start_paused = true)]
async fn refused_streaming_list_is_not_requested_again() {
    for code in [400, 405, 422] {
        let mut server = FakeServer::new();
        let informer = informer(&server);
        server.streaming_list().await.refuse(code, "Invalid");
        server.list().await.page(&[map("a", 1)], "5", None);
        for round in 0..3_u64 {
            let watch = server.watch().await.ok();
            tokio::time::sleep(Duration::from_secs(60)).await;
            watch.event("ERROR", &status(410, "Expired"));
            server.list().await.page(&[map("a", 6 + round)], &(6 + round).to_string(), None);
        }
        server.watch().await;
        shows(&informer, &["a@8"]).await;
    }
}

/// Every test that docs/operations/faults.md names exists.
#[test]
fn table_of_faults_names_existing_tests() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let table = std::fs::read_to_string(root.join("docs/operations/faults.md")).unwrap();
    let mut named = 0;
    for row in table.lines().filter(|line| line.starts_with("| ")) {
        for name in row.split('`').skip(1).step_by(2).filter(|text| text.contains(".rs::")) {
            let (file, test) = name.split_once("::").unwrap();
            let text = std::fs::read_to_string(root.join("runtime").join(file));
            let text = text.unwrap_or_else(|_| panic!("{file} is not there"));
            assert!(text.contains(&format!("fn {test}(")), "{file} has no test {test}");
            named += 1;
        }
    }
    assert!(named > 40, "{named} tests are named");
}
