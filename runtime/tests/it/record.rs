//! Events: which are written, combined and dropped.

use std::time::Duration;

use http::Method;
use k8s_openapi::api::core::v1::{Node, ObjectReference, Pod};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use k8s_openapi::jiff::Timestamp;
use kubesmith_runtime::record::{EventBroadcaster, EventBroadcasterBuilder, EventType, FakeRecorder};
use serde_json::{Value, json};

use crate::scripted::{Answer, Asked, client, failure};

const SECOND: Duration = Duration::from_secs(1);

fn pod(name: &str) -> Pod {
    let metadata = ObjectMeta {
        name: Some(name.to_owned()),
        namespace: Some("shop".to_owned()),
        uid: Some(format!("uid-{name}")),
        resource_version: Some("7".to_owned()),
        ..ObjectMeta::default()
    };
    Pod { metadata, ..Pod::default() }
}

/// Stores every created or patched object.
fn accept(request: &Asked) -> Answer {
    (if request.method == Method::POST { 201 } else { 200 }, stored(request))
}

fn stored(request: &Asked) -> Value {
    if request.method == Method::POST {
        return request.body.clone();
    }
    let name = request.uri.split(['/', '?']).rfind(|part| part.contains('.')).unwrap();
    json!({
        "apiVersion": "v1", "kind": "Event", "metadata": {"name": name, "namespace": "shop"},
        "involvedObject": {}, "count": request.body["count"], "message": request.body["message"],
    })
}

fn with_fixed_clock(client: kube::Client) -> EventBroadcasterBuilder {
    let time: Timestamp = "2026-11-20T10:00:00Z".parse().unwrap();
    EventBroadcaster::builder(client).clock(move || time).random(|| 0.5)
}

#[tokio::test(start_paused = true)]
async fn event_has_source_and_object() {
    let (client, log) = client(accept);
    let broadcaster = with_fixed_clock(client).host("node-1").build();
    broadcaster.recorder("pods").event(&pod("web"), EventType::Normal, "Labelled", "set 2 labels");
    broadcaster.shutdown().await;
    let log = log.lock().unwrap();
    assert_eq!(log.len(), 1);
    assert_eq!((log[0].method.as_str(), log[0].uri.as_str()), ("POST", "/api/v1/namespaces/shop/events?"));
    let nanoseconds: Timestamp = "2026-11-20T10:00:00Z".parse().unwrap();
    let expected = json!({
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {"name": format!("web.{:x}", nanoseconds.as_nanosecond()), "namespace": "shop"},
        "involvedObject": {
            "apiVersion": "v1", "kind": "Pod", "namespace": "shop", "name": "web", "uid": "uid-web",
            "resourceVersion": "7",
        },
        "type": "Normal",
        "reason": "Labelled",
        "message": "set 2 labels",
        "count": 1,
        "firstTimestamp": "2026-11-20T10:00:00Z",
        "lastTimestamp": "2026-11-20T10:00:00Z",
        "source": {"component": "pods", "host": "node-1"},
        "reportingComponent": "pods",
        "reportingInstance": "node-1",
    });
    assert_eq!(log[0].body, expected);
}

#[tokio::test(start_paused = true)]
async fn objects_without_a_namespace_have_their_events_in_default() {
    let (client, log) = client(accept);
    let broadcaster = with_fixed_clock(client).build();
    let node =
        Node { metadata: ObjectMeta { name: Some("n".to_owned()), ..Default::default() }, ..Node::default() };
    broadcaster.recorder("nodes").event(&node, EventType::Warning, "Lost", "no heartbeat");
    broadcaster.shutdown().await;
    let log = log.lock().unwrap();
    assert_eq!(log[0].uri, "/api/v1/namespaces/default/events?");
    assert_eq!(log[0].body["metadata"]["namespace"], "default");
}

