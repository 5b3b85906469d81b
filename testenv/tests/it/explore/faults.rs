//! Faults that need operators of other sorts: operators that stream lists, depend on a clock, or find a name
//! taken.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use futures::TryStreamExt as _;
use k8s_openapi::api::core::v1::ConfigMap;
use kube::api::{
    Api, DeleteParams, DynamicObject, ListParams, Patch, PatchParams, PostParams, WatchEvent, WatchParams,
};
use kube::{Client, ResourceExt as _};
use kubesmith_testenv::{Clock, Explore, Failed, Report};
use operators::frame::{CRD, Seen, run, unless, widgets};

use super::{HOUR, LARGE, SMALL, child, describe, explored, found, named};

/// Takes over any object with the name of its child.
async fn adopts(seen: Seen) -> kube::Result<()> {
    for widget in seen.live().filter(|widget| !seen.maps.contains_key(&widget.name_any())) {
        let (name, map) = (widget.name_any(), child(widget, true));
        if let Err(kube::Error::Api(status)) = seen.map_api().create(&PostParams::default(), &map).await {
            if status.code != 409 {
                return Err(kube::Error::Api(status));
            }
            seen.map_api().replace(&name, &PostParams::default(), &map).await?;
        }
    }
    Ok(())
}

/// Leaves it alone.
async fn respects(seen: Seen) -> kube::Result<()> {
    for widget in seen.live() {
        seen.put(child(widget, true)).await?;
    }
    Ok(())
}

#[test]
fn adoption_is_found_when_another_controller_has_the_name() {
    let failed = found(adopts);
    assert!(failed.failure().contains("belongs to ServiceAccount explore-stranger"), "{failed}");
    assert_eq!(failed.plan(), "taken@create configmaps default/one#0", "{failed}");
    explored(40, respects).unwrap();
}

/// Applies its child. If the server refuses that, it takes the object over.
async fn adopts_after_apply(seen: Seen) -> kube::Result<()> {
    for widget in seen.live().filter(|widget| !seen.maps.contains_key(&widget.name_any())) {
        let (name, map) = (widget.name_any(), child(widget, true));
        let params = PatchParams::apply("widgets").force();
        if let Err(kube::Error::Api(status)) = seen.map_api().patch(&name, &params, &Patch::Apply(&map)).await
        {
            if status.code != 422 {
                return Err(kube::Error::Api(status));
            }
            seen.map_api().replace(&name, &PostParams::default(), &map).await?;
        }
    }
    Ok(())
}

#[test]
fn adoption_is_found_when_an_apply_meets_another_controller() {
    let failed = found(adopts_after_apply);
    assert!(failed.failure().contains("belongs to ServiceAccount explore-stranger"), "{failed}");
    assert_eq!(failed.plan(), "taken@patch configmaps default/one#0", "{failed}");
}

/// Two caches of widgets and maps, of which the second is only used for its maps.
async fn restores(client: Client) -> kube::Result<()> {
    let known = RefCell::new(BTreeMap::new());
    let learns = run(client.clone(), false, async |seen: Seen| {
        known.replace(seen.widgets.clone());
        respects(seen).await
    });
    let restores = run(client, false, async |seen: Seen| {
        let widgets = known.borrow().clone();
        respects(Seen { widgets, ..seen }).await
    });
    futures::try_join!(learns, restores).map(drop)
}

#[test]
fn loop_until_the_next_list_is_no_failure() {
    // It restores the map of a deleted widget, because it sees the deletion only when it lists again.
    let explored = Explore::new("restores").schedules(60).time(HOUR).run(|sim| async move {
        describe(&sim);
        sim.operator(restores);
    });
    explored.unwrap_or_else(|failed| panic!("{failed}"));
}

/// Makes a map that stays.
async fn registers(seen: Seen) -> kube::Result<()> {
    let mut registry = ConfigMap::default();
    registry.metadata.name = Some("registry".to_owned());
    if seen.live().next().is_some() { seen.put(registry).await } else { Ok(()) }
}

#[test]
fn object_of_an_unseen_resource_may_be_missing() {
    let explored = Explore::new("registers").schedules(40).time(HOUR).run(|sim| async move {
        sim.crds(CRD);
        sim.apply(SMALL);
        sim.operator(move |client| run(client, true, registers));
    });
    explored.unwrap_or_else(|failed| panic!("{failed}"));
}

type Events<K> = std::pin::Pin<Box<dyn futures::Stream<Item = kube::Result<WatchEvent<K>>>>>;

