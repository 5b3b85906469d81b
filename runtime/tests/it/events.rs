//! Events of `events.k8s.io`: what is written, and when.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use k8s_openapi::api::core::v1::{ObjectReference, Pod};
use k8s_openapi::api::events::v1::Event;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use k8s_openapi::jiff::Timestamp;
use kube::api::{Api, ListParams};
use kubesmith_runtime::events::{EventBroadcaster, EventBroadcasterBuilder, EventType, FakeRecorder};
use kubesmith_testenv::TestEnv;
use serde_json::json;
use tokio::time::Instant;

use crate::scripted::{Answer, Asked, client, failure};

fn pod(name: &str) -> Pod {
    let metadata = ObjectMeta {
        name: Some(name.to_owned()),
        namespace: Some("shop".to_owned()),
        uid: Some(format!("uid-{name}")),
        ..ObjectMeta::default()
    };
    Pod { metadata, ..Pod::default() }
}

/// Stores every created or patched object.
fn accept(request: &Asked) -> Answer {
    let mut body = request.body.clone();
    body["metadata"]["name"] = json!("an-event");
    (200, body)
}

/// A clock that follows paused time.
fn builder(client: kube::Client) -> EventBroadcasterBuilder {
    let (begin, start) = ("2026-11-20T10:00:00Z".parse::<Timestamp>().unwrap(), Instant::now());
    EventBroadcaster::builder(client).clock(move || begin + start.elapsed()).random(|| 0.5)
}

fn methods(log: &Arc<Mutex<Vec<Asked>>>) -> Vec<String> {
    log.lock().unwrap().iter().map(|request| request.method.to_string()).collect()
}

async fn seconds(seconds: u64) {
    tokio::time::sleep(Duration::from_secs(seconds)).await;
}

#[tokio::test(start_paused = true)]
async fn event_has_action_and_objects() {
    let (client, log) = client(accept);
    let broadcaster = builder(client).host("node-1").build();
    let recorder = broadcaster.recorder("example.com/pods");
    let related = ObjectReference { name: Some("n".to_owned()), ..ObjectReference::default() };
    let regarding = ObjectReference {
        name: Some("web".to_owned()),
        namespace: Some("shop".to_owned()),
        ..ObjectReference::default()
    };
    recorder.event_for(&regarding, Some(&related), EventType::Normal, "Free", "Bind", "bound to n");
    broadcaster.shutdown().await;
    let log = log.lock().unwrap();
    assert_eq!(log.len(), 1);
    let uri = "/apis/events.k8s.io/v1/namespaces/shop/events?";
    assert_eq!((log[0].method.as_str(), log[0].uri.as_str()), ("POST", uri));
    let expected = json!({
        "apiVersion": "events.k8s.io/v1",
        "kind": "Event",
        "metadata": {"name": log[0].body["metadata"]["name"], "namespace": "shop"},
        "eventTime": "2026-11-20T10:00:00.000000Z",
        "regarding": {"name": "web", "namespace": "shop"},
        "related": {"name": "n"},
        "type": "Normal",
        "reason": "Free",
        "action": "Bind",
        "note": "bound to n",
        "reportingController": "example.com/pods",
        "reportingInstance": "example.com/pods-node-1",
    });
    assert_eq!(log[0].body, expected);
}

#[tokio::test(start_paused = true)]
async fn repeated_event_is_a_series_with_beginning_and_end() {
    let (client, log) = client(accept);
    let broadcaster = builder(client).build();
    let recorder = broadcaster.recorder("pods");
    for _ in 0..20 {
        recorder.event(&pod("web"), EventType::Warning, "NoNode", "Schedule", "no node fits");
        seconds(100).await;
    }
    // The series begins with the second event, and is written again after half an hour.
    assert_eq!(methods(&log), ["POST", "PATCH", "PATCH"]);
    seconds(720).await;
    assert_eq!(methods(&log), ["POST", "PATCH", "PATCH", "PATCH"], "and when it has ended");
    let last = log.lock().unwrap().last().unwrap().body.clone();
    assert_eq!(last, json!({"series": {"count": 20, "lastObservedTime": "2026-11-20T10:31:40.000000Z"}}));
    recorder.event(&pod("web"), EventType::Warning, "NoNode", "Schedule", "again");
    seconds(1).await;
    assert_eq!(methods(&log).last().unwrap(), "POST", "a new one");
    broadcaster.shutdown().await;
}

#[tokio::test(start_paused = true)]
async fn shutdown_writes_the_final_state_of_series() {
    let (client, log) = client(accept);
    let broadcaster = builder(client).build();
    let recorder = broadcaster.recorder("pods");
    for _ in 0..5 {
        recorder.event(&pod("web"), EventType::Normal, "R", "A", "n");
    }
    broadcaster.shutdown().await;
    assert_eq!(log.lock().unwrap().last().unwrap().body["series"]["count"], 5);
    recorder.event(&pod("web"), EventType::Normal, "R", "A", "dropped without a word");
}

#[tokio::test(start_paused = true)]
async fn deleted_event_is_created_again_and_refused_event_is_counted() {
    let answers = |request: &Asked| match request.method.as_str() {
        "PATCH" => failure(404, "NotFound"),
        _ if request.body["reason"] == "Bad" => failure(422, "Invalid"),
        _ => accept(request),
    };
    let (client, log) = client(answers);
    let broadcaster = builder(client).build();
    let recorder = broadcaster.recorder("pods");
    recorder.event(&pod("web"), EventType::Normal, "Good", "A", "n");
    recorder.event(&pod("web"), EventType::Normal, "Good", "A", "n");
    recorder.event(&pod("web"), EventType::Normal, "Bad", "A", "n");
    seconds(1).await;
    assert_eq!(methods(&log), ["POST", "PATCH", "POST", "POST"]);
    assert_eq!(log.lock().unwrap()[2].body["series"]["count"], 2);
    assert_eq!((broadcaster.lost(), broadcaster.dropped()), (1, 0));
    broadcaster.shutdown().await;
}

#[tokio::test(start_paused = true)]
async fn server_accepts_series_events() {
    let env = TestEnv::builder().start().await.unwrap();
    let broadcaster = EventBroadcaster::builder(env.client()).host("h").build();
    let recorder = broadcaster.recorder("example.com/pods");
    let mut pod = pod("web");
    pod.metadata.namespace = Some("default".to_owned());
    for _ in 0..3 {
        recorder.event(&pod, EventType::Normal, "Labelled", "Label", "x".repeat(5000));
    }
    broadcaster.shutdown().await;
    let events =
        Api::<Event>::namespaced(env.client(), "default").list(&ListParams::default()).await.unwrap();
    let counts: Vec<_> = events.items.iter().map(|event| event.series.as_ref().unwrap().count).collect();
    assert_eq!(counts, [3]);
    env.stop().await;
}

#[test]
fn fake_recorder_keeps_events_of_both_groups() {
    let fake = FakeRecorder::new();
    fake.recorder().event(&pod("a"), EventType::Normal, "One", "1");
    fake.events_recorder().event(&pod("a"), EventType::Warning, "Two", "Act", "2");
    assert_eq!(fake.take(), ["Normal One 1", "Warning Two 2"]);
}
