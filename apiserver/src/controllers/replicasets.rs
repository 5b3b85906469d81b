//! Replica sets: adopt, create and delete pods up to the wanted number, and report on them.
//!
//! Follows kube-controller-manager's `pkg/controller/replicaset` (1.36).

use std::time::Duration;

use serde_json::{Value, json};

use super::cluster::{Cluster, Fault, PODS, REPLICA_SETS, has_labels, unless_gone};
use super::owners::{claim, owner_keys};
use super::pods::{by_loss, create, delete, from_template, is_active, is_ready, until_available};
use super::{MOST_CREATED, Outcome};
use crate::meta;

pub(super) const WATCHES: &[&str] = &[REPLICA_SETS.collection, PODS.collection];
const COMPONENT: &str = "replicaset-controller";

pub(super) fn keys(cluster: &Cluster, collection: &str, key: &str, object: &Value) -> Vec<String> {
    owner_keys(cluster, REPLICA_SETS, collection, key, object)
}

pub(super) async fn reconcile(cluster: &Cluster, key: &str) -> Outcome {
    let Some(stored) = cluster.get(REPLICA_SETS, key) else { return Ok(None) };
    let set = &stored.value;
    let pods = claim(cluster, PODS, set, REPLICA_SETS, |_| true).await?;
    let managed = if meta::is_terminating(set) { Ok(false) } else { manage(cluster, set, &pods).await };
    // Pods created or deleted in this run count once their events arrive.
    let again = report(cluster, set, &pods, managed.as_ref().err()).await?;
    Ok(if managed? { Some(Duration::ZERO) } else { again })
}

/// Creates or deletes pods up to the wanted number; returns whether one call's limit leaves some to create.
async fn manage(cluster: &Cluster, set: &Value, pods: &[Value]) -> Result<bool, Fault> {
    let mut active: Vec<&Value> = pods.iter().filter(|pod| is_active(pod)).collect();
    let wanted = usize::try_from(set["spec"]["replicas"].as_i64().unwrap_or(1)).unwrap_or(0);
    let missing = wanted.saturating_sub(active.len());
    for _ in 0..missing.min(MOST_CREATED) {
        let pod = from_template(set, REPLICA_SETS, &set["spec"]["template"]);
        create(cluster, COMPONENT, set, &pod).await?;
    }
    if active.len() > wanted {
        active.sort_by(|a, b| by_loss(a, b));
        for pod in &active[..active.len() - wanted] {
            delete(cluster, COMPONENT, set, pod).await?;
        }
    }
    Ok(missing > MOST_CREATED)
}

/// Writes the status. Returns the time until the next ready pod counts as available.
async fn report(cluster: &Cluster, set: &Value, pods: &[Value], fault: Option<&Fault>) -> Outcome {
    let (status, again) = status(cluster, set, pods, fault);
    if status == set["status"] {
        return Ok(again);
    }
    let mut next = set.clone();
    next["status"] = status;
    unless_gone(cluster.update_status(REPLICA_SETS, &next).await)?;
    Ok(again)
}

fn status(
    cluster: &Cluster,
    set: &Value,
    pods: &[Value],
    fault: Option<&Fault>,
) -> (Value, Option<Duration>) {
    let spec = &set["spec"];
    let labels = &spec["template"]["metadata"]["labels"];
    let labelled = |pod: &&Value| has_labels(&pod["metadata"]["labels"], labels);
    let active: Vec<&Value> = pods.iter().filter(|pod| is_active(pod)).collect();
    let least = spec["minReadySeconds"].as_i64().unwrap_or(0);
    let waits: Vec<Duration> =
        active.iter().filter_map(|pod| until_available(pod, least, cluster.now())).collect();
    let mut status = json!({
        "replicas": active.len(),
        "fullyLabeledReplicas": active.iter().copied().filter(labelled).count(),
        "readyReplicas": active.iter().filter(|pod| is_ready(pod)).count(),
        "availableReplicas": waits.iter().filter(|wait| wait.is_zero()).count(),
        "terminatingReplicas": pods.iter().filter(|pod| meta::is_terminating(pod)).count(),
        "observedGeneration": set["metadata"]["generation"],
    });
    // Zero counts are omitted, except those that the type always writes.
    if let Some(map) = status.as_object_mut() {
        map.retain(|key, value| *value != 0 || matches!(key.as_str(), "replicas" | "terminatingReplicas"));
    }
    if let Some(fault) = fault {
        status["conditions"] = failure(set, fault, &cluster.time());
    }
    (status, waits.into_iter().filter(|wait| !wait.is_zero()).min())
}

/// Builds the condition of a set whose pods are refused. An existing one stays (`calculateStatus`): refusals name the
/// pod, which has a new name on each try, and a changed status would requeue the set before its delay is over.
fn failure(set: &Value, fault: &Fault, time: &str) -> Value {
    let mut old = set["status"]["conditions"].as_array().into_iter().flatten();
    match old.find(|condition| condition["type"] == "ReplicaFailure") {
        Some(old) => json!([old]),
        None => json!([{"type": "ReplicaFailure", "status": "True", "reason": "FailedCreate",
                        "message": fault.to_string(), "lastTransitionTime": time}]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failure_condition_keeps_its_first_message() {
        let fault = |pod: &str| Fault::waiting(format!("pods {pod} is forbidden"));
        let first = failure(&json!({}), &fault("s-a"), "2026-01-01T00:00:00Z");
        assert_eq!(
            (&first[0]["type"], &first[0]["reason"]),
            (&json!("ReplicaFailure"), &json!("FailedCreate"))
        );
        let set = json!({"status": {"conditions": first}});
        assert_eq!(failure(&set, &fault("s-b"), "2026-01-01T00:00:09Z"), set["status"]["conditions"]);
    }
}