/// What a streaming list shows, and the watch that goes on.
async fn streamed<K>(api: &Api<K>) -> kube::Result<(BTreeMap<String, K>, Events<K>)>
where
    K: kube::Resource + Clone + serde::de::DeserializeOwned + std::fmt::Debug + Send + 'static,
{
    let params = WatchParams::default().initial_events();
    let mut events: Events<K> = Box::pin(api.watch(&params, "0").await?);
    let mut all = BTreeMap::new();
    loop {
        match events.try_next().await? {
            Some(WatchEvent::Added(object) | WatchEvent::Modified(object)) => {
                all.insert(object.name_any(), object);
            }
            Some(WatchEvent::Deleted(object)) => drop(all.remove(&object.name_any())),
            Some(WatchEvent::Bookmark(mark)) => {
                if mark.metadata.annotations.contains_key("k8s.io/initial-events-end") {
                    return Ok((all, events));
                }
            }
            Some(WatchEvent::Error(status)) => return Err(kube::Error::Api(status)),
            None => return Ok((all, events)),
        }
    }
}

/// Removes the maps that no widget has, by what the lists show, or by what the server says.
async fn sweeps(client: &Client, asks: bool) -> kube::Result<()> {
    let all: Api<DynamicObject> = Api::namespaced_with(client.clone(), "default", &widgets());
    let maps: Api<ConfigMap> = Api::namespaced(client.clone(), "default");
    loop {
        let (seen, mut events) = streamed(&all).await?;
        let (seen_maps, _) = streamed(&maps).await?;
        for map in seen_maps.into_values().filter(|map| map.labels().contains_key("of")) {
            let is_named = |widget: &DynamicObject| named(widget) == map.name_any();
            let mut is_wanted = seen.values().any(is_named);
            if asks && !is_wanted {
                is_wanted = all.list(&ListParams::default()).await?.items.iter().any(is_named);
            }
            if !is_wanted {
                unless(404, maps.delete(&map.name_any(), &DeleteParams::default()).await.map(drop))?;
            }
        }
        for widget in seen.values().filter(|widget| widget.metadata.deletion_timestamp.is_none()) {
            let mut map = child(widget, true);
            map.metadata.name = Some(named(widget));
            unless(409, maps.create(&PostParams::default(), &map).await.map(drop))?;
        }
        // Every change causes a reconcile.
        while let Some(WatchEvent::Bookmark(_)) = events.try_next().await? {}
    }
}

fn sweeping(asks: bool) -> Result<Report, Box<Failed>> {
    Explore::new("sweeping").schedules(if asks { 45 } else { 120 }).time(HOUR).run(move |sim| async move {
        describe(&sim);
        sim.operator(move |client: Client| async move {
            loop {
                let _ = sweeps(&client, asks).await;
                tokio::time::sleep(Duration::from_secs(1)).await;
            }
        });
    })
}

#[test]
fn stale_state_is_found_when_a_streaming_list_is_old() {
    let failed = sweeping(false).unwrap_err();
    assert!(failed.failure().contains("deleted and made again: configmaps default/one-"), "{failed}");
    assert!(failed.plan().contains("stale"), "{failed}");
    let line = |line: &String| line.contains("watch widgets.a.example default/ begins as of version");
    assert!(failed.story().iter().any(line), "{failed}");
    sweeping(true).unwrap_or_else(|failed| panic!("{failed}"));
}

/// Records its start, and computes the time since then.
async fn ages(seen: Seen, clock: Arc<dyn Clock>, careful: bool) -> kube::Result<()> {
    for widget in seen.live() {
        let begun = widget.creation_timestamp().map_or(0, |time| time.0.as_second());
        let age = clock.now().as_second() - begun;
        let age = if careful { age.max(0) } else { age };
        let seconds = u64::try_from(age).expect("it was made before now");
        let map = child(widget, true);
        if seconds < 3600 {
            seen.put(map).await?;
        }
    }
    Ok(())
}

fn aging(careful: bool) -> Result<Report, Box<Failed>> {
    Explore::new("aging").schedules(if careful { 30 } else { 80 }).time(HOUR).run(move |sim| async move {
        sim.crds(CRD);
        sim.apply(SMALL);
        sim.apply(LARGE);
        let clock = sim.clock();
        sim.operator(move |client| {
            let clock = clock.clone();
            run(client, true, async move |seen| ages(seen, clock.clone(), careful).await)
        });
    })
}

#[test]
fn clock_jump_is_found_when_time_is_assumed_to_increase() {
    let failed = aging(false).unwrap_err();
    assert!(failed.failure().contains("it was made before now"), "{failed}");
    assert!(failed.plan().contains("clock-back@step#"), "{failed}");
    assert!(failed.story().iter().any(|line| line.contains("the clock jumps back by an hour")), "{failed}");
    aging(true).unwrap_or_else(|failed| panic!("{failed}"));
}
