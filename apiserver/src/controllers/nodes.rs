//! Derives the taints of nodes from their conditions: `doNoScheduleTaintingPass` of kube-controller-manager's
//! node-lifecycle-controller.

use serde_json::{Value, json};

use super::cluster::{Cluster, LEASES, NODES, PODS, unless_gone};
use super::pods::is_ready;
use super::switches::{is_stopped, until};
use super::{Outcome, lease};
use crate::admission::NOT_READY;
use crate::meta;

pub(super) const WATCHES: &[&str] = &[NODES.collection];

/// Conditions, the status in which each taints its node, and the taint (k8s.io/api/core/v1/well_known_taints.go).
const CONDITIONS: &[(&str, &str, &str)] = &[
    ("Ready", "False", NOT_READY),
    ("Ready", "Unknown", "node.kubernetes.io/unreachable"),
    ("MemoryPressure", "True", "node.kubernetes.io/memory-pressure"),
    ("DiskPressure", "True", "node.kubernetes.io/disk-pressure"),
    ("NetworkUnavailable", "True", "node.kubernetes.io/network-unavailable"),
    ("PIDPressure", "True", "node.kubernetes.io/pid-pressure"),
];

/// The taint of unschedulable nodes.
pub(super) const UNSCHEDULABLE: &str = "node.kubernetes.io/unschedulable";

pub(super) async fn reconcile(cluster: &Cluster, key: &str) -> Outcome {
    let Some(stored) = cluster.get(NODES, key) else { return Ok(None) };
    let node = &stored.value;
    if is_stopped(node) && !is_unknown(node) {
        return miss(cluster, node).await;
    }
    // A node that has not reported yet keeps its taint from admission.
    if node["status"]["conditions"].is_array()
        && let Some(patch) = patch(node)
    {
        unless_gone(cluster.patch(NODES, node, &patch).await)?;
    }
    Ok(None)
}

/// `NodeMonitorGracePeriod` of kube-controller-manager's node-lifecycle-controller, in seconds.
const GRACE: i64 = 50;
/// The reason of conditions that are not known any more.
const UNKNOWN: &str = "NodeStatusUnknown";

/// Reports whether a node's kubelet has not posted its status for too long.
pub(super) fn is_unknown(node: &Value) -> bool {
    let mut conditions = node["status"]["conditions"].as_array().into_iter().flatten();
    conditions.any(|condition| condition["type"] == "Ready" && condition["reason"] == UNKNOWN)
}

/// Notes that a node's kubelet posts nothing any more, once its lease is old, and that its pods are not ready
/// (`monitorNodeHealth`, `MarkPodsNotReady`). It evicts no pods: the controller stops evictions while no node is ready
/// (`handleDisruption`). Returns the time until then.
async fn miss(cluster: &Cluster, node: &Value) -> Outcome {
    let name = meta::name(node);
    let lease = cluster.get(LEASES, &format!("{}/{name}", lease::NAMESPACE));
    let renewed = lease.and_then(|lease| lease.value["spec"]["renewTime"].as_str()?.parse().ok());
    let left = renewed.map(|renewed| until(renewed, GRACE, cluster.now())).filter(|left| !left.is_zero());
    if left.is_some() {
        return Ok(left);
    }
    let (time, mut next) = (cluster.time(), node.clone());
    let conditions = next["status"]["conditions"].as_array_mut().into_iter().flatten();
    for condition in conditions.filter(|condition| condition["type"] == "Ready") {
        condition["status"] = "Unknown".into();
        condition["reason"] = UNKNOWN.into();
        condition["message"] = "Kubelet stopped posting node status.".into();
        condition["lastTransitionTime"] = time.as_str().into();
    }
    unless_gone(cluster.update_status(NODES, &next).await)?;
    for pod in cluster.objects(PODS, |pod| pod["spec"]["nodeName"] == name && is_ready(pod)) {
        let mut pod = pod.value.clone();
        let conditions = pod["status"]["conditions"].as_array_mut().into_iter().flatten();
        for condition in conditions.filter(|condition| condition["type"] == "Ready") {
            condition["status"] = "False".into();
            condition["lastTransitionTime"] = time.as_str().into();
        }
        unless_gone(cluster.update_status(PODS, &pod).await)?;
        cluster.warn("node-controller", &pod, "NodeNotReady", "Node is not ready").await;
    }
    Ok(None)
}

/// Returns the patch that sets the taints of a node's conditions; `None` if it has them.
pub(super) fn patch(node: &Value) -> Option<Value> {
    let taints = node["spec"]["taints"].as_array().map_or(&[][..], Vec::as_slice);
    let others = taints.iter().filter(|taint| !is_ours(taint)).cloned();
    let wanted: Vec<Value> = others.chain(keys(node).map(taint)).collect();
    let has = |taint: &Value| {
        taints.iter().any(|own| own["key"] == taint["key"] && own["effect"] == taint["effect"])
    };
    if wanted.len() == taints.len() && wanted.iter().all(has) {
        return None;
    }
    let taints = if wanted.is_empty() { Value::Null } else { json!(wanted) };
    Some(json!({"spec": {"taints": taints}}))
}

/// Builds a taint that refuses pods.
pub(super) fn taint(key: &str) -> Value {
    json!({"key": key, "effect": "NoSchedule"})
}

fn is_ours(taint: &Value) -> bool {
    let key = meta::member(taint, "key");
    let known = key == UNSCHEDULABLE || CONDITIONS.iter().any(|(.., of)| *of == key);
    known && taint["effect"] == "NoSchedule"
}

/// Returns the keys of the taints that a node should have.
fn keys(node: &Value) -> impl Iterator<Item = &'static str> {
    let holds = |kind: &str, status: &str| {
        let mut conditions = node["status"]["conditions"].as_array().into_iter().flatten();
        conditions.any(|condition| condition["type"] == kind && condition["status"] == status)
    };
    let of_conditions = CONDITIONS.iter().filter(move |(kind, status, _)| holds(kind, status));
    let unschedulable = (node["spec"]["unschedulable"] == true).then_some(UNSCHEDULABLE);
    of_conditions.map(|(.., key)| *key).chain(unschedulable)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(spec: Value, conditions: Value, wanted: Value) {
        let node = json!({"spec": spec, "status": {"conditions": conditions}});
        assert_eq!(patch(&node).unwrap_or_default()["spec"]["taints"], wanted, "{node}");
    }

    #[test]
    fn taints_follow_conditions() {
        let not_ready = json!({"key": NOT_READY, "effect": "NoSchedule"});
        let own = json!({"key": "own", "effect": "NoExecute"});
        let ready = |status: &str| json!([{"type": "Ready", "status": status}]);
        let both = json!({"taints": [own, not_ready]});
        check(both.clone(), ready("True"), json!([own]));
        check(both, ready("False"), Value::Null);
        check(json!({}), ready("False"), json!([not_ready]));
        check(json!({}), ready("True"), Value::Null);
        let unreachable = json!({"key": "node.kubernetes.io/unreachable", "effect": "NoSchedule"});
        check(json!({"taints": [not_ready]}), ready("Unknown"), json!([unreachable]));
        let unschedulable = json!({"key": UNSCHEDULABLE, "effect": "NoSchedule"});
        check(json!({"unschedulable": true}), ready("True"), json!([unschedulable]));
    }
}
