//! A simulated node with its kubelet, and the scheduler of this node. The scheduler decides as kube-scheduler does in a
//! cluster of one node; the kubelet needs what a pod refers to. Containers become running and ready, and end when their pod
//! is deleted. Nothing is executed; changes of a running pod's status by others stay.

mod admission;
mod claims;
mod devices;
mod fit;
mod kubelet;
mod limits;
mod peers;
mod preemption;
mod references;
mod restarts;
mod scheduler;
mod start;

use std::cmp::Reverse;
use std::sync::Arc;

use serde_json::{Value, json};

use super::cluster::{
    ATTACHMENTS, CLAIMS, CLASSES, CONFIG_MAPS, CSI_NODES, Cluster, DEVICE_CLASSES, Fault, NAMESPACES, NODES,
    PODS, RESOURCE_CLAIMS, SECRETS, VOLUMES, unless_gone,
};
use super::pods::is_over;
use super::{Outcome, lease, nodes, switches, volumes};
use crate::meta;
use crate::store::Object;

pub(super) const WATCHES: &[&str] = &[
    PODS.collection,
    NODES.collection,
    // Pods wait for these.
    SECRETS.collection,
    CONFIG_MAPS.collection,
    CLAIMS.collection,
    VOLUMES.collection,
    CLASSES.collection,
    NAMESPACES.collection,
    RESOURCE_CLAIMS.collection,
    DEVICE_CLASSES.collection,
    CSI_NODES.collection,
    ATTACHMENTS.collection,
];

/// The node's name.
pub(super) const NAME: &str = "node-1";
const ADDRESS: &str = "192.168.0.1";
/// The key for all pods that wait. It is neither a pod's, which has a slash, nor the node's.
const WAITING: &str = "waiting";

/// Returns the keys of an event: a pod's or the node's own, and the key of the pods that may have waited for it.
pub(super) fn keys(collection: &str, key: &str, object: &Value) -> Vec<String> {
    let own = Some(key.to_owned());
    let waiting = Some(WAITING.to_owned());
    let (own, waiting) = if collection == PODS.collection {
        (own, waiting.filter(|_| object["spec"]["nodeName"] == NAME))
    } else if collection == NODES.collection {
        if key == NAME { (own, waiting) } else { (None, None) }
    } else {
        (None, waiting)
    };
    own.into_iter().chain(waiting).collect()
}

pub(super) async fn reconcile(cluster: &Cluster, key: &str) -> Outcome {
    match key {
        NAME if has_stopped(cluster) => Ok(None),
        NAME => {
            register(cluster).await?;
            let Some(node) = cluster.get(NODES, NAME) else { return Ok(None) };
            Ok(Some(lease::renew(cluster, &node.value).await?))
        }
        WAITING => retry(cluster).await,
        _ => match cluster.get(PODS, key) {
            Some(stored) => advance(cluster, &stored.value).await,
            None => Ok(None),
        },
    }
}

/// Takes the next step of a pod.
async fn advance(cluster: &Cluster, pod: &Value) -> Outcome {
    match pod["spec"]["nodeName"].as_str().unwrap_or_default() {
        "" => scheduler::schedule(cluster, pod).await?,
        NAME if has_stopped(cluster) => {}
        NAME if meta::is_terminating(pod) => kubelet::end(cluster, pod).await?,
        NAME if is_over(pod) => {}
        NAME => return kubelet::run(cluster, pod).await,
        _ => {}
    }
    Ok(None)
}

/// Reports whether the kubelet has stopped.
fn has_stopped(cluster: &Cluster) -> bool {
    cluster.get(NODES, NAME).is_some_and(|node| switches::is_stopped(&node.value))
}

/// Tries all waiting pods again: those of the highest priority first, then the oldest (`PrioritySort` of
/// pkg/scheduler/framework/plugins/queuesort).
async fn retry(cluster: &Cluster) -> Outcome {
    let waits = |pod: &Value| match pod["spec"]["nodeName"].as_str().unwrap_or_default() {
        "" => true,
        NAME => pod["status"]["phase"] == "Pending" && !meta::is_terminating(pod),
        _ => false,
    };
    let mut waiting: Vec<Arc<Object>> = cluster.objects(PODS, waits);
    waiting.sort_by_cached_key(|pod| {
        let pod: &Value = &pod.value;
        let created = meta::text(pod, "creationTimestamp").to_owned();
        (Reverse(pod["spec"]["priority"].as_i64().unwrap_or(0)), created)
    });
    // The fault of one pod must not stop the others.
    let mut fault = None;
    for pod in waiting {
        fault = advance(cluster, &pod.value).await.err().or(fault);
    }
    fault.map_or(Ok(None), Err)
}

/// Posts that the node is ready again, after the kubelet has stopped for a while, and goes on with its pods.
async fn post(cluster: &Cluster, node: &Value) -> Result<(), Fault> {
    let mut next = node.clone();
    let conditions = next["status"]["conditions"].as_array_mut().into_iter().flatten();
    for condition in conditions.filter(|condition| condition["type"] == "Ready") {
        *condition = ready(&cluster.time());
    }
    untaint(cluster, &cluster.update_status(NODES, &next).await?).await?;
    for pod in cluster.objects(PODS, |pod| pod["spec"]["nodeName"] == NAME) {
        kubelet::post(cluster, &pod.value).await?;
        // Its containers may have exited, or it is to be deleted.
        if let Some(pod) =
            cluster.get(PODS, &format!("{}/{}", meta::namespace(&pod.value), meta::name(&pod.value)))
        {
            advance(cluster, &pod.value).await?;
        }
    }
    Ok(())
}

