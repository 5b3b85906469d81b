//! The controllers' functions for pods.

use std::cmp::Ordering;
use std::time::Duration;

use jiff::Timestamp;
use serde_json::{Value, json};

use super::cluster::{Cluster, EVENTS, Fault, PODS, Resource, unless_gone};
use super::owners::controller_reference;
use crate::meta;

/// The limit of `FailedCreate` events for an owner. client-go writes as many before it aggregates similar events
/// (`defaultAggregateMaxEvents` of `tools/record`).
const MOST_REFUSALS: usize = 10;

/// Reports whether a pod is neither finished nor terminating.
pub(super) fn is_active(pod: &Value) -> bool {
    !meta::is_terminating(pod) && !is_over(pod)
}

/// Reports whether all of a pod's containers have ended for good.
pub(super) fn is_over(pod: &Value) -> bool {
    matches!(pod["status"]["phase"].as_str(), Some("Failed" | "Succeeded"))
}

fn ready_condition(pod: &Value) -> Option<&Value> {
    pod["status"]["conditions"].as_array()?.iter().find(|c| c["type"] == "Ready" && c["status"] == "True")
}

pub(super) fn is_ready(pod: &Value) -> bool {
    ready_condition(pod).is_some()
}

/// Returns the time when a pod became ready.
fn ready_since(pod: &Value) -> Option<Timestamp> {
    ready_condition(pod)?["lastTransitionTime"].as_str()?.parse().ok()
}

/// Returns the time until a ready pod counts as available; `None` for one that is not ready.
pub(super) fn until_available(pod: &Value, least_seconds: i64, now: Timestamp) -> Option<Duration> {
    ready_condition(pod)?;
    let since = ready_since(pod).unwrap_or(now);
    let left = least_seconds - now.as_second().saturating_sub(since.as_second());
    Some(Duration::from_secs(u64::try_from(left.max(0)).unwrap_or_default()))
}

/// Builds a pod from a template for the object that manages it.
pub(super) fn from_template(owner: &Value, owner_kind: Resource, template: &Value) -> Value {
    let mut metadata = json!({
        "generateName": format!("{}-", meta::name(owner)), "namespace": meta::namespace(owner),
        "ownerReferences": [controller_reference(owner, owner_kind)],
    });
    for part in ["labels", "annotations", "finalizers"] {
        if !template["metadata"][part].is_null() {
            metadata[part] = template["metadata"][part].clone();
        }
    }
    json!({"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": template["spec"]})
}

/// Creates a pod, and records an event about its owner.
pub(super) async fn create(
    cluster: &Cluster,
    component: &str,
    owner: &Value,
    pod: &Value,
) -> Result<Value, Fault> {
    let made = match cluster.create(PODS, meta::namespace(owner), pod).await {
        Ok(made) => made,
        Err(fault) => {
            let message = format!("Error creating: {}", fault.message());
            tell_refused(cluster, component, owner, &message).await;
            return Err(fault);
        }
    };
    let message = format!("Created pod: {}", meta::name(&made));
    cluster.tell(component, owner, "SuccessfulCreate", &message).await;
    Ok(made)
}

/// Records that a creation for an owner was refused: once per message, and [`MOST_REFUSALS`] times for messages that
/// differ, for example by the pod's name. This bounds the events, as the attempts have no end.
pub(super) async fn tell_refused(cluster: &Cluster, component: &str, owner: &Value, message: &str) {
    let uid = meta::text(owner, "uid");
    let is_refusal =
        |event: &Value| event["reason"] == "FailedCreate" && event["involvedObject"]["uid"] == uid;
    let told = cluster.list_where(EVENTS, meta::namespace(owner), is_refusal);
    if told.len() < MOST_REFUSALS && !told.iter().any(|event| event["message"] == message) {
        cluster.warn(component, owner, "FailedCreate", message).await;
    }
}

/// Deletes a pod, and records an event about its owner.
pub(super) async fn delete(
    cluster: &Cluster,
    component: &str,
    owner: &Value,
    pod: &Value,
) -> Result<(), Fault> {
    unless_gone(cluster.delete(PODS, pod, json!({})).await)?;
    let message = format!("Deleted pod: {}", meta::name(pod));
    cluster.tell(component, owner, "SuccessfulDelete", &message).await;
    Ok(())
}