#[tokio::test(start_paused = true)]
async fn repeated_event_raises_its_count() {
    let (client, log) = client(accept);
    let broadcaster = with_fixed_clock(client).build();
    let recorder = broadcaster.recorder("pods");
    for _ in 0..3 {
        recorder.event(&pod("web"), EventType::Normal, "Labelled", "done");
    }
    recorder.event(&pod("web"), EventType::Normal, "Labelled", "another message");
    broadcaster.shutdown().await;
    let log = log.lock().unwrap();
    let methods: Vec<&str> = log.iter().map(|request| request.method.as_str()).collect();
    assert_eq!(methods, ["POST", "PATCH", "PATCH", "POST"]);
    let name = log[0].body["metadata"]["name"].as_str().unwrap();
    assert_eq!(log[1].uri, format!("/api/v1/namespaces/shop/events/{name}?"));
    let patch = json!({"count": 3, "lastTimestamp": "2026-11-20T10:00:00Z", "message": "done"});
    assert_eq!(log[2].body, patch);
    assert_ne!(
        log[3].body["metadata"]["name"], log[0].body["metadata"]["name"],
        "one clock reading, two names"
    );
}

#[tokio::test(start_paused = true)]
async fn deleted_core_event_is_created_again_with_its_count() {
    let (client, log) = client(|request: &Asked| match request.method {
        Method::PATCH => failure(404, "NotFound"),
        _ => accept(request),
    });
    let broadcaster = with_fixed_clock(client).build();
    let recorder = broadcaster.recorder("pods");
    for _ in 0..2 {
        recorder.event(&pod("web"), EventType::Normal, "Labelled", "done");
    }
    broadcaster.shutdown().await;
    let log = log.lock().unwrap();
    let requests: Vec<(&str, &Value)> =
        log.iter().map(|request| (request.method.as_str(), &request.body["count"])).collect();
    assert_eq!(requests, [("POST", &json!(1)), ("PATCH", &json!(2)), ("POST", &json!(2))]);
}

#[tokio::test(start_paused = true)]
async fn unreachable_server_is_tried_twelve_times() {
    let (client, log) = client(|_: &Asked| failure(503, "ServiceUnavailable"));
    let broadcaster = with_fixed_clock(client).build();
    let start = tokio::time::Instant::now();
    broadcaster.recorder("pods").event(&pod("web"), EventType::Normal, "Labelled", "done");
    while broadcaster.lost() == 0 {
        tokio::time::sleep(SECOND).await;
    }
    assert_eq!(log.lock().unwrap().len(), 12);
    // Half of the first pause, by the jitter given, then ten whole ones.
    assert_eq!(start.elapsed(), 105 * SECOND + SECOND);
}

#[tokio::test(start_paused = true)]
async fn refused_event_is_not_retried() {
    let (client, log) = client(|_: &Asked| failure(403, "Forbidden"));
    let broadcaster = with_fixed_clock(client).build();
    broadcaster.recorder("pods").event(&pod("web"), EventType::Normal, "Labelled", "done");
    while broadcaster.lost() == 0 {
        tokio::time::sleep(SECOND).await;
    }
    assert_eq!(log.lock().unwrap().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn shutdown_skips_retry_pauses() {
    let (client, log) = client(|_: &Asked| failure(503, "ServiceUnavailable"));
    let broadcaster = with_fixed_clock(client).build();
    let recorder = broadcaster.recorder("pods");
    for name in ["a", "b"] {
        recorder.event(&pod(name), EventType::Normal, "Labelled", "done");
    }
    tokio::time::sleep(SECOND).await;
    let start = tokio::time::Instant::now();
    broadcaster.shutdown().await;
    assert_eq!(start.elapsed(), Duration::ZERO);
    assert_eq!(log.lock().unwrap().len(), 3, "the pause of the first is cut short, the second gets one try");
    recorder.event(&pod("c"), EventType::Normal, "Labelled", "after the end");
}

#[tokio::test(start_paused = true)]
async fn full_queue_drops_and_counts_events() {
    let (client, log) = client(accept);
    let broadcaster = with_fixed_clock(client).queue_length(2).build();
    let recorder = broadcaster.recorder("pods");
    for name in ["a", "b", "c", "d"] {
        recorder.event(&pod(name), EventType::Normal, "Labelled", "done");
    }
    assert_eq!(broadcaster.dropped(), 2);
    broadcaster.shutdown().await;
    assert_eq!(log.lock().unwrap().len(), 2);
}

#[tokio::test]
async fn fake_recorder_keeps_events() {
    let fake = FakeRecorder::new();
    let recorder = fake.recorder();
    recorder.event(&pod("web"), EventType::Normal, "Synced", format!("{} of {}", 1, 2));
    recorder.event_for(&ObjectReference::default(), EventType::Warning, "Failed", "no");
    assert_eq!(fake.take(), ["Normal Synced 1 of 2", "Warning Failed no"]);
    assert!(fake.take().is_empty());
}
