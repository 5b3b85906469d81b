//! Stale state: an operator that restarts, or lists again, sees the past and acts as if it were the present.

use kube::ResourceExt as _;
use kube::api::DynamicObject;
use serde_json::json;

use super::frame::{FINALIZER, has_finalizer, is_deleted, number, orphan, part, value};
use super::{Case, Pattern, Step, reconcile};

/// The patterns.
pub const PATTERNS: &[Pattern] = &[
    Pattern {
        name: "stale deletion of a parent",
        bugs: &[
            "cass-operator stale state 1",
            "cassandra-operator stale state 1",
            "casskop stale state 1",
            "mongodb-operator stale state 1",
            "rabbitmq-operator stale state 1",
            "xtradb-operator stale state 1",
            "zookeeper-operator stale state 1",
        ],
        steps: &[Step::Apply("{size: 1}"), Step::Delete, Step::Apply("{size: 1}")],
        old_lists: true,
        replicas: 1,
        reconcile: reconcile!(parent_deletion),
    },
    Pattern {
        name: "stale deletion of a child",
        bugs: &["cassandra-operator stale state 2"],
        steps: &[Step::Apply("{size: 2}"), Step::Apply("{size: 1}"), Step::Apply("{size: 2}")],
        old_lists: true,
        replicas: 1,
        reconcile: reconcile!(child_deletion),
    },
    Pattern {
        name: "stale switch",
        bugs: &[
            "mongodb-operator stale state 2",
            "mongodb-operator stale state 3",
            "xtradb-operator stale state 2",
            "xtradb-operator stale state 3",
            "yugabyte-operator stale state 1",
            "yugabyte-operator stale state 2",
        ],
        steps: &[Step::Apply("{tls: 1}"), Step::Apply("{tls: 0}"), Step::Apply("{tls: 1}")],
        old_lists: true,
        replicas: 1,
        reconcile: reconcile!(switch),
    },
    Pattern {
        name: "stale replacement",
        bugs: &["casskop stale state 2", "elastic-operator stale state 2", "rabbitmq-operator stale state 2"],
        steps: &[Step::Apply("{limit: 4}"), Step::Apply("{limit: 1}")],
        old_lists: true,
        replicas: 1,
        reconcile: reconcile!(replacement),
    },
    Pattern {
        name: "stale status",
        bugs: &["zookeeper-operator stale state 2"],
        steps: &[Step::Apply("{size: 2}"), Step::Apply("{size: 1}"), Step::Apply("{size: 2}")],
        old_lists: true,
        replicas: 1,
        reconcile: reconcile!(status),
    },
    Pattern {
        name: "stale absence",
        bugs: &["elastic-operator stale state 1"],
        steps: &[Step::Apply("{size: 1}"), Step::Delete, Step::Apply("{size: 1}")],
        old_lists: true,
        replicas: 1,
        reconcile: reconcile!(absence),
    },
];

/// Deletes the claim of a widget that is being deleted. The cache may show the widget before, which had the same name.
async fn parent_deletion(case: &Case) -> kube::Result<()> {
    let seen = &case.seen;
    for widget in seen.widgets.values() {
        if !is_deleted(widget) {
            if !has_finalizer(widget) {
                seen.finalize(widget, true).await?;
            }
            seen.put(part(widget, "claim", 1)).await?;
        } else if has_finalizer(widget) && case.before_destroying(widget).await?.is_some() {
            seen.remove(&format!("{}-claim", widget.name_any())).await?;
            seen.finalize(widget, false).await?;
        }
    }
    Ok(())
}