/// Orders pods for deletion: the one that is least costly to lose comes first.
pub(super) fn by_loss(a: &Value, b: &Value) -> Ordering {
    let scheduled = |pod: &Value| !pod["spec"]["nodeName"].as_str().unwrap_or_default().is_empty();
    let phase = |pod: &Value| match pod["status"]["phase"].as_str() {
        Some("Running") => 2,
        Some("Unknown") => 1,
        _ => 0,
    };
    let cost = |pod: &Value| -> i64 {
        let text = pod["metadata"]["annotations"]["controller.kubernetes.io/pod-deletion-cost"].as_str();
        text.and_then(|text| text.parse().ok()).unwrap_or(0)
    };
    let created = |pod: &Value| meta::text(pod, "creationTimestamp").to_owned();
    let order = |pod: &Value| (scheduled(pod), phase(pod), is_ready(pod), cost(pod));
    order(a)
        .cmp(&order(b))
        .then_with(|| ready_since(b).cmp(&ready_since(a)))
        .then_with(|| restarts(b).cmp(&restarts(a)))
        .then_with(|| created(b).cmp(&created(a)))
        .then_with(|| meta::name(a).cmp(meta::name(b)))
}

fn restarts(pod: &Value) -> i64 {
    let statuses = pod["status"]["containerStatuses"].as_array().into_iter().flatten();
    statuses.filter_map(|status| status["restartCount"].as_i64()).sum()
}

/// Returns a number, or a share of `all` in percent.
pub(super) fn share(value: &Value, all: i64, up: bool) -> i64 {
    if let Some(number) = value.as_i64() {
        return number;
    }
    let percent = value.as_str().and_then(|text| text.strip_suffix('%')?.parse::<i64>().ok()).unwrap_or(0);
    let product = percent.saturating_mul(all);
    let share = if up { product.saturating_add(99).div_euclid(100) } else { product.div_euclid(100) };
    // Limited to 32 bits, so that sums and products of shares do not overflow.
    share.min(i32::MAX.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentage_is_rounded_up_or_down_as_requested() {
        for (value, up, down) in
            [(json!("25%"), 2, 1), (json!(3), 3, 3), (json!("0%"), 0, 0), (json!("100%"), 5, 5)]
        {
            assert_eq!((share(&value, 5, true), share(&value, 5, false)), (up, down), "{value}");
        }
    }

    fn pod(name: &str, status: Value) -> Value {
        json!({"metadata": {"name": name, "creationTimestamp": "2026-01-01T00:00:00Z"},
               "spec": {"nodeName": "n"}, "status": status})
    }

    #[test]
    fn least_useful_pod_is_deleted_first() {
        let ready = |since: &str| json!({"phase": "Running", "conditions": [{"type": "Ready", "status": "True", "lastTransitionTime": since}]});
        let mut homeless = pod("homeless", json!({"phase": "Pending"}));
        homeless["spec"] = json!({});
        let mut cheap = pod("cheap", ready("2026-01-01T00:00:00Z"));
        cheap["metadata"]["annotations"] = json!({"controller.kubernetes.io/pod-deletion-cost": "-1"});
        let mut pods = [
            pod("old", ready("2026-01-01T00:00:00Z")),
            pod("new", ready("2026-01-01T01:00:00Z")),
            pod("unready", json!({"phase": "Running"})),
            cheap,
            pod("pending", json!({"phase": "Pending"})),
            homeless,
        ];
        pods.sort_by(by_loss);
        let names: Vec<&str> = pods.iter().map(meta::name).collect();
        assert_eq!(names, ["homeless", "pending", "unready", "cheap", "new", "old"]);
    }

    #[test]
    fn pod_is_available_after_min_ready_seconds() {
        let now = "2026-01-01T00:00:10Z".parse().unwrap();
        let condition =
            json!([{"type": "Ready", "status": "True", "lastTransitionTime": "2026-01-01T00:00:04Z"}]);
        let ready = pod("p", json!({"conditions": condition}));
        assert_eq!(until_available(&ready, 0, now), Some(Duration::ZERO));
        assert_eq!(until_available(&ready, 10, now), Some(Duration::from_secs(4)));
        assert_eq!(until_available(&pod("p", json!({})), 0, now), None);
    }
}