/// The condition of a node that is ready.
fn ready(time: &str) -> Value {
    json!({"type": "Ready", "status": "True", "reason": "KubeletReady", "message": "kubelet is posting ready status",
           "lastHeartbeatTime": time, "lastTransitionTime": time})
}

/// Registers the node as ready.
async fn register(cluster: &Cluster) -> Result<(), Fault> {
    let stored = cluster.get(NODES, NAME);
    if let Some(node) = stored.as_ref().filter(|node| node.value["status"]["conditions"].is_array()) {
        return match nodes::is_unknown(&node.value) {
            true => post(cluster, &node.value).await,
            false => Ok(()),
        };
    }
    let node = match stored {
        Some(stored) => stored.value.clone(),
        None => {
            let labels = json!({"kubernetes.io/arch": "amd64", "kubernetes.io/hostname": NAME,
                                "kubernetes.io/os": "linux"});
            let node = json!({"metadata": {"name": NAME, "labels": labels}});
            offer_storage(cluster).await?;
            cluster.create(NODES, "", &node).await?
        }
    };
    let room = json!({"cpu": "8", "memory": "32Gi", "pods": "110", "ephemeral-storage": "100Gi"});
    let mut next = node;
    next["status"] = json!({
        "addresses": [{"type": "InternalIP", "address": ADDRESS}, {"type": "Hostname", "address": NAME}],
        "allocatable": room, "capacity": room,
        "conditions": [ready(&cluster.time())],
        "nodeInfo": {"architecture": "amd64", "bootID": "", "containerRuntimeVersion": "none://0",
                     "kernelVersion": "", "kubeProxyVersion": "", "kubeletVersion": "v1.36.0+kubesmith",
                     "machineID": "", "operatingSystem": "linux", "osImage": "", "systemUUID": ""},
    });
    let node = cluster.update_status(NODES, &next).await?;
    untaint(cluster, &node).await
}

/// A ready node loses the taint for nodes that are not; the controllers that remove it may not run.
async fn untaint(cluster: &Cluster, node: &Value) -> Result<(), Fault> {
    match nodes::patch(node) {
        Some(patch) => unless_gone(cluster.by("kube-controller-manager").patch(NODES, node, &patch).await),
        None => Ok(()),
    }
}

/// Creates a default storage class with volumes of the node, as clusters of kind have one.
async fn offer_storage(cluster: &Cluster) -> Result<(), Fault> {
    if cluster.get(CLASSES, "standard").is_some() {
        return Ok(());
    }
    let class = json!({
        "metadata": {"name": "standard", "annotations": {"storageclass.kubernetes.io/is-default-class": "true"}},
        "provisioner": volumes::PROVISIONER, "volumeBindingMode": "WaitForFirstConsumer",
    });
    cluster.create(CLASSES, "", &class).await.map(drop)
}

fn conditions(pod: &Value) -> &[Value] {
    pod["status"]["conditions"].as_array().map_or(&[], Vec::as_slice)
}

/// Returns a pod's condition.
fn condition<'a>(pod: &'a Value, kind: &str) -> Option<&'a Value> {
    conditions(pod).iter().find(|condition| condition["type"] == kind)
}

/// The conditions that the kubelet sets (`PodConditionsByKubelet` of pkg/kubelet/types).
const OWN_CONDITIONS: [&str; 5] =
    ["PodScheduled", "Ready", "Initialized", "ContainersReady", "PodReadyToStartContainers"];

/// Records that a pod's status and the kubelet's conditions in it follow from its current spec
/// (`CalculatePodStatusObservedGeneration` of pkg/api/v1/pod).
fn observe(pod: &mut Value) {
    let generation = pod["metadata"]["generation"].clone();
    if generation.is_null() {
        return;
    }
    for condition in pod["status"]["conditions"].as_array_mut().into_iter().flatten() {
        if condition["type"].as_str().is_some_and(|kind| OWN_CONDITIONS.contains(&kind)) {
            condition["observedGeneration"] = generation.clone();
        }
    }
    pod["status"]["observedGeneration"] = generation;
}

/// Sets a condition of a pod; its time changes with its status only.
fn set_condition(pod: &mut Value, kind: &str, value: bool, reason: &str, message: &str, time: &str) {
    let status = if value { "True" } else { "False" };
    let same = condition(pod, kind).filter(|old| old["status"] == status);
    let since = same.map_or_else(|| time.into(), |old| old["lastTransitionTime"].clone());
    let mut next =
        json!({"type": kind, "status": status, "lastProbeTime": null, "lastTransitionTime": since});
    if let Some(generation) = pod["metadata"].get("generation") {
        next["observedGeneration"] = generation.clone();
    }
    for (key, text) in [("reason", reason), ("message", message)] {
        if !text.is_empty() {
            next[key] = text.into();
        }
    }
    let mut list = conditions(pod).to_vec();
    match list.iter_mut().find(|condition| condition["type"] == kind) {
        Some(old) => *old = next,
        None => list.push(next),
    }
    pod["status"]["conditions"] = list.into();
}
