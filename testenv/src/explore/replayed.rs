//! Schedules that must not fail, and failures of single schedules.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use futures::TryStreamExt as _;
use k8s_openapi::api::core::v1::{ConfigMap, Pod};
use kube::Client;
use kube::api::{
    Api, ApiResource, DynamicObject, GroupVersionKind, ListParams, PostParams, WatchEvent, WatchParams,
};
use operators::frame::{CRD, Seen, is_deleted, part, run, widgets};
use serde_json::json;

use super::settings::Settings;
use super::{Explore, Failed, Outside, Report, Sim};

pub(super) const WIDGET: &str = "
apiVersion: a.example/v1
kind: Widget
metadata: {name: one, namespace: default}
spec: {size: 1}
";

/// Runs a scenario without faults and with one schedule.
pub(super) fn replayed(plan: &str, scenario: fn(&Sim)) -> Result<Report, Box<Failed>> {
    let plan = Some(plan.parse().unwrap());
    let explore = Explore { name: "replayed".to_owned(), settings: Settings { plan, ..Settings::default() } };
    explore.supervised(move |sim| async move {
        sim.crds(CRD);
        scenario(&sim);
    })
}

#[track_caller]
pub(super) fn passes(plan: &str, scenario: fn(&Sim)) {
    replayed(plan, scenario).unwrap_or_else(|failed| panic!("{failed}"));
}

async fn has_part(seen: Seen) -> kube::Result<()> {
    for widget in seen.live() {
        seen.put(part(widget, "part", 1)).await?;
    }
    Ok(())
}

#[test]
fn condition_is_not_checked_when_the_next_step_comes_early() {
    passes("early@step#1", |sim| {
        sim.apply(WIDGET);
        sim.operator(|client| run(client, false, has_part));
        sim.eventually(|view| !view.list::<ConfigMap>().is_empty());
    });
}

/// Notes in the status that the part exists.
async fn notes_part(seen: Seen) -> kube::Result<()> {
    for widget in seen.live() {
        seen.put(part(widget, "part", 1)).await?;
        if widget.data["status"]["done"] != true {
            seen.set_status(widget, json!({"done": true})).await?;
        }
    }
    Ok(())
}

#[test]
fn invariant_is_not_checked_while_the_operators_objects_are_removed() {
    passes("again", |sim| {
        sim.apply(WIDGET);
        sim.operator(|client| run(client, false, notes_part));
        sim.always(|view| {
            let is_done = |widget: &serde_json::Value| widget["status"]["done"] == true;
            !view.objects("a.example/v1", "Widget").iter().any(is_done)
                || !view.list::<ConfigMap>().is_empty()
        });
    });
}

/// Makes an object that stays, once for each widget.
async fn registers_once(seen: Seen) -> kube::Result<()> {
    for widget in seen.live().filter(|widget| widget.data["status"]["done"] != true) {
        let mut registry = ConfigMap::default();
        registry.metadata.name = Some("registry".to_owned());
        seen.put(registry).await?;
        seen.set_status(widget, json!({"done": true})).await?;
    }
    Ok(())
}

#[test]
fn object_without_owner_may_be_made_after_its_removal() {
    passes("again; slow-step@create configmaps default/registry#0", |sim| {
        sim.apply(WIDGET);
        sim.operator(|client| run(client, false, registers_once));
    });
}

#[test]
fn place_that_the_run_does_not_have_is_named() {
    let failure = |plan: &str| {
        let failed = replayed(plan, |sim| {
            sim.apply(WIDGET);
            sim.operator(|client| run(client, false, has_part));
        });
        failed.unwrap_err().failure().to_owned()
    };
    assert_eq!(
        failure("crash-after@create configmaps default/one-prat#0"),
        "the run of this schedule has no place \"create configmaps default/one-prat#0\"; the nearest ones are:\n  \
         - create configmaps default/one-part#0\n  \
         - event configmaps ADDED default/one-part#0\n  \
         - event configmaps DELETED default/one-part#0"
    );
    assert_eq!(failure("invalid@7"), "the run of this schedule has no place \"invalid@7\"");
}

