//! Small operators with a bug, and their repaired twins, in the simulation.

mod determinism;
mod endless;
mod faults;
mod fields;
mod oracles;
mod remains;
mod replicas;
mod vary;
mod webhooks;

use std::collections::BTreeMap;
use std::time::Duration;

use k8s_openapi::api::core::v1::ConfigMap;
use kube::api::{DeleteParams, DynamicObject, Patch, PatchParams, PostParams};
use kube::{Client, Resource as _, ResourceExt as _};
use kubesmith_testenv::{Explore, Failed, Report, Sim};
use operators::frame::{CRD, Seen, is_deleted, run, unless, widgets};
use serde_json::json;

const SMALL: &str = "
apiVersion: a.example/v1
kind: Widget
metadata: {name: one, namespace: default}
spec: {size: 1}
";

const LARGE: &str = "
apiVersion: a.example/v1
kind: Widget
metadata: {name: one, namespace: default}
spec: {size: 2}
";

/// The maximum number of schedules that search for a bug, and the number that an operator without a bug
/// survives.
const SCHEDULES: usize = 150;
const SURVIVED: usize = 20;
/// The number of schedules ends a search, on a slow machine too.
const HOUR: Duration = Duration::from_secs(3600);

fn describe(sim: &Sim) {
    sim.crds(CRD);
    sim.apply(SMALL);
    sim.apply(LARGE);
}

fn explored<F, Fut>(schedules: usize, operator: F) -> Result<Report, Box<Failed>>
where
    F: Fn(Seen) -> Fut + Copy + Send + 'static,
    Fut: Future<Output = kube::Result<()>> + 'static,
{
    Explore::new("widgets").schedules(schedules).time(HOUR).run(move |sim| async move {
        describe(&sim);
        sim.operator(move |client| run(client, true, async move |seen| operator(seen).await));
    })
}

/// The bug of an operator.
#[track_caller]
fn found<F, Fut>(operator: F) -> Failed
where
    F: Fn(Seen) -> Fut + Copy + Send + 'static,
    Fut: Future<Output = kube::Result<()>> + 'static,
{
    let failed = *explored(SCHEDULES, operator).unwrap_err();
    println!("{failed}");
    failed
}

#[track_caller]
fn survives<F, Fut>(operator: F)
where
    F: Fn(Seen) -> Fut + Copy + Send + 'static,
    Fut: Future<Output = kube::Result<()>> + 'static,
{
    match explored(SURVIVED, operator) {
        Ok(report) => println!("{report}"),
        Err(failed) => panic!("{failed}"),
    }
}

async fn apply_child(seen: &Seen, widget: &DynamicObject) -> kube::Result<()> {
    let wanted = child(widget, true);
    let has = seen.maps.get(&widget.name_any());
    if has.is_some_and(|map| {
        map.data == wanted.data && map.metadata.owner_references == wanted.metadata.owner_references
    }) {
        return Ok(());
    }
    let map =
        ConfigMap { metadata: kube::core::ObjectMeta { managed_fields: None, ..wanted.metadata }, ..wanted };
    let params = PatchParams::apply("widgets").force();
    seen.map_api().patch(&widget.name_any(), &params, &Patch::Apply(&map)).await.map(drop)
}

/// A config map for a widget, with the size that the widget asks for.
fn child(widget: &DynamicObject, owned: bool) -> ConfigMap {
    let mut map = ConfigMap::default();
    map.metadata.name = Some(widget.name_any());
    map.metadata.labels = Some(BTreeMap::from([("of".to_owned(), widget.name_any())]));
    if owned {
        map.metadata.owner_references = widget.controller_owner_ref(&widgets()).map(|owner| vec![owner]);
    }
    map.data = Some(BTreeMap::from([("size".to_owned(), widget.data["spec"]["size"].to_string())]));
    map
}

/// Applies the children of all widgets.
async fn level_triggered(seen: Seen) -> kube::Result<()> {
    for widget in seen.widgets.values().filter(|widget| !is_deleted(*widget)) {
        apply_child(&seen, widget).await?;
    }
    Ok(())
}

/// Records success before the work is done.
async fn status_first(seen: Seen) -> kube::Result<()> {
    for widget in seen.widgets.values().filter(|widget| !is_deleted(*widget)) {
        if widget.data["status"]["done"] != widget.data["spec"]["size"] {
            seen.set_status(widget, json!({"done": widget.data["spec"]["size"]})).await?;
            apply_child(&seen, widget).await?;
        }
    }
    Ok(())
}