/// Deletes the claim of a pod that is being deleted. The cache may show the pod before.
async fn child_deletion(case: &Case) -> kube::Result<()> {
    let seen = &case.seen;
    for pod in seen.maps.values().filter(|map| is_deleted(*map) && has_finalizer(*map)) {
        let name = pod.name_any();
        let fresh = if case.repaired { seen.map_api().get_opt(&name).await? } else { Some(pod.clone()) };
        if fresh.is_some_and(|fresh| fresh.metadata.uid == pod.metadata.uid) {
            seen.remove(&name.replace("pod", "claim")).await?;
            seen.let_go(pod).await?;
        }
    }
    for widget in seen.live() {
        let size = number(widget, "size");
        for i in 0..size {
            let mut pod = part(widget, &format!("pod-{i}"), i);
            pod.metadata.finalizers = Some(vec![FINALIZER.to_owned()]);
            if seen.part_of(widget, &format!("pod-{i}")).is_none_or(|pod| !is_deleted(pod)) {
                seen.put(pod).await?;
                seen.put(part(widget, &format!("claim-{i}"), i)).await?;
            }
        }
        let surplus = seen.numbers_of(widget, "pod").into_iter().filter(|i| *i >= size);
        for i in surplus {
            let Some(pod) = seen.part_of(widget, &format!("pod-{i}")).filter(|pod| !is_deleted(*pod)) else {
                continue;
            };
            let fresh = case.before_destroying(widget).await?;
            if fresh.is_some_and(|fresh| number(&fresh, "size") <= i) {
                seen.remove_exactly(pod).await?;
            }
        }
    }
    Ok(())
}

/// Deletes a secret because TLS is switched off. The cache may not show yet that it is on again.
async fn switch(case: &Case) -> kube::Result<()> {
    let seen = &case.seen;
    for widget in seen.live() {
        if number(widget, "tls") == 1 {
            seen.put(part(widget, "secret", 1)).await?;
        } else if let Some(secret) = seen.part_of(widget, "secret") {
            let fresh = case.before_destroying(widget).await?;
            if fresh.is_some_and(|fresh| number(&fresh, "tls") == 0) {
                seen.remove_exactly(secret).await?;
            }
        }
    }
    Ok(())
}

/// Replaces a budget, which cannot be changed. The cache may show an older limit.
async fn replacement(case: &Case) -> kube::Result<()> {
    let seen = &case.seen;
    for widget in seen.live() {
        let limit = number(widget, "limit");
        if let Some(budget) =
            seen.part_of(widget, "budget").filter(|budget| value(budget) != limit.to_string())
        {
            let fresh = case.before_destroying(widget).await?;
            if fresh.is_some_and(|fresh| number(&fresh, "limit") == limit) {
                seen.remove_exactly(budget).await?;
            }
        } else {
            seen.put(part(widget, "budget", limit)).await?;
        }
    }
    Ok(())
}

/// Deletes claims that no pod uses, by the status of the widget, which the cache may show as it was.
async fn status(case: &Case) -> kube::Result<()> {
    let seen = &case.seen;
    for widget in seen.live() {
        let size = number(widget, "size");
        for i in 0..size {
            seen.put(part(widget, &format!("claim-{i}"), i)).await?;
        }
        if widget.data["status"]["ready"].as_u64() != Some(size) {
            seen.set_status(widget, json!({"ready": size})).await?;
        }
        for i in seen.numbers_of(widget, "claim") {
            let is_unused = |widget: &DynamicObject| {
                let size = number(widget, "size");
                widget.data["status"]["ready"].as_u64() == Some(size) && i >= size
            };
            if is_unused(widget)
                && case.before_destroying(widget).await?.is_some_and(|fresh| is_unused(&fresh))
            {
                seen.remove(&format!("{}-claim-{i}", widget.name_any())).await?;
            }
        }
    }
    Ok(())
}

/// Deletes what belongs to a widget that is not there. The cache may not show it yet.
async fn absence(case: &Case) -> kube::Result<()> {
    let seen = &case.seen;
    for widget in seen.live() {
        seen.put(orphan(widget, "certs", 1)).await?;
    }
    for map in seen.maps.values() {
        let Some(of) = map.labels().get("of").filter(|of| !seen.widgets.contains_key(*of)) else { continue };
        if !case.repaired || seen.widget_api().get_opt(of).await?.is_none() {
            seen.remove_exactly(map).await?;
        }
    }
    Ok(())
}