/// Acts on events only.
async fn acts_on_events(client: Client) -> kube::Result<()> {
    let all: Api<DynamicObject> = Api::namespaced_with(client.clone(), "default", &widgets());
    let maps: Api<ConfigMap> = Api::namespaced(client, "default");
    let restore = async || {
        for widget in
            all.list(&ListParams::default()).await?.items.iter().filter(|widget| !is_deleted(*widget))
        {
            maps.create(&PostParams::default(), &part(widget, "part", 1)).await.map(drop).or_else(exists)?;
        }
        Ok::<(), kube::Error>(())
    };
    let of_widgets = async {
        let mut events = Box::pin(all.watch(&WatchParams::default(), "0").await?);
        while let Some(event) = events.try_next().await? {
            if matches!(event, WatchEvent::Added(_)) {
                restore().await?;
            }
        }
        Ok::<(), kube::Error>(())
    };
    let of_maps = async || -> kube::Result<()> {
        loop {
            let list = maps.list(&ListParams::default()).await?;
            let version = list.metadata.resource_version.unwrap_or_default();
            let mut events = Box::pin(maps.watch(&WatchParams::default(), &version).await?);
            while let Ok(Some(event)) = events.try_next().await {
                match event {
                    WatchEvent::Deleted(_) => restore().await?,
                    WatchEvent::Error(_) => break,
                    _ => {}
                }
            }
        }
    };
    futures::try_join!(of_widgets, of_maps()).map(drop)
}

fn exists(error: kube::Error) -> kube::Result<()> {
    match error {
        kube::Error::Api(status) if status.code == 409 => Ok(()),
        other => Err(other),
    }
}

#[test]
fn removal_may_stay_unseen_with_the_object() {
    passes("again; miss-step@event configmaps ADDED default/one-part#0", |sim| {
        sim.apply(WIDGET);
        sim.operator(acts_on_events);
    });
}

/// After an error, no process with these statics makes anything.
async fn gives_up(seen: Seen) -> kube::Result<()> {
    static HAS_FAILED: AtomicBool = AtomicBool::new(false);
    if HAS_FAILED.load(Ordering::Relaxed) {
        return Ok(());
    }
    has_part(seen).await.inspect_err(|_| HAS_FAILED.store(true, Ordering::Relaxed))
}

#[test]
fn statics_are_named_when_they_outlive_a_failure() {
    let plan = "status-500@create configmaps default/one-part#0";
    let failed = replayed(plan, |sim| {
        sim.apply(WIDGET);
        sim.operator(|client| run(client, false, gives_up));
    });
    let failed = failed.unwrap_err();
    assert_eq!(failed.plan(), plan, "{failed}");
    assert!(failed.to_string().contains("keeps values in statics"), "{failed}");
}

/// Registers all widgets in an outside system, and takes an error for an empty list.
async fn polls(client: Client, outside: Outside<std::collections::BTreeSet<String>>) {
    let all: Api<DynamicObject> = Api::namespaced_with(client, "default", &widgets());
    loop {
        let list = all.list(&ListParams::default()).await.map(|list| list.items).unwrap_or_default();
        let names = list.iter().map(kube::ResourceExt::name_any).collect();
        let _ = outside.call("register", |known| *known = names).await;
        tokio::time::sleep(Duration::from_secs(60)).await;
    }
}

#[test]
fn entry_of_an_outside_system_may_not_vanish_for_a_while() {
    let failed = replayed("status-500@list widgets.a.example default/#2", |sim| {
        let outside = sim.outside("registry", std::collections::BTreeSet::new());
        sim.apply(WIDGET);
        sim.apply(WIDGET.replace("name: one", "name: two"));
        sim.operator(move |client| polls(client, outside.clone()));
    });
    let failed = failed.unwrap_err();
    assert!(failed.failure().ends_with("deleted and made again: Outside registry one"), "{failed}");
}