async fn status_last(seen: Seen) -> kube::Result<()> {
    for widget in seen.widgets.values().filter(|widget| !is_deleted(*widget)) {
        apply_child(&seen, widget).await?;
        if widget.data["status"]["done"] != widget.data["spec"]["size"] {
            seen.set_status(widget, json!({"done": widget.data["spec"]["size"]})).await?;
        }
    }
    Ok(())
}

#[test]
fn operator_survives_when_it_is_level_triggered() {
    survives(level_triggered);
    survives(status_last);
}

#[test]
fn intermediate_state_is_found_when_status_comes_first() {
    let failed = found(status_first);
    assert!(failed.failure().contains("size is") || failed.failure().contains("is missing"), "{failed}");
    assert_eq!(failed.faults(), 1, "{failed}");
    assert!(failed.story().len() < 40, "{failed}");
    let has = |text: &str| failed.story().iter().any(|line| line.trim() == text);
    assert!(has("spec.size: nothing → 1") && has("status.done: nothing → 1"), "{failed}");
}

#[test]
fn schedule_is_replayed_when_its_plan_is_given() {
    let failed = found(status_first);
    let again = found(status_first);
    assert_eq!((failed.plan(), failed.story()), (again.plan(), again.story()));
}

/// Makes a child with a generated name, and looks for it in the status.
async fn generated_name(seen: Seen) -> kube::Result<()> {
    for widget in seen.widgets.values().filter(|widget| !is_deleted(*widget)) {
        if widget.data["status"]["map"].is_string() {
            continue;
        }
        let mut map = child(widget, true);
        map.metadata.name = None;
        map.metadata.generate_name = Some("map-".to_owned());
        let map = seen.map_api().create(&PostParams::default(), &map).await?;
        seen.set_status(widget, json!({"map": map.name_any()})).await?;
    }
    Ok(())
}

#[test]
fn duplicate_is_found_when_a_generated_name_is_forgotten() {
    let failed = found(generated_name);
    assert!(failed.failure().contains("ConfigMap default/map-* ("), "{failed}");
}

/// Writes the status in every reconcile.
async fn counts(seen: Seen) -> kube::Result<()> {
    for widget in seen.widgets.values().filter(|widget| !is_deleted(*widget)) {
        let count = widget.data["status"]["count"].as_u64().unwrap_or_default();
        seen.set_status(widget, json!({"count": count + 1})).await?;
    }
    Ok(())
}

#[test]
fn hot_loop_is_found_without_faults() {
    let failed = found(counts);
    assert!(failed.failure().starts_with("hot loop") && failed.plan().is_empty(), "{failed}");
}

/// Panics on an error.
async fn unwraps(seen: Seen) -> kube::Result<()> {
    level_triggered(seen).await.unwrap();
    Ok(())
}

#[test]
fn panic_is_found_when_errors_are_unwrapped() {
    let failed = found(unwraps);
    assert!(
        failed.failure().starts_with("the operator panics") && failed.failure().contains("mod.rs"),
        "{failed}"
    );
}

/// Deletes children when it sees the deletion of their widget.
async fn deletes_on_event(seen: Seen) -> kube::Result<()> {
    for widget in &seen.deleted {
        unless(404, seen.map_api().delete(&widget.name_any(), &DeleteParams::default()).await.map(drop))?;
    }
    for widget in seen.widgets.values() {
        if !seen.maps.contains_key(&widget.name_any()) {
            unless(
                409,
                seen.map_api().create(&PostParams::default(), &child(widget, false)).await.map(drop),
            )?;
        }
    }
    Ok(())
}

