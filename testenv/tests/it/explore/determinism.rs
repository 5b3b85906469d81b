//! The same seed gives the same run.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use futures::TryStreamExt as _;
use futures::future::try_join_all;
use k8s_openapi::api::core::v1::ConfigMap;
use kube::api::{Api, PostParams, WatchParams};
use kube::{Client, ResourceExt as _};
use kubesmith_testenv::{Explore, Failed};
use operators::frame::{Seen, is_deleted, orphan, part, run, unless};
use serde_json::json;

use super::{HOUR, SCHEDULES, child, describe, explored, level_triggered};

/// Writes the status as if the maps existed, then creates them at once, in the order of a `HashMap`.
async fn notes_first(seen: Seen) -> kube::Result<()> {
    for widget in seen.widgets.values().filter(|widget| !is_deleted(*widget)) {
        if widget.data["status"]["done"] == widget.data["spec"]["size"] {
            continue;
        }
        seen.set_status(widget, json!({"done": widget.data["spec"]["size"]})).await?;
        let maps: HashMap<String, ConfigMap> = (0..5)
            .map(|i| {
                let mut map = child(widget, true);
                let name = format!("one-{i}");
                map.metadata.name = Some(name.clone());
                (name, map)
            })
            .collect();
        let api = seen.map_api();
        let params = PostParams::default();
        try_join_all(
            maps.values().map(|map| async { unless(409, api.create(&params, map).await.map(drop)) }),
        )
        .await?;
    }
    Ok(())
}

fn failed() -> Failed {
    *Explore::new("same")
        .schedules(SCHEDULES)
        .time(HOUR)
        .run(|sim| async move {
            describe(&sim);
            sim.operator(|client| run(client, true, async |seen| notes_first(seen).await));
        })
        .unwrap_err()
}

#[test]
fn story_is_the_same_a_hundred_times_under_load() {
    let first = failed();
    let threads: Vec<_> =
        (0..4).map(|_| thread::spawn(|| (0..25).map(|_| failed()).collect::<Vec<_>>())).collect();
    for again in threads.into_iter().flat_map(|thread| thread.join().unwrap()) {
        assert_eq!((again.plan(), again.runs()), (first.plan(), first.runs()));
        assert_eq!(again.story(), first.story());
    }
}

/// Makes a map whose name is drawn, and leaves it behind.
async fn draws(seen: Seen) -> kube::Result<()> {
    let has_one = seen.maps.values().any(|map| map.labels().contains_key("of"));
    for widget in seen.live().filter(|_| !has_one) {
        seen.put(orphan(widget, &fastrand::u32(..).to_string(), 1)).await?;
    }
    Ok(())
}

#[test]
fn drawn_numbers_are_the_same_when_the_seed_is() {
    let failure = || explored(1, draws).unwrap_err().failure().to_owned();
    let first = failure();
    assert!(first.contains("stays:\n  - configmaps default/one-"), "{first}");
    (0..5).for_each(|_| assert_eq!(failure(), first));
}

/// Watches until the server ends the watch, at a moment when a bookmark is due.
async fn watches(client: Client) -> kube::Result<()> {
    let maps: Api<ConfigMap> = Api::namespaced(client, "default");
    loop {
        let mut events = Box::pin(maps.watch(&WatchParams::default().timeout(240), "0").await?);
        while events.try_next().await?.is_some() {}
    }
}

#[test]
fn report_is_the_same_when_timers_of_the_server_are_due_at_once() {
    let text = || {
        let explore = Explore::new("watches").schedules(0).time(HOUR);
        let report = explore.run(|sim| async move {
            describe(&sim);
            sim.operator(watches);
        });
        let text = report.unwrap().to_string();
        // Without the machine's clock.
        let (name, rest) = text.split_once(" in ").unwrap();
        format!("{name}{}", rest.split_once(')').unwrap().1)
    };
    let first = text();
    (0..10).for_each(|_| assert_eq!(text(), first));
}

/// Makes several maps one after the other, in the order of a `HashMap`.
async fn in_any_order(seen: Seen) -> kube::Result<()> {
    let has_some = seen.maps.values().any(|map| map.labels().contains_key("of"));
    for widget in seen.live().filter(|_| !has_some) {
        let all: HashMap<u32, ConfigMap> =
            (0..9).map(|i| (i, part(widget, &i.to_string(), widget.name_any()))).collect();
        for map in all.into_values() {
            seen.put(map).await?;
        }
    }
    Ok(())
}

#[test]
fn cause_is_named_when_a_run_does_not_repeat() {
    let report = explored(0, in_any_order).unwrap();
    let diverges = report.diverges().unwrap();
    assert!(
        diverges.ends_with("another order, as by the order of a HashMap or by a branch of tokio::select!"),
        "{report}"
    );
    assert!(report.to_string().contains("not deterministic"), "{report}");
    assert_eq!(explored(0, level_triggered).unwrap().diverges(), None);
}

#[test]
fn failure_of_a_repeated_run_is_reported() {
    static RUNS: AtomicUsize = AtomicUsize::new(0);
    let failed = Explore::new("fourth").schedules(0).time(HOUR).run(|sim| async move {
        describe(&sim);
        sim.operator(|client| {
            let number = RUNS.fetch_add(1, Ordering::Relaxed);
            run(client, true, async move |seen| {
                // The first run without faults, one with the resources that it writes, one with another seed, and the repeated one.
                assert_ne!(number, 3, "the fourth run");
                level_triggered(seen).await
            })
        });
    });
    let failed = failed.unwrap_err();
    assert!(failed.to_string().contains("the fourth run"), "{failed}");
    assert!(failed.to_string().contains("not deterministic"), "{failed}");
}