/// Makes a part without an owner for each widget of a group, which stays.
async fn leaks_part(client: Client, group: &str) -> kube::Result<()> {
    let all: Api<DynamicObject> = Api::default_namespaced_with(client.clone(), &widgets_of(group));
    let maps: Api<ConfigMap> = Api::default_namespaced(client);
    loop {
        for widget in all.list(&ListParams::default()).await? {
            let mut map = part(&widget, "part", 1);
            map.metadata.owner_references = None;
            maps.create(&PostParams::default(), &map).await.map(drop).or_else(exists)?;
        }
        tokio::time::sleep(Duration::from_secs(60)).await;
    }
}

fn widgets_of(group: &str) -> ApiResource {
    ApiResource::from_gvk_with_plural(&GroupVersionKind::gvk(group, "v1", "Widget"), "widgets")
}

#[test]
fn installed_definition_is_custom_whatever_its_group_ends_in() {
    const GROUP: &str = "a.example.k8s.io";
    let explore =
        Explore { name: "group".to_owned(), settings: Settings { schedules: 0, ..Settings::default() } };
    let failed = explore.supervised(move |sim| async move {
        let approved =
            "metadata:\n  annotations: {api-approved.kubernetes.io: unapproved}\n  name: widgets.a.example.k8s.io";
        sim.crds(CRD.replace("metadata: {name: widgets.a.example}", approved).replace("group: a.example", &format!("group: {GROUP}")));
        sim.apply(WIDGET.replace("a.example", GROUP));
        sim.operator(|client| leaks_part(client, GROUP));
    });
    let failed = failed.unwrap_err();
    assert!(failed.failure().ends_with("stays:\n  - configmaps default/one-part"), "{failed}");
}

/// Registers all widgets in an outside system for ever.
async fn registers(client: Client, outside: Outside<std::collections::BTreeSet<String>>) {
    let all: Api<DynamicObject> = Api::namespaced_with(client, "default", &widgets());
    loop {
        for widget in all.list(&ListParams::default()).await.map(|list| list.items).unwrap_or_default() {
            let name = kube::ResourceExt::name_any(&widget);
            let _ = outside.call("register", |known| known.insert(name)).await;
        }
        tokio::time::sleep(Duration::from_secs(60)).await;
    }
}

fn registering(sim: &Sim) {
    let outside = sim.outside("registry", ["known before".to_owned()].into());
    sim.apply(WIDGET);
    sim.operator(move |client| registers(client, outside.clone()));
}

#[test]
fn entry_of_an_outside_system_is_a_leak_when_it_stays() {
    let failed = replayed("", registering).unwrap_err();
    assert!(failed.failure().ends_with("stays:\n  - Outside registry one"), "{failed}");
    passes("", |sim| {
        sim.ignore("Outside", "status");
        registering(sim);
    });
}

/// Makes a second part of small widgets, which stays.
async fn has_part_of_small(seen: Seen) -> kube::Result<()> {
    for widget in seen.live().filter(|widget| widget.data["spec"]["size"] == 1) {
        seen.put(part(widget, "small", 1)).await?;
    }
    has_part(seen).await
}

#[test]
fn part_of_an_earlier_form_is_found_without_faults() {
    let failed = replayed("", |sim| {
        sim.apply(WIDGET);
        sim.apply(WIDGET.replace("size: 1", "size: 2"));
        sim.operator(|client| run(client, false, has_part_of_small));
    });
    let failed = failed.unwrap_err();
    assert!(failed.failure().ends_with("\n  - ConfigMap default/one-small is left over"), "{failed}");
}

