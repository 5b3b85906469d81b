//! Writes that never end, with pauses.

use std::cell::Cell;
use std::time::Duration;

use k8s_openapi::jiff::Timestamp;
use kube::Client;
use kube::api::{Api, DynamicObject, ListParams, Patch, PatchParams};
use kubesmith_testenv::{Explore, Failed, Report, Sim};
use operators::frame::{Seen, run, widgets};
use serde_json::{Value, json};

use super::{HOUR, describe, level_triggered};

/// Makes its children, and writes a status of all widgets after each pause.
async fn repeats(client: Client, pause: Duration, status: impl Fn(u64) -> Value) -> kube::Result<()> {
    let all: Api<DynamicObject> = Api::namespaced_with(client.clone(), "default", &widgets());
    let writes = async {
        for round in 0.. {
            for widget in all.list(&ListParams::default()).await.map(|list| list.items).unwrap_or_default() {
                let name = widget.metadata.name.unwrap_or_default();
                let patch = Patch::Merge(json!({"status": status(round)}));
                let _ = all.patch_status(&name, &PatchParams::default(), &patch).await;
            }
            tokio::time::sleep(pause).await;
        }
        Ok(())
    };
    let level = run(client, true, async |seen: Seen| level_triggered(seen).await);
    futures::future::try_join(writes, level).await.map(drop)
}

fn repeating(
    minutes: u64,
    status: fn(u64) -> Value,
    more: fn(&Sim),
    schedules: usize,
) -> Result<Report, Box<Failed>> {
    Explore::new("repeating").schedules(schedules).time(HOUR).run(move |sim| async move {
        describe(&sim);
        more(&sim);
        sim.operator(move |client| repeats(client, Duration::from_secs(60 * minutes), status));
    })
}

#[track_caller]
fn endless(minutes: u64, status: fn(u64) -> Value) -> Failed {
    let failed = *repeating(minutes, status, |_| (), 0).unwrap_err();
    let start =
        "writes never end: patch widgets.a.example/status default/one changes the object again and again";
    assert!(failed.failure().starts_with(start), "{failed}");
    assert!(failed.plan().is_empty(), "{failed}");
    failed
}

#[test]
fn slow_writes_are_found_when_they_never_end() {
    // Pauses below a minute, below ten minutes, and of an hour.
    let toggles = |round: u64| json!({"phase": if round.is_multiple_of(2) { "Ready" } else { "Waiting" }});
    for minutes in [1, 10, 60] {
        let failed = endless(minutes, toggles);
        let every = format!("the last time after {} s:\n  - status.phase: ", 60 * minutes);
        assert!(failed.failure().contains(&every), "{failed}");
    }
    let failed = endless(5, |round| json!({"times": {"checked": round}}));
    let ignore = "If that is as wanted, leave it out: sim.ignore(\"Widget\", \"status.times.checked\")";
    assert!(failed.failure().ends_with(ignore), "{failed}");
}

/// The machine's clock stands almost still while simulated minutes pass.
#[test]
fn times_of_the_machine_are_found_when_they_have_whole_seconds() {
    let stamps = |_| {
        let now = Timestamp::from_second(Timestamp::now().as_second()).unwrap_or_default();
        json!({"conditions": [{"type": "Ready", "status": "True", "lastTransitionTime": now.to_string()}]})
    };
    let failed = endless(5, stamps);
    let field = "status.conditions[0].lastTransitionTime: <time> → <time>";
    assert!(failed.failure().contains(field), "{failed}");
}

#[test]
fn writes_without_change_are_no_failure() {
    repeating(1, |_| json!({"phase": "Ready"}), |_| (), 6).unwrap_or_else(|failed| panic!("{failed}"));
}

#[test]
fn ignored_field_may_change_for_ever() {
    let checked = |round| json!({"phase": "Ready", "checked": round});
    let ignores = |sim: &Sim| sim.ignore("Widget", "status.checked");
    repeating(1, checked, ignores, 6).unwrap_or_else(|failed| panic!("{failed}"));
}

/// After a failed request, it takes each second resync for another.
async fn flaps(client: Client, repaired: bool) -> kube::Result<()> {
    let all: Api<DynamicObject> = Api::namespaced_with(client.clone(), "default", &widgets());
    let errors = Cell::new(0);
    let resyncs = async {
        for round in 0_u64.. {
            if round == u64::MAX {
                break;
            }
            for widget in all.list(&ListParams::default()).await.map(|list| list.items).unwrap_or_default() {
                let is_odd = errors.get() > 0 && round.is_multiple_of(2) && !repaired;
                let phase = if is_odd { "Unknown" } else { "Ready" };
                let patch = Patch::Merge(json!({"status": {"phase": phase}}));
                let name = widget.metadata.name.unwrap_or_default();
                let written = all.patch_status(&name, &PatchParams::default(), &patch).await;
                errors.set(errors.get() + u32::from(written.is_err()));
            }
            tokio::time::sleep(Duration::from_secs(240)).await;
        }
        Ok(())
    };
    let level = run(client, true, async |seen: Seen| level_triggered(seen).await);
    futures::future::try_join(resyncs, level).await.map(drop)
}

fn flapping(repaired: bool) -> Result<Report, Box<Failed>> {
    Explore::new("flapping").schedules(if repaired { 30 } else { 150 }).time(HOUR).run(
        move |sim| async move {
            describe(&sim);
            sim.operator(move |client| flaps(client, repaired));
        },
    )
}

#[test]
fn state_that_changes_with_each_resync_is_found_after_a_fault() {
    let failed = flapping(false).unwrap_err();
    assert!(failed.failure().contains("status.phase"), "{failed}");
    assert_eq!(failed.faults(), 1, "{failed}");
    flapping(true).unwrap_or_else(|failed| panic!("{failed}"));
}
