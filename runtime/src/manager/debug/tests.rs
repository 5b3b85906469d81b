//! The HTML of the state page.

use std::time::Duration;

use super::*;
use crate::cache::ObjectKey;
use crate::controller::{Action, CancellationToken, Controller, ReconcileError, reconcile_fn};
use crate::informer::{CacheShard, EventKind, HandlerState, RunningCall};
use crate::sharding::{ShardKey, ShardSelector, SharePhase};
use crate::workqueue::Queue;

fn informer() -> InformerState {
    InformerState {
        resource: "configmaps".to_owned(),
        has_synced: true,
        objects: 3,
        resource_version: "17".to_owned(),
        undecodable: 1,
        last_error: Some("cannot watch <configmaps>".to_owned()),
        received_bytes: 1234,
        shard: ShardSelector::nth(ShardKey::Uid, 0, 2).map(|selector| CacheShard {
            selector,
            filters_here: true,
            dropped: 9,
        }),
        handlers: vec![HandlerState {
            name: "<maps>".to_owned(),
            has_synced: true,
            waiting: 5,
            merged: 4,
            panics: 3,
            slow_calls: 2,
            has_thread: false,
            in_call: Some(RunningCall {
                event: EventKind::Update,
                key: ObjectKey::namespaced("default", "a"),
                running: Duration::from_millis(61_500),
            }),
        }],
    }
}

fn shard() -> ShardState {
    ShardState {
        lease: "maps-a".to_owned(),
        phase: SharePhase::Working,
        members: ["maps-a", "maps-b"].map(str::to_owned).to_vec(),
        share: 0.25,
        in_work: 3,
        finishing: 2,
        blocked: 1,
        waiting_for: vec!["maps-b".to_owned()],
        hand_overs: 7,
        lost: 4,
        last_error: Some("<refused>".to_owned()),
    }
}

fn lease() -> LeaseState {
    LeaseState {
        lease: "shop-system/shop".to_owned(),
        identity: "pod-a".to_owned(),
        holder: "<pod-b>".to_owned(),
        renewed: Some("2026-01-02T03:04:05.678Z".parse().unwrap()),
        seen: Some(tokio::time::Instant::now()),
        transitions: 7,
        leads_until: None,
        last_error: Some("refused".to_owned()),
    }
}

#[tokio::test(start_paused = true)]
async fn page_shows_who_leads_and_since_when() {
    let other = without_labels(&page(&[], &[], None, Some(&lease())));
    let row =
        "<tr><td>shop-system/shop</td><td>no</td><td>pod-a</td><td>&lt;pod-b&gt;</td><td>2026-01-02T03:04:0";
    assert!(
        other.contains(row) && other.contains("(0.0 s ago)</td><td>7</td><td>refused</td></tr>"),
        "{other}"
    );
    let until = tokio::time::Instant::now() + Duration::from_secs(10);
    let own = LeaseState { holder: "pod-a".to_owned(), leads_until: Some(until), ..lease() };
    let leads = without_labels(&page(&[], &[], None, Some(&own)));
    assert!(leads.contains("<td>shop-system/shop</td><td>yes</td><td>pod-a</td><td>pod-a</td>"), "{leads}");
    tokio::time::advance(Duration::from_secs(10)).await;
    let late = without_labels(&page(&[], &[], None, Some(&own)));
    assert!(late.contains("<td>shop-system/shop</td><td>no</td>"), "the clock decides: {late}");
    let unread = page(&[], &[], None, Some(&LeaseState::default()));
    assert!(unread.contains("nobody") && unread.contains("the lease has not been read"), "{unread}");
}

#[tokio::test(start_paused = true)]
async fn page_shows_why_each_key_waits() {
    let queue = Queue::new("maps");
    let reconciler = reconcile_fn(|key: String| async move {
        match key.as_str() {
            "slow" => std::future::pending().await,
            "bad" => Err(ReconcileError::new("no")),
            "later" => Ok(Action::requeue_after(Duration::from_secs(3600))),
            _ => Ok(Action::done()),
        }
    });
    let (filled, filling) = tokio::sync::oneshot::channel::<()>();
    let controller = Controller::new("maps", queue.clone(), reconciler)
        .wait_for("secrets", async { drop(filling.await) })
        .wait_for("pods", async {});
    let mut controller = controller.workers(2);
    let state = controller.state();
    queue.add("slow".to_owned());
    let unfilled = InformerState { has_synced: false, ..informer() };
    let waits = |informers: &[InformerState], lease: Option<&LeaseState>| {
        without_labels(&page(std::slice::from_ref(&state), informers, None, lease))
    };
    let shown = waits(&[unfilled], None);
    assert!(shown.contains("<td>queued; waiting for caches to sync: configmaps</td>"), "{shown}");
    let shown = waits(&[informer()], Some(&lease()));
    assert!(shown.contains("<td>queued; waiting for this replica to lead</td>"), "{shown}");
    let stop = CancellationToken::new();
    let run = tokio::spawn(controller.run(stop.clone()));
    tokio::time::sleep(Duration::from_secs(1)).await;
    let shown = waits(&[], None);
    assert!(shown.contains("<td>queued; waiting for caches to sync: secrets</td>"), "{shown}");
    filled.send(()).unwrap();
    for key in ["bad", "later"] {
        queue.add(key.to_owned());
    }
    tokio::time::sleep(Duration::from_secs(4)).await;
    queue.add("slow".to_owned());
    queue.add_rate_limited("limited".to_owned());
    let shown = waits(&[], None);
    for (key, begin, end) in [
        ("slow", "being reconciled since ", "(4.0 s ago); queued again"),
        ("bad", "backing off after error 10 until ", " s)"),
        ("later", "requeue-after until ", "(in 3596.0 s)"),
        ("limited", "rate limited 1 times, until ", "(in 0.0 s)"),
    ] {
        let row = shown.split(&format!("<tr><td>&quot;{key}&quot;</td><td>")).nth(1);
        let why = row.and_then(|row| row.split("</td>").next()).unwrap_or_default();
        assert!(why.starts_with(begin) && why.ends_with(end), "{key}: {why}");
    }
    for number in 0..200 {
        queue.add_after(number.to_string(), Duration::from_secs(9));
    }
    assert!(waits(&[], None).contains("<p>and 104 more keys</p>"));
    stop.cancel();
    run.await.unwrap().unwrap_err();
    assert!(waits(&[], None).contains("<p>stopped</p>"));
}

