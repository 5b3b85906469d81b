//! Intermediate state: an operator ends between two writes, and the next one takes the first of them for the whole.

use std::collections::BTreeMap;

use kube::ResourceExt as _;
use serde_json::json;

use super::frame::{has_finalizer, is_deleted, number, part, value};
use super::{Case, Pattern, Step, reconcile};

/// The patterns.
pub const PATTERNS: &[Pattern] = &[
    Pattern {
        name: "first of two objects",
        bugs: &[
            "cass-operator intermediate state 1",
            "mongodb-operator intermediate state 1",
            "mongodb-operator intermediate state 2",
            "xtradb-operator intermediate state 1",
            "xtradb-operator intermediate state 2",
        ],
        steps: &[Step::Apply("{size: 1}")],
        old_lists: false,
        replicas: 1,
        reconcile: reconcile!(first_of_two),
    },
    Pattern {
        name: "mark before the work",
        bugs: &["cass-operator intermediate state 2"],
        steps: &[Step::Apply("{size: 1}")],
        old_lists: false,
        replicas: 1,
        reconcile: reconcile!(mark_first),
    },
    Pattern {
        name: "status only after a change",
        bugs: &["casskop intermediate state 1"],
        steps: &[Step::Apply("{size: 2}"), Step::Apply("{size: 1}")],
        old_lists: false,
        replicas: 1,
        reconcile: reconcile!(status_after_change),
    },
    Pattern {
        name: "restart only after a change",
        bugs: &["nifikop intermediate state 1"],
        steps: &[Step::Apply("{size: 1}"), Step::Apply("{size: 2}")],
        old_lists: false,
        replicas: 1,
        reconcile: reconcile!(restart_after_change),
    },
    Pattern {
        name: "flag before the work",
        bugs: &["nifikop intermediate state 2"],
        steps: &[Step::Apply("{size: 1}")],
        old_lists: false,
        replicas: 1,
        reconcile: reconcile!(flag_first),
    },
    Pattern {
        name: "plan in memory",
        bugs: &["rabbitmq-operator intermediate state 1", "xtradb-operator intermediate state 3"],
        steps: &[Step::Apply("{storage: 10}"), Step::Apply("{storage: 15}")],
        old_lists: false,
        replicas: 1,
        reconcile: reconcile!(plan_in_memory),
    },
];

/// Makes a key and a certificate, and takes the key for a sign of both.
async fn first_of_two(case: &Case) -> kube::Result<()> {
    let seen = &case.seen;
    for widget in seen.live() {
        if !case.repaired && seen.part_of(widget, "key").is_some() {
            continue;
        }
        seen.put(part(widget, "key", 1)).await?;
        seen.put(part(widget, "certificate", 1)).await?;
    }
    Ok(())
}

/// Marks a node as starting before it asks for the start, and only waits for a node that has the mark.
async fn mark_first(case: &Case) -> kube::Result<()> {
    let seen = &case.seen;
    for widget in seen.widgets.values() {
        let name = widget.name_any();
        let state = widget.data["status"]["node"].as_str().unwrap_or_default();
        let key = name.clone();
        match (is_deleted(widget), has_finalizer(widget), state) {
            (true, true, _) => {
                let stop = move |nodes: &mut BTreeMap<String, u64>| nodes.remove(&key);
                while case.nodes.call(&format!("stop {name}"), stop.clone()).await.is_err() {}
                seen.finalize(widget, false).await?;
            }
            (true, false, _) | (false, true, "started") => {}
            (false, false, _) => seen.finalize(widget, true).await?,
            (false, true, "starting") if !case.repaired => {}
            (false, true, _) => {
                if state.is_empty() {
                    seen.set_status(widget, json!({"node": "starting"})).await?;
                }
                let start = move |nodes: &mut BTreeMap<String, u64>| nodes.insert(key, 1);
                while case.nodes.call(&format!("start {name}"), start.clone()).await.is_err() {}
                seen.set_status(widget, json!({"node": "started"})).await?;
            }
        }
    }
    Ok(())
}

/// Scales a set, and notes the new size in the status only when it has just scaled.
async fn status_after_change(case: &Case) -> kube::Result<()> {
    let seen = &case.seen;
    for widget in seen.live() {
        let size = number(widget, "size");
        match seen.part_of(widget, "set") {
            None => seen.put(part(widget, "set", size)).await?,
            Some(set) if value(set) != size.to_string() => {
                seen.set_value(set, size).await?;
                seen.set_status(widget, json!({"size": size})).await?;
            }
            Some(_) => {}
        }
        if case.repaired && widget.data["status"]["size"] != size {
            seen.set_status(widget, json!({"size": size})).await?;
        }
    }
    Ok(())
}

/// Writes a configuration, and restarts the pod only when it has just written it.
async fn restart_after_change(case: &Case) -> kube::Result<()> {
    let seen = &case.seen;
    for widget in seen.live() {
        let wanted = number(widget, "size").to_string();
        seen.put(part(widget, "config", &wanted)).await?;
        let (config, pod) = (seen.part_of(widget, "config"), seen.part_of(widget, "pod"));
        if let Some(config) = config.filter(|config| value(config) != wanted) {
            seen.set_value(config, &wanted).await?;
            if let Some(pod) = pod.filter(|_| !case.repaired) {
                seen.remove_exactly(pod).await?;
            }
        }
        match pod {
            Some(pod) if case.repaired && value(pod) != wanted => seen.remove_exactly(pod).await?,
            _ => seen.put(part(widget, "pod", &wanted)).await?,
        }
    }
    Ok(())
}

/// Sets a flag that the cluster is initialised, then initialises it.
async fn flag_first(case: &Case) -> kube::Result<()> {
    let seen = &case.seen;
    for widget in seen.live().filter(|widget| widget.data["status"]["initialised"] != true) {
        if case.repaired {
            seen.put(part(widget, "init", 1)).await?;
            seen.set_status(widget, json!({"initialised": true})).await?;
        } else {
            seen.set_status(widget, json!({"initialised": true})).await?;
            seen.put(part(widget, "init", 1)).await?;
        }
    }
    Ok(())
}

/// Resizes a claim between the deletion of its set and the making of the next one. Only memory knows that it was about to.
async fn plan_in_memory(case: &Case) -> kube::Result<()> {
    let seen = &case.seen;
    for widget in seen.live() {
        let wanted = number(widget, "storage").to_string();
        let (set, claim) = (seen.part_of(widget, "set"), seen.part_of(widget, "claim"));
        let differs = set.filter(|set| value(set) != wanted);
        if let Some(set) = differs {
            seen.remove_exactly(set).await?;
        }
        if let Some(claim) =
            claim.filter(|claim| value(claim) != wanted && (case.repaired || differs.is_some()))
        {
            seen.set_value(claim, &wanted).await?;
        }
        seen.put(part(widget, "claim", &wanted)).await?;
        seen.put(part(widget, "set", &wanted)).await?;
    }
    Ok(())
}
