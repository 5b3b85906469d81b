//! Which states count as failures, and how they are reported.

use std::time::Duration;

use futures::FutureExt as _;
use futures::future::BoxFuture;
use k8s_openapi::api::core::v1::ConfigMap;
use kube::api::{Api, DynamicObject, ListParams, Patch, PatchParams, PostParams};
use kube::{Client, ResourceExt as _};
use kubesmith_testenv::{Explore, Failed, Report};
use operators::frame::{Seen, has_finalizer, is_deleted, orphan, run, unless, widgets};
use serde_json::json;

use super::{HOUR, SCHEDULES, child, describe, explored, found, level_triggered};

/// Leaves its maps behind.
async fn leaks(seen: Seen) -> kube::Result<()> {
    for widget in seen.live() {
        seen.put(orphan(widget, "map", 1)).await?;
    }
    Ok(())
}

#[test]
fn leak_is_found_without_faults() {
    let failed = found(leaks);
    assert!(failed.failure().ends_with("stays:\n  - configmaps default/one-map"), "{failed}");
    assert!(failed.plan().is_empty(), "{failed}");
}

/// Writes the widget as it was read. After a conflict, it writes the same widget with the server's current
/// version.
async fn writes_what_it_has_read(seen: Seen) -> kube::Result<()> {
    for widget in seen.live() {
        let fresh = seen.fresh(widget).await?;
        let Some(mut mine) = fresh.filter(|fresh| !fresh.annotations().contains_key("seen")) else {
            continue;
        };
        mine.annotations_mut().insert("seen".to_owned(), "yes".to_owned());
        while let Err(kube::Error::Api(status)) =
            seen.widget_api().replace(&widget.name_any(), &PostParams::default(), &mine).await
            && status.code == 409
        {
            mine.metadata.resource_version =
                seen.fresh(widget).await?.and_then(|fresh| fresh.resource_version());
        }
    }
    Ok(())
}

async fn patches_what_is_its_own(seen: Seen) -> kube::Result<()> {
    for widget in seen.live().filter(|widget| !widget.annotations().contains_key("seen")) {
        let patch = Patch::Merge(json!({"metadata": {"annotations": {"seen": "yes"}}}));
        seen.widget_api().patch(&widget.name_any(), &PatchParams::default(), &patch).await?;
    }
    Ok(())
}

#[test]
fn lost_edit_is_found_when_a_conflict_is_overwritten() {
    let failed = found(writes_what_it_has_read);
    assert!(failed.failure().starts_with("a user's edit between read and write is overwritten"), "{failed}");
    explored(45, patches_what_is_its_own).unwrap();
}

/// Replaces a map of another size. Its cache may still have the map that it has deleted.
async fn replaces(seen: &Seen, exactly: bool) -> kube::Result<()> {
    for widget in seen.live() {
        let wanted = child(widget, true);
        let found = seen.maps.get(&widget.name_any());
        match found.filter(|map| map.data != wanted.data) {
            Some(map) if exactly => seen.remove_exactly(map).await?,
            Some(map) => seen.remove(&map.name_any()).await?,
            None => {}
        }
        if found.is_none_or(|map| map.data != wanted.data) {
            unless(409, seen.map_api().create(&PostParams::default(), &wanted).await.map(drop))?;
        }
        seen.set_status(widget, json!({"made": widget.data["spec"]["size"]})).await?;
    }
    Ok(())
}

/// Its lists are never stale, only its watches.
fn replacing(exactly: bool) -> Result<Report, Box<Failed>> {
    Explore::new("replacing").schedules(if exactly { 60 } else { SCHEDULES }).time(HOUR).run(
        move |sim| async move {
            describe(&sim);
            sim.operator(move |client| run(client, false, async move |seen| replaces(&seen, exactly).await));
        },
    )
}

#[test]
fn deletion_is_found_when_the_object_is_as_wanted() {
    let failed = replacing(false).unwrap_err();
    assert!(failed.failure().ends_with("made again: ConfigMap default/one"), "{failed}");
    assert!(failed.plan().starts_with("hold@event configmaps DELETED default/one"), "{failed}");
    replacing(true).unwrap_or_else(|failed| panic!("{failed}"));
}

/// Asks for its maps without a pause.
async fn busy(client: Client) -> kube::Result<()> {
    let maps: Api<ConfigMap> = Api::namespaced(client, "default");
    loop {
        maps.list(&ListParams::default()).await?;
    }
}