/// Removes the names of columns that narrow screens show in each cell.
fn without_labels(page: &str) -> String {
    let mut parts = page.split(" data-label=\"");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, part| text + part.split_once('"').unwrap().1)
}

#[test]
fn page_closes_every_tag_and_shows_none_when_empty() {
    let empty = page(&[], &[], None, None);
    assert_eq!(empty.matches("<p>none</p>").count(), 2, "{empty}");
    assert!(empty.contains("no leader election"), "{empty}");
    let full = page(&[], &[informer()], Some(&shard()), Some(&lease()));
    for page in [empty, full] {
        let mut open: Vec<&str> = Vec::new();
        for tag in page.split('<').skip(2).map(|text| text.split_once('>').unwrap().0) {
            match tag.strip_prefix('/') {
                Some(name) => assert_eq!(open.pop(), Some(name), "{page}"),
                None if tag.starts_with("meta ") => {}
                None => open.push(tag.split(' ').next().unwrap()),
            }
        }
        assert!(open.is_empty(), "{open:?} in {page}");
    }
}

#[tokio::test(start_paused = true)]
async fn page_shows_failing_and_slow_keys() {
    let queue = Queue::new("maps & more");
    let reconciler = reconcile_fn(|key: String| async move {
        tokio::time::sleep(Duration::from_millis(1500)).await;
        let error = || ReconcileError::terminal("<script>alert(1)</script>");
        if key == "bad" { Err(error()) } else { Ok(Action::done()) }
    });
    let mut controller = Controller::new("maps & more", queue.clone(), reconciler).workers(2);
    let state = controller.state();
    let stop = CancellationToken::new();
    let run = tokio::spawn(controller.run(stop.clone()));
    for key in ["good", "bad", "waits"] {
        queue.add(key.to_owned());
    }
    tokio::time::sleep(Duration::from_secs(1)).await;
    let (in_work, waiting) = (state.queue().processing, state.queue().waiting);
    assert_eq!((in_work, waiting), (2, 1));
    tokio::time::sleep(Duration::from_secs(10)).await;
    let page = page(&[state], &[informer()], Some(&shard()), None);
    assert!(page.contains("<td data-label=\"key that fails\">&quot;bad&quot;</td>"), "{page}");
    let page = without_labels(&page);
    for text in [
        "<h3>maps &amp; more</h3>",
        "<tr><td>2</td><td>0</td><td>0</td><td>0</td><td>2</td><td>1</td></tr>",
        "<tr><td>&quot;bad&quot;</td><td>1</td><td>9 s ago</td><td>not retried until it changes</td>\
         <td>&lt;script&gt;alert(1)&lt;/script&gt;</td></tr>",
        "<tr><td>&quot;waits&quot;</td><td>1.500 s</td></tr>",
        "<tr><td>configmaps</td><td>synced</td><td>3</td><td>17</td><td>1</td>\
         <td>cannot watch &lt;configmaps&gt;</td></tr>",
        "<h2>Shards of caches</h2>",
        "<tr><td>configmaps</td><td>shardRange(object.metadata.uid, '0x0000000000000000', '0x8000000000000000')</td>\
         <td>this replica</td><td>9</td><td>1234</td></tr>",
        "<h2>Share of maps-a</h2>",
        "<tr><td>working</td><td>25.0 %</td><td>3</td><td>2</td><td>1</td><td>7</td><td>4</td><td>maps-b</td>\
         <td>&lt;refused&gt;</td></tr>",
        "<tr><td>maps-a</td></tr>\n<tr><td>maps-b</td></tr>",
        "<tr><td>configmaps</td><td>&lt;maps&gt;</td><td>synced</td><td>5</td><td>4</td><td>3</td><td>2</td>\
         <td>update default/a for 61.5 s</td></tr>",
    ] {
        assert!(page.contains(text), "no {text} in\n{page}");
    }
    stop.cancel();
    run.await.unwrap().unwrap();
}
