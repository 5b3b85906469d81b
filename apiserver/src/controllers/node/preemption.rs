//! Pods of lower priority that go for a pod that does not fit: the scheduler's plugin DefaultPreemption.
//!
//! Source: `pkg/scheduler/framework/plugins/defaultpreemption` and `pkg/scheduler/framework/preemption`.

use std::cmp::Reverse;
use std::sync::Arc;

use serde_json::{Value, json};

use super::super::cluster::{BUDGETS, Cluster, Fault, PODS, unless_gone};
use super::fit::{self, Misfit};
use super::scheduler::SCHEDULER;
use super::{NAME, condition, set_condition};
use crate::store::Object;
use crate::{meta, selector};

const DISRUPTION: &str = "DisruptionTarget";
const REASON: &str = "PreemptionByScheduler";

/// The pods that have to go, or the end of the message that says why none goes.
pub(super) type Choice = Result<Vec<Arc<Object>>, String>;

/// Chooses the pods that go for a pod that does not fit beside the others.
pub(super) fn victims(
    cluster: &Cluster,
    pod: &Value,
    devices: &[Arc<Object>],
    node: &Value,
    misfit: &Misfit,
) -> Choice {
    let refused = |reasons: &str| Err(format!("0/1 nodes are available: {reasons}."));
    if pod["spec"]["preemptionPolicy"] == "Never" {
        return Err("not eligible due to preemptionPolicy=Never.".to_owned());
    }
    if !matches!(misfit, Misfit::Node(_, true)) {
        return refused("1 Preemption is not helpful for scheduling");
    }
    let (mut lower, mut stay): (Vec<Arc<Object>>, Vec<Arc<Object>>) =
        fit::others(cluster).into_iter().partition(|other| priority(&other.value) < priority(pod));
    let is_awaited = !meta::member(&pod["status"], "nominatedNodeName").is_empty();
    if is_awaited && lower.iter().any(|other| is_preempted(&other.value)) {
        return Err("not eligible due to a terminating pod on the nominated node.".to_owned());
    }
    if lower.is_empty() {
        return refused("1 No preemption victims found for incoming pod");
    }
    let fault = |beside: &[Arc<Object>]| {
        let beside: Vec<&Value> = beside.iter().map(|other| &*other.value).collect();
        fit::misfit_beside(cluster, pod, devices, node, &beside)
    };
    if let Some(misfit) = fault(&stay) {
        return refused(&misfit.reasons());
    }
    // The most important pods are kept first, and before them those that a budget protects.
    lower.sort_by_cached_key(|other| {
        let start = other.value["status"]["startTime"].as_str().unwrap_or_default().to_owned();
        (Reverse(priority(&other.value)), start)
    });
    let (protected, others) = protected(cluster, lower);
    let mut victims = Vec::new();
    for other in protected.into_iter().chain(others) {
        stay.push(other);
        if fault(&stay).is_some() {
            victims.extend(stay.pop());
        }
    }
    Ok(victims)
}

fn priority(pod: &Value) -> i64 {
    pod["spec"]["priority"].as_i64().unwrap_or(0)
}

/// Reports whether a pod ends because of a preemption (`podTerminatingByPreemption`).
fn is_preempted(pod: &Value) -> bool {
    let mark = condition(pod, DISRUPTION);
    meta::is_terminating(pod) && mark.is_some_and(|mark| mark["status"] == "True" && mark["reason"] == REASON)
}

/// Separates the pods whose disruption a budget does not allow (`filterPodsWithPDBViolation`).
fn protected(cluster: &Cluster, pods: Vec<Arc<Object>>) -> (Vec<Arc<Object>>, Vec<Arc<Object>>) {
    let mut budgets: Vec<(Value, i64)> = cluster
        .everywhere(BUDGETS)
        .into_iter()
        .map(|budget| {
            let allowed = budget["status"]["disruptionsAllowed"].as_i64().unwrap_or(0);
            (budget, allowed)
        })
        .collect();
    pods.into_iter().partition(|pod| {
        let pod: &Value = &pod.value;
        let mut is_violated = false;
        for (budget, allowed) in &mut budgets {
            let (spec, disrupted) = (&budget["spec"]["selector"], &budget["status"]["disruptedPods"]);
            let counts = meta::namespace(budget) == meta::namespace(pod)
                && !selector::is_empty(spec)
                && selector::matches(spec, &pod["metadata"]["labels"])
                && disrupted.get(meta::name(pod)).is_none();
            if counts {
                *allowed -= 1;
                is_violated |= *allowed < 0;
            }
        }
        is_violated
    })
}

/// Ends a pod for another one.
pub(super) async fn preempt(cluster: &Cluster, victim: &Value, pod: &Value) -> Result<(), Fault> {
    let mut next = victim.clone();
    let message = format!("{SCHEDULER}: preempting to accommodate a higher priority pod");
    set_condition(&mut next, DISRUPTION, true, REASON, &message, &cluster.time());
    unless_gone(cluster.update_status(PODS, &next).await)?;
    unless_gone(cluster.delete(PODS, victim, json!({})).await)?;
    let text = format!("Preempted by pod {} on node {NAME}", meta::text(pod, "uid"));
    cluster.tell(SCHEDULER, victim, "Preempted", &text).await;
    Ok(())
}