/// Looks at its pod twenty times a second until it runs, and counts the looks.
async fn waits_for_pod(seen: Seen) -> kube::Result<()> {
    let pods: Api<Pod> = Api::namespaced(seen.client.clone(), "default");
    for widget in seen.live().filter(|widget| widget.data["status"]["runs"] != true) {
        let pod = json!({
            "apiVersion": "v1", "kind": "Pod",
            "metadata": {"name": "one", "ownerReferences": part(widget, "", 1).metadata.owner_references},
            "spec": {"containers": [{"name": "main", "image": "main"}]},
        });
        let Some(found) = pods.get_opt("one").await? else {
            let pod = serde_json::from_value(pod).map_err(kube::Error::SerdeError)?;
            pods.create(&PostParams::default(), &pod).await?;
            continue;
        };
        tokio::time::sleep(Duration::from_millis(50)).await;
        let looks = widget.data["status"]["attempts"].as_u64().unwrap_or_default();
        let runs = found.status.is_some_and(|status| status.phase.as_deref() == Some("Running"));
        seen.set_status(widget, json!({"attempts": looks + 1, "runs": runs})).await?;
    }
    if seen.live().any(|widget| widget.data["status"].is_null()) {
        for widget in seen.live() {
            seen.set_status(widget, json!({"attempts": 1})).await?;
        }
    }
    Ok(())
}

#[test]
fn loop_until_a_pod_runs_is_no_failure() {
    passes("", |sim| {
        sim.apply(WIDGET);
        sim.operator(|client| run(client, false, waits_for_pod));
    });
}

/// Computes for ever as soon as its part exists.
async fn computes(seen: Seen) -> kube::Result<()> {
    while seen.maps.contains_key("one-part") && !IS_SEEN.load(Ordering::Relaxed) {
        std::hint::spin_loop();
    }
    has_part(seen).await
}

static IS_SEEN: AtomicBool = AtomicBool::new(false);

#[test]
fn endless_computation_has_a_story() {
    let settings = Settings { stuck: Duration::from_secs(1), seed: 7, ..Settings::default() };
    let explore = Explore { name: "computes".to_owned(), settings };
    let failed = explore.supervised(|sim| async move {
        sim.crds(CRD);
        sim.apply(WIDGET);
        sim.operator(|client| run(client, false, computes));
    });
    IS_SEEN.store(true, Ordering::Relaxed);
    let failed = failed.unwrap_err();
    assert!(failed.failure().starts_with("the operator computes for half a minute"), "{failed}");
    assert_eq!(failed.replay(), "seed=7", "{failed}");
    let last = failed.story().last().unwrap();
    assert!(last.ends_with("operator sees configmaps ADDED default/one-part"), "{failed}");
}

/// Notes that it is done before it is, for large widgets.
async fn notes_large_first(seen: Seen) -> kube::Result<()> {
    for widget in seen.live() {
        let is_large = widget.data["spec"]["size"] == 3;
        if is_large && widget.data["status"]["large"].is_null() {
            seen.set_status(widget, json!({"large": true})).await?;
            seen.put(part(widget, "large", 1)).await?;
        }
    }
    has_part(seen).await
}

fn growing(sim: &Sim) {
    for size in ["size: 1", "size: 2", "size: 3"] {
        sim.apply(WIDGET.replace("size: 1", size));
    }
    sim.operator(|client| run(client, false, notes_large_first));
}

#[test]
fn steps_are_left_out_when_the_failure_stays() {
    let settings = Settings { schedules: 100, time: Duration::from_secs(3600), ..Settings::default() };
    let explore = Explore { name: "replayed".to_owned(), settings };
    let failed = explore.supervised(|sim| async move {
        sim.crds(CRD);
        growing(&sim);
    });
    let failed = failed.unwrap_err();
    assert!(failed.plan().ends_with("; without@step#0; without@step#1"), "{failed}");
    assert!(failed.failure().contains("after step 1, the objects do not become"), "{failed}");
    let again = replayed(failed.plan(), growing).unwrap_err();
    assert_eq!((again.failure(), again.story()), (failed.failure(), failed.story()));
    passes("without@step#2", growing);
}
