//! The scheduler: `pkg/scheduler` for a cluster that has one node.

use serde_json::{Value, json};

use super::super::cluster::{Cluster, Fault, NODES, PODS, unless_gone};
use super::super::pods::is_over;
use super::super::resource_claims;
use super::{NAME, claims, condition, devices, fit, preemption, set_condition};
use crate::meta;

pub(super) const SCHEDULER: &str = "default-scheduler";
/// The scheduler's field manager.
const AGENT: &str = "kube-scheduler";

/// Binds a pod to the node, if it uses the default scheduler and fits.
pub(super) async fn schedule(cluster: &Cluster, pod: &Value) -> Result<(), Fault> {
    let cluster = &cluster.by(AGENT);
    let gated = pod["spec"]["schedulingGates"].as_array().is_some_and(|gates| !gates.is_empty());
    if gated || pod["spec"]["schedulerName"] != SCHEDULER || meta::is_terminating(pod) || is_over(pod) {
        return Ok(());
    }
    let Some(node) = cluster.get(NODES, NAME) else { return Ok(()) };
    // `PreEnqueue` of DynamicResources: the pod is not tried before its claims are there.
    let Ok(devices) = resource_claims::of_pod(cluster, pod) else { return Ok(()) };
    if let Some(misfit) = fit::misfit(cluster, pod, &devices, &node.value) {
        let victims = preemption::victims(cluster, pod, &devices, &node.value, &misfit);
        for victim in victims.iter().flatten() {
            preemption::preempt(cluster, &victim.value, pod).await?;
        }
        let refusal = victims.err();
        return unschedulable(cluster, pod, &misfit.message(pod, refusal.as_deref()), refusal.is_none())
            .await;
    }
    if !claims::bind(cluster, pod, &node.value).await? {
        // The pod is tried again when its claims are bound.
        return Ok(());
    }
    devices::reserve_all(cluster, &devices, pod).await?;
    let binding = json!({"apiVersion": "v1", "kind": "Binding", "metadata": {"name": meta::name(pod)},
                         "target": {"apiVersion": "v1", "kind": "Node", "name": NAME}});
    unless_gone(cluster.post(PODS, pod, "binding", &binding).await)?;
    let place = format!("{}/{}", meta::namespace(pod), meta::name(pod));
    cluster.tell(SCHEDULER, pod, "Scheduled", &format!("Successfully assigned {place} to {NAME}")).await;
    Ok(())
}

/// Shows why a pod cannot be scheduled (`handleSchedulingFailure`), once for each reason. `is_awaited`: others end to make
/// room for it.
async fn unschedulable(cluster: &Cluster, pod: &Value, message: &str, is_awaited: bool) -> Result<(), Fault> {
    let known = condition(pod, "PodScheduled");
    if known.is_some_and(|known| known["status"] == "False" && known["message"] == message) {
        return Ok(());
    }
    let mut next = pod.clone();
    set_condition(&mut next, "PodScheduled", false, "Unschedulable", message, &cluster.time());
    if is_awaited {
        next["status"]["nominatedNodeName"] = NAME.into();
    }
    unless_gone(cluster.update_status(PODS, &next).await)?;
    cluster.warn(SCHEDULER, pod, "FailedScheduling", message).await;
    Ok(())
}
