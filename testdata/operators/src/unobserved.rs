//! Unobserved state: an operator acts on what it sees happen, and something happens while it does not look.

use kube::ResourceExt as _;
use serde_json::json;

use super::frame::{number, part};
use super::{Case, Pattern, Step, reconcile};

/// The patterns.
pub const PATTERNS: &[Pattern] = &[
    Pattern {
        name: "missed deletion of a child",
        bugs: &["cassandra-operator unobserved state 1"],
        steps: &[Step::Apply("{size: 2}"), Step::Apply("{size: 1}")],
        old_lists: false,
        replicas: 1,
        reconcile: reconcile!(child_deletion),
    },
    Pattern {
        name: "missed change of a number",
        bugs: &[
            "casskop unobserved state 1",
            "mongodb-operator unobserved state 1",
            "rabbitmq-operator unobserved state 1",
            "xtradb-operator unobserved state 1",
            "yugabyte-operator unobserved state 1",
        ],
        steps: &[Step::Apply("{size: 1}"), Step::Apply("{size: 3}"), Step::Apply("{size: 1}")],
        old_lists: false,
        replicas: 1,
        reconcile: reconcile!(change),
    },
    Pattern {
        name: "missed creation",
        bugs: &["zookeeper-operator unobserved state 1"],
        steps: &[Step::Apply("{size: 1}"), Step::Apply("{size: 2}")],
        old_lists: false,
        replicas: 1,
        reconcile: reconcile!(creation),
    },
    Pattern {
        name: "part of an earlier parent",
        bugs: &[],
        steps: &[Step::Apply("{size: 1}"), Step::Delete, Step::Apply("{size: 1}")],
        old_lists: false,
        replicas: 1,
        reconcile: reconcile!(earlier_parent),
    },
];

/// Deletes the claim of a pod when it sees the pod go.
async fn child_deletion(case: &Case) -> kube::Result<()> {
    let seen = &case.seen;
    for pod in seen.deleted_maps.iter().filter(|map| map.name_any().contains("pod") && !case.repaired) {
        seen.remove(&pod.name_any().replace("pod", "claim")).await?;
    }
    for widget in seen.live() {
        let size = number(widget, "size");
        for i in 0..size {
            seen.put(part(widget, &format!("pod-{i}"), i)).await?;
            seen.put(part(widget, &format!("claim-{i}"), i)).await?;
        }
        let kinds: &[&str] = if case.repaired { &["pod", "claim"] } else { &["pod"] };
        for kind in kinds {
            for i in seen.numbers_of(widget, kind).into_iter().filter(|i| *i >= size) {
                seen.remove(&format!("{}-{kind}-{i}", widget.name_any())).await?;
            }
        }
    }
    Ok(())
}

/// Deletes claims when it sees a number become less.
async fn change(case: &Case) -> kube::Result<()> {
    let seen = &case.seen;
    for widget in seen.live() {
        let (name, size) = (widget.name_any(), number(widget, "size"));
        let before = case.memory.borrow_mut().insert(name.clone(), size).unwrap_or(size);
        let surplus: Vec<u64> = if case.repaired {
            seen.numbers_of(widget, "claim").into_iter().filter(|i| *i >= size).collect()
        } else {
            (size..before).collect()
        };
        for i in surplus {
            seen.remove(&format!("{name}-claim-{i}")).await?;
        }
        for i in 0..size {
            seen.put(part(widget, &format!("claim-{i}"), i)).await?;
        }
    }
    Ok(())
}

/// Takes a widget that it sees for the first time for a new one, with as many members as it has, and adds members when it sees it grow.
async fn creation(case: &Case) -> kube::Result<()> {
    let seen = &case.seen;
    for widget in seen.live() {
        let (name, size) = (widget.name_any(), number(widget, "size"));
        let members = seen.numbers_of(widget, "member").len() as u64;
        let known = case.memory.borrow_mut().insert(name, size);
        let from = if case.repaired || members == 0 { 0 } else { known.unwrap_or(size) };
        for i in from..size {
            seen.put(part(widget, &format!("member-{i}"), i)).await?;
        }
    }
    Ok(())
}

/// Takes an existing part for its own, and looks at it only once. The part may belong to an earlier widget of this name, and the garbage
/// collector deletes it later.
async fn earlier_parent(case: &Case) -> kube::Result<()> {
    let seen = &case.seen;
    for widget in seen.live().filter(|widget| widget.data["status"]["made"] != true) {
        seen.put(part(widget, "account", 1)).await?;
        let account = seen.part_of(widget, "account");
        let owners = account.map(|account| account.owner_references());
        if !case.repaired
            || owners.is_some_and(|all| all.iter().any(|owner| Some(&owner.uid) == widget.uid().as_ref()))
        {
            seen.set_status(widget, json!({"made": true})).await?;
        }
    }
    Ok(())
}
