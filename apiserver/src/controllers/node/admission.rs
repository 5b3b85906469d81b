//! The kubelet's own check of a pod that it has not started: the scheduler is not asked about pods with a node.
//!
//! Source: `pkg/kubelet/lifecycle/predicate.go`.

use std::sync::Arc;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use kubesmith_apimachinery::quantity::Quantity;
use serde_json::Value;

use super::super::cluster::{Cluster, Fault, NODES, PODS, unless_gone};
use super::super::owners::controller_of;
use super::super::placement;
use super::super::pods::is_over;
use super::kubelet::KUBELET;
use super::{NAME, OWN_CONDITIONS, fit, observe};
use crate::builtin::is_extended;
use crate::meta;
use crate::store::Object;

/// The age of a pod at which it follows another rejected one of its owner. Owners replace rejected pods at once,
/// which would starve other keys.
const PAUSE: SignedDuration = SignedDuration::from_secs(1);

/// The reason and the message of a pod that the kubelet refuses to run.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Rejection {
    reason: String,
    message: String,
}

/// Returns why the kubelet refuses a pod that it has not started (`Admit` of `predicateAdmitHandler`).
pub(super) fn rejection(cluster: &Cluster, pod: &Value) -> Option<Rejection> {
    let node = cluster.get(NODES, NAME)?;
    let started = |other: &Value| {
        other["spec"]["nodeName"] == NAME && !is_over(other) && !other["status"]["startTime"].is_null()
    };
    let others: Vec<Arc<Object>> = cluster.objects(PODS, started);
    let others: Vec<&Value> = others.iter().map(|other| &*other.value).collect();
    refused(pod, &others, &node.value)
}

fn refused(pod: &Value, others: &[&Value], node: &Value) -> Option<Rejection> {
    let rejection = |reason: &str, message: String| Some(Rejection { reason: reason.to_owned(), message });
    if !matches!(meta::member(&pod["spec"]["os"], "name"), "" | "linux") {
        let message = "Failed to admit pod as the OS field doesn't match node OS".to_owned();
        return rejection("PodOSNotSupported", message);
    }
    // A resource that the node does not know may be one of the whole cluster (`removeMissingExtendedResources`).
    let is_known = |short: &fit::Shortage| {
        !is_extended(&short.name) || node["status"]["allocatable"].get(&short.name).is_some()
    };
    let mut shortages = fit::shortages(pod, others, node);
    shortages.retain(is_known);
    let rank =
        |name: &str| ["pods", "cpu", "memory", "ephemeral-storage"].iter().position(|first| *first == name);
    if let Some(short) =
        shortages.iter().min_by_key(|short| (rank(&short.name).unwrap_or(usize::MAX), &short.name))
    {
        let number = |amount: Quantity| whole(amount, &short.name);
        let message = format!(
            "Node didn't have enough resource: {}, requested: {}, used: {}, capacity: {}",
            short.name,
            number(short.wanted),
            number(short.used),
            number(short.all)
        );
        return rejection(&format!("OutOf{}", short.name), message);
    }
    let untolerated = "node(s) had taints that the pod didn't tolerate";
    for (fails, predicate, text) in [
        (!placement::selects(&pod["spec"], node), "NodeAffinity", fit::NOT_SELECTED),
        (fit::are_ports_taken(pod, others), "NodePorts", fit::PORTS_TAKEN),
        (!placement::is_tolerated(&pod["spec"], node, &["NoExecute"]), "TaintToleration", untolerated),
    ] {
        if fails {
            return rejection(predicate, format!("Predicate {predicate} failed: {text}"));
        }
    }
    None
}

/// The scheduler counts thousandths of CPUs, and whole units of everything else.
fn whole(amount: Quantity, name: &str) -> i128 {
    let unit: i128 = if name == "cpu" { 1_000_000 } else { 1_000_000_000 };
    (amount.nanos() + unit - 1).div_euclid(unit)
}

/// Returns the time after which a pod may be rejected, if another one of its owner was before.
pub(super) fn pause(cluster: &Cluster, pod: &Value, rejection: &Rejection) -> Option<Duration> {
    let owner = controller_of(pod)?;
    let created: Timestamp = meta::text(pod, "creationTimestamp").parse().ok()?;
    let left = PAUSE - cluster.now().duration_since(created);
    let is_sibling = |other: &Value| {
        other["status"]["reason"] == rejection.reason
            && controller_of(other).is_some_and(|one| one["uid"] == owner["uid"])
    };
    let left = Duration::try_from(left).ok().filter(|left| !left.is_zero())?;
    (!cluster.objects(PODS, is_sibling).is_empty()).then_some(left)
}

/// Fails a pod that the kubelet refuses to run (`rejectPod`).
pub(super) async fn reject(cluster: &Cluster, pod: &Value, rejection: &Rejection) -> Result<(), Fault> {
    cluster.warn(KUBELET, pod, &rejection.reason, &rejection.message).await;
    let mut next = pod.clone();
    let status = &mut next["status"];
    status["phase"] = "Failed".into();
    status["reason"] = rejection.reason.as_str().into();
    status["message"] = format!("Pod was rejected: {}", rejection.message).into();
    status["startTime"] = cluster.time().into();
    // The conditions of others stay (`mergePodStatus` of pkg/kubelet/status).
    if let Some(conditions) = status["conditions"].as_array_mut() {
        conditions.retain(|one| !OWN_CONDITIONS.contains(&meta::member(one, "type")));
    }
    observe(&mut next);
    unless_gone(cluster.update_status(PODS, &next).await)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn pod(requests: Value) -> Value {
        json!({"spec": {"containers": [{"resources": {"requests": requests}}]}})
    }

    #[test]
    fn first_shortage_is_the_reason() {
        let room = json!({"cpu": "1", "memory": "1Gi", "ephemeral-storage": "1Gi", "pods": "1"});
        let node = json!({"status": {"allocatable": room}});
        let reason = |pod: &Value, others: &[&Value]| refused(pod, others, &node).map(|found| found.reason);
        let much = pod(json!({"ephemeral-storage": "2Gi", "memory": "2Gi", "cpu": "2"}));
        assert_eq!(reason(&much, &[]).unwrap(), "OutOfcpu");
        assert_eq!(reason(&much, &[&pod(json!({}))]).unwrap(), "OutOfpods");
        let large = pod(json!({"memory": "2Gi", "ephemeral-storage": "2Gi"}));
        let found = refused(&large, &[], &node).unwrap();
        let text =
            "Node didn't have enough resource: memory, requested: 2147483648, used: 0, capacity: 1073741824";
        assert_eq!((found.reason.as_str(), found.message.as_str()), ("OutOfmemory", text));
        assert_eq!(reason(&pod(json!({"cpu": "1", "example.com/none": "1"})), &[]), None);
    }

    #[test]
    fn pod_of_another_system_is_refused() {
        let node = json!({"status": {"allocatable": {"pods": "1"}}});
        let mut other = pod(json!({}));
        other["spec"]["os"] = json!({"name": "windows"});
        assert_eq!(refused(&other, &[], &node).unwrap().reason, "PodOSNotSupported");
        other["spec"]["os"] = json!({"name": "linux"});
        assert_eq!(refused(&other, &[], &node), None);
    }
}
