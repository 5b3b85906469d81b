//! The scheduler: `pkg/scheduler` for a cluster that has one node.

use serde_json::{Value, json};

use super::super::cluster::{Cluster, Fault, NODES, PODS, unless_gone};
use super::super::pods::is_over;
use super::{NAME, claims, condition, fit, set_condition};
use crate::meta;

const SCHEDULER: &str = "default-scheduler";

/// Binds a pod to the node, if it uses the default scheduler and fits.
pub(super) async fn schedule(cluster: &Cluster, pod: &Value) -> Result<(), Fault> {
    let gated = pod["spec"]["schedulingGates"].as_array().is_some_and(|gates| !gates.is_empty());
    if gated || pod["spec"]["schedulerName"] != SCHEDULER || meta::is_terminating(pod) || is_over(pod) {
        return Ok(());
    }
    let Some(node) = cluster.get(NODES, NAME) else { return Ok(()) };
    if let Some(misfit) = fit::misfit(cluster, pod, &node.value) {
        return unschedulable(cluster, pod, &misfit.message(pod)).await;
    }
    if !claims::bind(cluster, pod, &node.value).await? {
        // The pod is tried again when its claims are bound.
        return Ok(());
    }
    let binding = json!({"apiVersion": "v1", "kind": "Binding", "metadata": {"name": meta::name(pod)},
                         "target": {"apiVersion": "v1", "kind": "Node", "name": NAME}});
    unless_gone(cluster.post(PODS, pod, "binding", &binding).await)?;
    let place = format!("{}/{}", meta::namespace(pod), meta::name(pod));
    cluster.tell(SCHEDULER, pod, "Scheduled", &format!("Successfully assigned {place} to {NAME}")).await;
    Ok(())
}

/// Shows why a pod cannot be scheduled (`handleSchedulingFailure`), once for each reason.
async fn unschedulable(cluster: &Cluster, pod: &Value, message: &str) -> Result<(), Fault> {
    let known = condition(pod, "PodScheduled");
    if known.is_some_and(|known| known["status"] == "False" && known["message"] == message) {
        return Ok(());
    }
    let mut next = pod.clone();
    set_condition(&mut next, "PodScheduled", false, "Unschedulable", message, &cluster.time());
    unless_gone(cluster.update_status(PODS, &next).await)?;
    cluster.warn(SCHEDULER, pod, "FailedScheduling", message).await;
    Ok(())
}
