//! Events: what is written, what is combined, what is dropped.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use http::Method;
use k8s_openapi::api::core::v1::{Event, EventSource, Node, ObjectReference, Pod};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{ObjectMeta, Time};
use k8s_openapi::jiff::Timestamp;
use kubesmith_runtime::record::{
    Correlation, CorrelatorOptions, EventBroadcaster, EventBroadcasterBuilder, EventCorrelator, EventType,
    FakeRecorder,
};
use proptest::prelude::*;
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

/// Stores whatever is created or patched.
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
async fn an_event_says_who_saw_what() {
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
async fn the_same_event_again_raises_its_count() {
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
async fn an_event_that_vanished_is_created_again_with_its_count() {
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
async fn an_unreachable_server_is_tried_twelve_times() {
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
async fn a_refused_event_is_not_tried_again() {
    let (client, log) = client(|_: &Asked| failure(403, "Forbidden"));
    let broadcaster = with_fixed_clock(client).build();
    broadcaster.recorder("pods").event(&pod("web"), EventType::Normal, "Labelled", "done");
    while broadcaster.lost() == 0 {
        tokio::time::sleep(SECOND).await;
    }
    assert_eq!(log.lock().unwrap().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn shutdown_does_not_wait_for_a_better_time() {
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
async fn a_full_queue_drops_and_counts() {
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
async fn a_fake_keeps_what_is_recorded() {
    let fake = FakeRecorder::new();
    let recorder = fake.recorder();
    recorder.event(&pod("web"), EventType::Normal, "Synced", format!("{} of {}", 1, 2));
    recorder.event_for(&ObjectReference::default(), EventType::Warning, "Failed", "no");
    assert_eq!(fake.take(), ["Normal Synced 1 of 2", "Warning Failed no"]);
    assert!(fake.take().is_empty());
}

fn event(object: u8, reason: u8, message: u8, number: usize) -> Event {
    Event {
        metadata: ObjectMeta { name: Some(format!("e{number}")), ..ObjectMeta::default() },
        involved_object: ObjectReference { name: Some(format!("o{object}")), ..ObjectReference::default() },
        source: Some(EventSource { component: Some("c".to_owned()), host: None }),
        type_: Some("Normal".to_owned()),
        reason: Some(format!("r{reason}")),
        message: Some(format!("m{message}")),
        count: Some(1),
        first_timestamp: Some(Time(Timestamp::UNIX_EPOCH)),
        ..Event::default()
    }
}

#[test]
fn the_tenth_similar_event_stands_for_those_that_follow() {
    let mut correlator = EventCorrelator::default();
    let now = Instant::now();
    let mut names = Vec::new();
    for number in 0..12 {
        match correlator.on(now, event(0, 0, number, usize::from(number))) {
            Correlation::Create { event, .. } => {
                names.push((event.metadata.name.unwrap(), event.message.unwrap(), 1));
            }
            Correlation::Patch { event, .. } => {
                names.push((event.metadata.name.unwrap(), event.message.unwrap(), event.count.unwrap()));
            }
            Correlation::Skip => panic!("within the burst"),
        }
    }
    let combined = |message: &str| format!("(combined from similar events): {message}");
    assert_eq!(names[8], ("e8".to_owned(), "m8".to_owned(), 1));
    assert_eq!(names[9], ("e9".to_owned(), combined("m9"), 1));
    assert_eq!(names[10], ("e9".to_owned(), combined("m10"), 2));
    assert_eq!(names[11], ("e9".to_owned(), combined("m11"), 3));
    let later = now + 601 * SECOND;
    let Correlation::Create { event, .. } = correlator.on(later, event(0, 0, 40, 40)) else {
        panic!("a new event")
    };
    assert_eq!(event.message.as_deref(), Some("m40"), "ten minutes of silence end the combining");
}

#[test]
fn a_source_that_repeats_itself_is_muted_and_heard_again() {
    let mut correlator = EventCorrelator::default();
    let now = Instant::now();
    let mut write = |now, object| !matches!(correlator.on(now, event(object, 0, 0, 0)), Correlation::Skip);
    let written = (0..40).filter(|_| write(now, 0)).count();
    assert_eq!(written, 25);
    assert!(write(now, 1), "another object is another matter");
    assert!(!write(now + 299 * SECOND, 0));
    assert!(write(now + 300 * SECOND, 0));
    let Correlation::Patch { event, .. } = correlator.on(now + 700 * SECOND, event(0, 0, 0, 0)) else {
        panic!("a patch")
    };
    assert_eq!(event.count, Some(43), "what was not written is counted all the same");
}

#[derive(Clone, Copy, Debug)]
struct Said {
    after: u64,
    object: u8,
    reason: u8,
    message: u8,
}

fn said() -> impl Strategy<Value = Vec<Said>> {
    let one = (prop_oneof![6 => 0..5_u64, 1 => 0..900_u64], 0..2_u8, 0..2_u8, 0..14_u8);
    prop::collection::vec(
        one.prop_map(|(after, object, reason, message)| Said { after, object, reason, message }),
        0..300,
    )
}

proptest! {
    /// Against a server that stores what it is told: counts say how often, the burst holds, similar events combine.
    #[test]
    fn the_server_ends_up_with_the_truth(said in said()) {
        let options = CorrelatorOptions::default();
        let (burst, refill) = (options.burst as usize, options.refill.as_secs());
        let mut correlator = EventCorrelator::new(options);
        let start = Instant::now();
        let mut now = 0;
        let mut server: BTreeMap<String, i32> = BTreeMap::new();
        // Per key what was said so far, and per object when something was written.
        let mut counts: BTreeMap<String, i32> = BTreeMap::new();
        let mut writes: BTreeMap<u8, Vec<u64>> = BTreeMap::new();
        for (number, said) in said.into_iter().enumerate() {
            now += said.after;
            let given = event(said.object, said.reason, said.message, number);
            let (key, event, fresh) = match correlator.on(start + Duration::from_secs(now), given) {
                Correlation::Skip => {
                    let written = writes.entry(said.object).or_default();
                    let lately = written.iter().filter(|at| **at + refill * burst as u64 > now).count();
                    prop_assert!(lately >= 1, "muted without having said anything");
                    continue;
                }
                Correlation::Create { key, event } => (key, event, true),
                Correlation::Patch { key, event } => (key, event, false),
            };
            let name = event.metadata.name.clone().unwrap();
            let count = event.count.unwrap();
            if fresh {
                prop_assert_eq!(count, 1);
                prop_assert!(server.insert(name.clone(), count).is_none(), "{} created twice", name);
            } else {
                prop_assert!(count > 1);
                // Where the first was muted there is nothing to patch, and the server says so.
                let before = server.insert(name, count).unwrap_or(0);
                prop_assert!(before < count);
            }
            let known = counts.entry(key.clone()).or_default();
            prop_assert!(*known < count, "a count went down");
            *known = count;
            correlator.stored(&key, &event);
            writes.entry(said.object).or_default().push(now);
        }
        for (object, written) in writes {
            for (at, from) in written.iter().enumerate() {
                let within = written[at..].iter().filter(|to| **to - from < refill).count();
                prop_assert!(within <= burst + 1, "{} writes about object {} within a refill", within, object);
            }
        }
    }
}
