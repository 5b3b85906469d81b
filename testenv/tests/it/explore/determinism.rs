//! The same seed gives the same story.

use std::collections::HashMap;
use std::thread;

use futures::future::try_join_all;
use k8s_openapi::api::core::v1::ConfigMap;
use kube::api::PostParams;
use kubesmith_testenv::{Explore, Failed};
use operators::frame::{Seen, is_deleted, run, unless};
use serde_json::json;

use super::{HOUR, SCHEDULES, child, describe};

/// Makes several maps at once, in the order of a `HashMap`, and notes first that it has.
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
