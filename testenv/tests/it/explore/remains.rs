//! What stays or vanishes although it should not: with a custom resource, with an earlier form of one, and by time.

use std::hash::{BuildHasher as _, RandomState};
use std::time::Duration;

use k8s_openapi::api::batch::v1::Job;
use k8s_openapi::api::core::v1::ConfigMap;
use k8s_openapi::jiff::Timestamp;
use kube::api::{Api, DeleteParams, ListParams, Patch, PatchParams, PostParams};
use kube::{Client, ResourceExt as _};
use kubesmith_testenv::{Explore, Failed, Report};
use operators::frame::{CRD, Seen, has_finalizer, is_deleted, number, orphan, part, run, unless};
use serde_json::json;

use super::{HOUR, SMALL};

/// Explores widgets of these sizes, one after the other, after a namespace and a config map of the user.
fn sizes<F, Fut>(sizes: &'static [u64], schedules: usize, operator: F) -> Result<Report, Box<Failed>>
where
    F: Fn(Seen) -> Fut + Copy + Send + 'static,
    Fut: Future<Output = kube::Result<()>> + 'static,
{
    Explore::new("sizes").schedules(schedules).time(HOUR).run(move |sim| async move {
        sim.crds(CRD);
        sim.operator(move |client| run(client, true, async move |seen| operator(seen).await));
        sim.apply("\napiVersion: v1\nkind: Namespace\nmetadata: {name: elsewhere}\n");
        sim.apply("\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: mine, namespace: default}\n");
        for size in sizes {
            sim.apply(SMALL.replace("size: 1", &format!("size: {size}")));
        }
    })
}

/// Makes as many maps as a widget is large, without an owner, and deletes all of them with it.
async fn numbered(seen: Seen, sweeps: bool) -> kube::Result<()> {
    for widget in seen.widgets.values() {
        let size = if is_deleted(widget) { 0 } else { number(widget, "size") };
        if !is_deleted(widget) && !has_finalizer(widget) {
            seen.finalize(widget, true).await?;
        }
        for i in 0..size {
            seen.put(orphan(widget, &format!("part-{i}"), i)).await?;
        }
        let fresh = seen.fresh(widget).await?;
        let is_old = fresh.is_none_or(|fresh| number(&fresh, "size") != number(widget, "size"));
        if (sweeps && !is_old) || is_deleted(widget) {
            for i in seen.numbers_of(widget, "part").into_iter().filter(|i| *i >= size) {
                seen.remove(&format!("{}-part-{i}", widget.name_any())).await?;
            }
        }
        if is_deleted(widget) && seen.numbers_of(widget, "part").is_empty() {
            seen.finalize(widget, false).await?;
        }
    }
    Ok(())
}

#[test]
fn remains_without_an_owner_are_found_when_the_custom_resource_gets_smaller() {
    let failed = sizes(&[3, 2], 20, |seen| numbered(seen, false)).unwrap_err();
    assert!(failed.failure().ends_with("not:\n  - ConfigMap default/one-part-2 is left over"), "{failed}");
    assert!(failed.plan().is_empty(), "{failed}");
    sizes(&[3, 2], 60, |seen| numbered(seen, true)).unwrap_or_else(|failed| panic!("{failed}"));
}

/// Makes a map while a widget is not suspended.
async fn suspends(seen: Seen) -> kube::Result<()> {
    for widget in seen.live().filter(|widget| number(widget, "size") != 2) {
        seen.put(part(widget, "map", 1)).await?;
    }
    Ok(())
}

/// The map is missing if the operator first sees a suspended widget.
#[test]
fn state_may_be_that_of_an_operator_that_has_not_seen_a_step() {
    let report = sizes(&[1, 2, 1], 80, suspends).unwrap_or_else(|failed| panic!("{failed}"));
    assert_eq!(report.history().count(), 0, "{report}");
}

/// Marks a user's map with the name of a widget.
async fn marks(seen: Seen) -> kube::Result<()> {
    for widget in seen.live() {
        let mark = Patch::Merge(json!({"metadata": {"labels": {"used-by": widget.name_any()}}}));
        unless(404, seen.map_api().patch("mine", &PatchParams::default(), &mark).await.map(drop))?;
    }
    Ok(())
}

/// Owns a user's map.
async fn owns(seen: Seen) -> kube::Result<()> {
    for widget in seen.live() {
        let owner = json!({"metadata": {"ownerReferences": part(widget, "", 1).metadata.owner_references}});
        let patch = Patch::Merge(owner);
        unless(404, seen.map_api().patch("mine", &PatchParams::default(), &patch).await.map(drop))?;
    }
    Ok(())
}

#[test]
fn effects_on_a_users_object_are_found_when_they_outlive_the_custom_resource() {
    let failed = sizes(&[1], 0, marks).unwrap_err();
    assert!(failed.failure().ends_with("stays:\n  - the mark of one on ConfigMap default/mine"), "{failed}");
    let failed = sizes(&[1], 0, owns).unwrap_err();
    assert!(failed.failure().ends_with("did not delete:\n  - ConfigMap default/mine"), "{failed}");
}

/// Makes a map in another namespace than its owner's.
async fn elsewhere(seen: Seen) -> kube::Result<()> {
    for widget in seen.live() {
        let maps: Api<ConfigMap> = Api::namespaced(seen.client.clone(), "elsewhere");
        unless(409, maps.create(&PostParams::default(), &part(widget, "map", 1)).await.map(drop))?;
    }
    Ok(())
}

/// Makes a map every minute, of an owner that nobody knows.
async fn collected(client: Client) -> kube::Result<()> {
    let maps: Api<ConfigMap> = Api::namespaced(client, "default");
    let owner = json!([{"apiVersion": "v1", "kind": "ConfigMap", "name": "no", "uid": "nobody"}]);
    let mut map = ConfigMap::default();
    map.metadata.name = Some("map".to_owned());
    map.metadata.owner_references = serde_json::from_value(owner).ok();
    loop {
        unless(409, maps.create(&PostParams::default(), &map).await.map(drop))?;
        tokio::time::sleep(Duration::from_secs(60)).await;
    }
}

#[test]
fn wrong_owners_are_found_when_the_garbage_collector_deletes_their_dependents() {
    let failed = sizes(&[1], 0, elsewhere).unwrap_err();
    let text = "the garbage collector deletes ConfigMap elsewhere/one-map at once: its owner Widget one is in another namespace";
    assert_eq!(failed.failure(), text, "{failed}");
    let failed = Explore::new("collected").schedules(0).time(HOUR).run(|sim| async move {
        super::describe(&sim);
        sim.operator(collected);
    });
    let text = "writes never end: create configmaps default/map creates the object again and again, the last time after 60 s, as it \
                is deleted in between";
    assert_eq!(failed.unwrap_err().failure(), text);
}

/// Replaces the job of a widget with its pods, or says nothing of them: then they are orphans.
async fn replaces_job(seen: Seen, params: DeleteParams) -> kube::Result<()> {
    let jobs: Api<Job> = Api::namespaced(seen.client.clone(), "default");
    for widget in seen.live() {
        let (name, image) = (widget.name_any(), format!("image:{}", number(widget, "size")));
        let owner = part(widget, "", 1).metadata.owner_references;
        let spec = json!({"restartPolicy": "Never", "containers": [{"name": "main", "image": image}]});
        let job = json!({"metadata": {"name": name, "ownerReferences": owner}, "spec": {"template": {"spec": spec}}});
        let job: Job = serde_json::from_value(job).unwrap();
        let image = |job: &Job| job.spec.as_ref()?.template.spec.as_ref()?.containers[0].image.clone();
        if jobs.get_opt(&name).await?.is_some_and(|known| image(&known) != image(&job)) {
            jobs.delete(&name, &params).await?;
        }
        unless(409, jobs.create(&PostParams::default(), &job).await.map(drop))?;
    }
    Ok(())
}

#[test]
fn pods_are_found_when_the_deletion_of_their_job_leaves_them() {
    // The schedules after 40 let a user remove the job.
    sizes(&[1], 42, |seen| replaces_job(seen, DeleteParams::background()))
        .unwrap_or_else(|failed| panic!("{failed}"));
    let failed = sizes(&[1, 2], 0, |seen| replaces_job(seen, DeleteParams::default())).unwrap_err();
    assert!(failed.failure().contains("stays:\n  - pods default/one-"), "{failed}");
}

#[test]
fn pods_of_a_users_workload_may_stay_when_it_has_the_name_of_the_custom_resource() {
    let workload = "
apiVersion: apps/v1
kind: Deployment
metadata: {name: one, namespace: default}
spec:
  selector: {matchLabels: {app: one}}
  template:
    metadata: {labels: {app: one}}
    spec: {containers: [{name: main, image: main}]}
";
    let explored = Explore::new("workload").schedules(0).time(HOUR).run(move |sim| async move {
        sim.crds(CRD);
        sim.operator(|client| run(client, true, async |seen| suspends(seen).await));
        sim.apply(workload);
        sim.apply(SMALL);
    });
    explored.unwrap_or_else(|failed| panic!("{failed}"));
}

/// A user who goes on after the steps cannot apply what was in a deleted namespace.
#[test]
fn deleted_namespace_is_no_failure() {
    let space = "\napiVersion: v1\nkind: Namespace\nmetadata: {name: elsewhere}\n";
    let explored = Explore::new("namespace").schedules(45).time(HOUR).run(move |sim| async move {
        sim.crds(CRD);
        sim.operator(|client| run(client, true, async |seen| suspends(seen).await));
        sim.apply(SMALL);
        sim.apply(format!("{space}---\n{}", SMALL.replace("default", "elsewhere").trim_start()));
        sim.delete(space);
    });
    explored.unwrap_or_else(|failed| panic!("{failed}"));
}

/// Makes a map with a random name, unless there is one, by its labels or by the status of the widget.
async fn names_by_chance(seen: Seen, looks: bool) -> kube::Result<()> {
    named(seen, looks, || format!("{:06x}", RandomState::new().hash_one(0) & 0xff_ffff)).await
}

/// Makes a map whose name has the time of the machine, unless there is one, by its labels or by the status of the widget.
async fn names_by_time(seen: Seen, looks: bool) -> kube::Result<()> {
    named(seen, looks, || Timestamp::now().as_millisecond().to_string()).await
}

async fn named(seen: Seen, looks: bool, end: impl Fn() -> String) -> kube::Result<()> {
    for widget in seen.live().filter(|widget| widget.data["status"]["last"].is_null()) {
        let of = ListParams::default().labels("of=one");
        let known = if looks { seen.map_api().list(&of).await?.items } else { Vec::new() };
        let known = known
            .into_iter()
            .find(|map| map.metadata.owner_references == part(widget, "", 1).metadata.owner_references);
        let name = match known {
            Some(map) => map.name_any(),
            None => {
                let map = part(widget, &end(), 1);
                seen.map_api().create(&PostParams::default(), &map).await?.name_any()
            }
        };
        seen.set_status(widget, json!({"last": name})).await?;
    }
    Ok(())
}

#[test]
fn names_with_times_are_compared_without_them() {
    sizes(&[1], 60, |seen| names_by_time(seen, true)).unwrap_or_else(|failed| panic!("{failed}"));
    let failed = sizes(&[1], 60, |seen| names_by_time(seen, false)).unwrap_err();
    let text = "ConfigMap default/one-<time> (";
    assert!(failed.failure().contains(text) && failed.plan().contains("<time>#0"), "{failed}");
}

#[test]
fn names_with_random_ends_are_compared_without_them() {
    sizes(&[1], 60, |seen| names_by_chance(seen, true)).unwrap_or_else(|failed| panic!("{failed}"));
    let failed = sizes(&[1], 60, |seen| names_by_chance(seen, false)).unwrap_err();
    assert!(failed.failure().contains("ConfigMap default/one-* ("), "{failed}");
}