/// Ends after its first list.
async fn once_only(client: Client) -> kube::Result<()> {
    let maps: Api<ConfigMap> = Api::namespaced(client, "default");
    maps.list(&ListParams::default()).await.map(drop)
}

/// Makes a map that is refused, every minute.
async fn refused(client: Client) -> kube::Result<()> {
    let maps: Api<ConfigMap> = Api::namespaced(client, "default");
    loop {
        let mut map = ConfigMap::default();
        map.metadata.name = Some("Not A Name".to_owned());
        let _ = maps.create(&PostParams::default(), &map).await;
        tokio::time::sleep(Duration::from_secs(60)).await;
    }
}

/// Applies a field of the user every minute, and does not insist.
async fn conflicts(client: Client) -> kube::Result<()> {
    let all: Api<DynamicObject> = Api::namespaced_with(client, "default", &widgets());
    let widget = json!({"apiVersion": "a.example/v1", "kind": "Widget", "metadata": {"name": "one"}, "spec": {"size": 5}});
    loop {
        if all.get_opt("one").await?.is_some() {
            let _ = all.patch("one", &PatchParams::apply("operator"), &Patch::Apply(&widget)).await;
        }
        tokio::time::sleep(Duration::from_secs(60)).await;
    }
}

/// Sets a finalizer that it never removes.
async fn keeps(seen: Seen) -> kube::Result<()> {
    for widget in seen.live().filter(|widget| !has_finalizer(*widget)) {
        seen.finalize(widget, true).await?;
    }
    Ok(())
}

#[test]
fn operator_without_rest_is_found_without_faults() {
    let failure = |operator: fn(Client) -> BoxFuture<'static, kube::Result<()>>| {
        let failed = Explore::new("restless").schedules(0).time(HOUR).run(move |sim| async move {
            describe(&sim);
            sim.operator(operator);
        });
        failed.unwrap_err().failure().to_owned()
    };
    assert_eq!(failure(|client| busy(client).boxed()), "busy loop: requests never end");
    assert_eq!(failure(|client| once_only(client).boxed()), "the operator's future ends again and again");
    let text = failure(|client| refused(client).boxed());
    assert!(
        text.starts_with("the server refuses the same write again and again: create configmaps"),
        "{text}"
    );
    let text = failure(|client| conflicts(client).boxed());
    assert!(text.starts_with("the server refuses the same write again and again: patch widgets"), "{text}");
    let stuck = found(keeps);
    assert!(
        stuck.failure().starts_with("the deletion never ends: \"one\" waits for the finalizers"),
        "{stuck}"
    );
    assert!(stuck.plan().is_empty(), "{stuck}");
}

/// Never changes a map.
async fn once(seen: Seen) -> kube::Result<()> {
    for widget in seen.widgets.values().filter(|widget| !is_deleted(*widget)) {
        seen.put(child(widget, true)).await?;
    }
    Ok(())
}

#[test]
fn operator_survives_when_objects_are_removed_and_recreated() {
    // Its map keeps its first size: schedules are compared with the run without faults.
    let report = explored(60, once).unwrap();
    assert!(report.states() > 3 && report.schedules() > 60, "{report}");
    let history: Vec<&str> = report.history().collect();
    assert_eq!(history, ["ConfigMap default/one: data.size is 2 instead of 1"], "{report}");
}

#[test]
fn page_and_replay_are_written() {
    let folder = tempfile::tempdir().unwrap();
    let explore = |name: &str, leaking: bool| {
        Explore::new(name).schedules(3).time(HOUR).report(folder.path()).run(move |sim| async move {
            describe(&sim);
            sim.operator(move |client| {
                run(
                    client,
                    true,
                    async move |seen| {
                        if leaking { leaks(seen).await } else { level_triggered(seen).await }
                    },
                )
            });
        })
    };
    explore("leaks", true).unwrap_err();
    explore("level", false).unwrap();
    let file = |name: &str| std::fs::read_to_string(folder.path().join(name)).unwrap();
    assert_eq!(file("leaks.replay"), "seed=1");
    assert!(file("leaks.html").contains("default/one-map"), "{}", file("leaks.html"));
    let page = file("level.html");
    assert!(page.contains("<h2>Crashes</h2>") && page.contains("patch configmaps default/one#0"), "{page}");
}