/// Removes children in a finalizer.
async fn deletes_in_finalizer(seen: Seen) -> kube::Result<()> {
    const FINALIZER: &str = "a.example/maps";
    for widget in seen.widgets.values() {
        let name = widget.name_any();
        let has = widget.finalizers().iter().any(|finalizer| finalizer == FINALIZER);
        let set = |finalizers: &[&str]| {
            let patch =
                json!({"metadata": {"finalizers": finalizers, "resourceVersion": widget.resource_version()}});
            let api = seen.widget_api();
            let name = name.clone();
            async move { api.patch(&name, &PatchParams::default(), &Patch::Merge(patch)).await.map(drop) }
        };
        match (is_deleted(widget), has) {
            (true, true) => {
                unless(404, seen.map_api().delete(&name, &DeleteParams::default()).await.map(drop))?;
                unless(404, set(&[]).await)?;
            }
            (true, false) => {}
            (false, false) => set(&[FINALIZER]).await?,
            (false, true) if seen.maps.contains_key(&name) => {}
            (false, true) => {
                unless(
                    409,
                    seen.map_api().create(&PostParams::default(), &child(widget, false)).await.map(drop),
                )?;
            }
        }
    }
    Ok(())
}

#[test]
fn unobserved_state_is_found_when_a_deletion_is_missed() {
    let failed = found(deletes_on_event);
    assert!(failed.failure().contains("ConfigMap default/one is left over"), "{failed}");
}

#[test]
fn operator_survives_when_a_finalizer_removes_children() {
    survives(deletes_in_finalizer);
}

/// Removes the maps whose size no widget has, by what its caches show.
async fn removes_what_looks_wrong(seen: Seen) -> kube::Result<()> {
    for map in seen.maps.values().filter(|map| map.labels().contains_key("of")) {
        if !seen.widgets.values().any(|widget| named(widget) == map.name_any()) {
            unless(404, seen.map_api().delete(&map.name_any(), &DeleteParams::default()).await.map(drop))?;
        }
    }
    add_named(&seen).await
}

/// The same, after it has listed the widgets on the server.
async fn removes_what_is_wrong(seen: Seen) -> kube::Result<()> {
    for map in seen.maps.values().filter(|map| map.labels().contains_key("of")) {
        if !seen.widgets.values().any(|widget| named(widget) == map.name_any()) {
            let widgets = seen.widget_api().list(&kube::api::ListParams::default()).await?;
            if !widgets.items.iter().any(|widget| named(widget) == map.name_any()) {
                unless(
                    404,
                    seen.map_api().delete(&map.name_any(), &DeleteParams::default()).await.map(drop),
                )?;
            }
        }
    }
    add_named(&seen).await
}

fn named(widget: &DynamicObject) -> String {
    format!("{}-{}", widget.name_any(), widget.data["spec"]["size"])
}

async fn add_named(seen: &Seen) -> kube::Result<()> {
    for widget in seen.widgets.values().filter(|widget| !is_deleted(*widget)) {
        let mut map = child(widget, true);
        map.metadata.name = Some(named(widget));
        if !seen.maps.contains_key(&named(widget)) {
            unless(409, seen.map_api().create(&PostParams::default(), &map).await.map(drop))?;
        }
    }
    Ok(())
}

#[test]
fn stale_state_is_found_when_a_restart_reads_an_old_list() {
    let failed = found(removes_what_looks_wrong);
    assert!(failed.failure().contains("deleted and made again: configmaps default/one-"), "{failed}");
    assert!(failed.plan().contains("stale"), "{failed}");
    // Before the first step, there was none.
    let is_old = |line: &String| line.contains("(as of version ") && line.ends_with(": no objects)");
    assert!(failed.story().iter().any(is_old), "{failed}");
}

#[test]
fn operator_survives_when_it_reads_live_before_it_deletes() {
    survives(removes_what_is_wrong);
}

#[test]
fn broken_invariants_are_found() {
    let operator = |client: Client| run(client, true, async |seen| level_triggered(seen).await);
    let scenario = move |always: bool| {
        Explore::new("checked").schedules(5).time(HOUR).run(move |sim| async move {
            describe(&sim);
            sim.operator(operator);
            let is_small = |view: &kubesmith_testenv::View| {
                let sizes = view.list::<ConfigMap>().into_iter().filter_map(|map| map.data?.remove("size"));
                let large: Vec<String> = sizes.filter(|size| size != "1").collect();
                if large.is_empty() { Ok(()) } else { Err(format!("there are sizes {large:?}")) }
            };
            if always { sim.always(is_small) } else { sim.eventually(is_small) }
        })
    };
    let failed = scenario(true).unwrap_err();
    assert_eq!(failed.failure(), "an invariant was violated: there are sizes [\"2\"]", "{failed}");
    let failed = scenario(false).unwrap_err();
    assert_eq!(failed.failure(), "a condition did not hold in the end: there are sizes [\"2\"]", "{failed}");
}
