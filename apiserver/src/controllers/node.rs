//! A simulated node with its kubelet, and scheduler: pods become running and ready, and end when they are deleted.
//! Nothing is executed; changes of a running pod's status by others stay.

use serde_json::{Value, json};

use super::cluster::{CLASSES, Cluster, Fault, NODES, PODS, unless_gone};
use super::owners::controller_of;
use super::pods::is_over;
use super::{Outcome, lease, nodes, placement, volumes};
use crate::meta;

pub(super) const WATCHES: &[&str] = &[PODS.collection, NODES.collection];

/// The node's name.
pub(super) const NAME: &str = "node-1";
const ADDRESS: &str = "192.168.0.1";
const SCHEDULER: &str = "default-scheduler";

/// Returns the keys of an event: a pod's own; for the node its name and the pods that may wait for it.
pub(super) fn keys(cluster: &Cluster, collection: &str, key: &str) -> Vec<String> {
    if collection == PODS.collection {
        return vec![key.to_owned()];
    }
    if key != NAME {
        return Vec::new();
    }
    let waiting = cluster.everywhere(PODS).into_iter().filter(|pod| pod["spec"]["nodeName"].is_null());
    let waiting = waiting.map(|pod| format!("{}/{}", meta::namespace(&pod), meta::name(&pod)));
    std::iter::once(key.to_owned()).chain(waiting).collect()
}

pub(super) async fn reconcile(cluster: &Cluster, key: &str) -> Outcome {
    if key == NAME {
        register(cluster).await?;
        let Some(node) = cluster.get(NODES, NAME) else { return Ok(None) };
        return Ok(Some(lease::renew(cluster, &node.value).await?));
    }
    let Some(stored) = cluster.get(PODS, key) else { return Ok(None) };
    let pod = &stored.value;
    match pod["spec"]["nodeName"].as_str().unwrap_or_default() {
        "" => schedule(cluster, pod).await?,
        NAME if meta::is_terminating(pod) => end(cluster, pod).await?,
        NAME if is_over(pod) => {}
        NAME => run(cluster, pod).await?,
        _ => {}
    }
    Ok(None)
}

/// Registers the node as ready.
async fn register(cluster: &Cluster) -> Result<(), Fault> {
    let stored = cluster.get(NODES, NAME);
    if stored.as_ref().is_some_and(|node| node.value["status"]["conditions"].is_array()) {
        return Ok(());
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
    let time = cluster.time();
    let room = json!({"cpu": "8", "memory": "32Gi", "pods": "110", "ephemeral-storage": "100Gi"});
    let mut ready = node;
    ready["status"] = json!({
        "addresses": [{"type": "InternalIP", "address": ADDRESS}, {"type": "Hostname", "address": NAME}],
        "allocatable": room, "capacity": room,
        "conditions": [{"type": "Ready", "status": "True", "reason": "KubeletReady",
                        "message": "kubelet is posting ready status", "lastHeartbeatTime": time,
                        "lastTransitionTime": time}],
        "nodeInfo": {"architecture": "amd64", "bootID": "", "containerRuntimeVersion": "none://0",
                     "kernelVersion": "", "kubeProxyVersion": "", "kubeletVersion": "v1.36.0+kubesmith",
                     "machineID": "", "operatingSystem": "linux", "osImage": "", "systemUUID": ""},
    });
    let node = cluster.update_status(NODES, &ready).await?;
    // A ready node loses the taint for nodes that are not; the controllers that remove it may not run.
    match nodes::patch(&node) {
        Some(patch) => unless_gone(cluster.patch(NODES, &node, &patch).await),
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

/// Binds a pod to the node, if it uses the default scheduler.
async fn schedule(cluster: &Cluster, pod: &Value) -> Result<(), Fault> {
    let gated = pod["spec"]["schedulingGates"].as_array().is_some_and(|gates| !gates.is_empty());
    if gated || pod["spec"]["schedulerName"] != SCHEDULER || meta::is_terminating(pod) || is_over(pod) {
        return Ok(());
    }
    let Some(node) = cluster.get(NODES, NAME) else { return Ok(()) };
    let is_free = placement::is_tolerated(&pod["spec"], &node.value, placement::KEEPS_OFF)
        && (node.value["spec"]["unschedulable"] != true
            || placement::tolerates(&pod["spec"], &nodes::taint(nodes::UNSCHEDULABLE)));
    if !is_free || !placement::selects(&pod["spec"], &node.value) {
        return unschedulable(cluster, pod).await;
    }
    let binding = json!({"apiVersion": "v1", "kind": "Binding", "metadata": {"name": meta::name(pod)},
                         "target": {"apiVersion": "v1", "kind": "Node", "name": NAME}});
    unless_gone(cluster.post(PODS, pod, "binding", &binding).await)?;
    let place = format!("{}/{}", meta::namespace(pod), meta::name(pod));
    cluster.tell(SCHEDULER, pod, "Scheduled", &format!("Successfully assigned {place} to {NAME}")).await;
    Ok(())
}

async fn unschedulable(cluster: &Cluster, pod: &Value) -> Result<(), Fault> {
    let known = conditions(pod).iter().any(|c| c["type"] == "PodScheduled" && c["status"] == "False");
    if known {
        return Ok(());
    }
    let text = "0/1 nodes are available: it is unschedulable, has a taint that the pod does not tolerate, or lacks labels that \
                the pod selects.";
    let mut next = pod.clone();
    set_condition(&mut next, "PodScheduled", false, "Unschedulable", text, &cluster.time());
    unless_gone(cluster.update_status(PODS, &next).await)
}

fn conditions(pod: &Value) -> &[Value] {
    pod["status"]["conditions"].as_array().map_or(&[], Vec::as_slice)
}

fn set_condition(pod: &mut Value, kind: &str, value: bool, reason: &str, message: &str, time: &str) {
    let mut condition = json!({"type": kind, "status": if value { "True" } else { "False" },
                               "lastProbeTime": null, "lastTransitionTime": time});
    for (key, text) in [("reason", reason), ("message", message)] {
        if !text.is_empty() {
            condition[key] = text.into();
        }
    }
    let mut list: Vec<Value> = conditions(pod).iter().filter(|c| c["type"] != kind).cloned().collect();
    list.push(condition);
    pod["status"]["conditions"] = list.into();
}

/// Starts a pod's containers; a job's pod succeeds at once.
async fn run(cluster: &Cluster, pod: &Value) -> Result<(), Fault> {
    let ends = controller_of(pod).is_some_and(|owner| owner["kind"] == "Job");
    let mut next = pod.clone();
    match pod["status"]["phase"].as_str() {
        Some("Running") if ends => finished(&mut next, &cluster.time()),
        Some("Running") => {
            followed(&mut next, &cluster.time());
            if next != *pod {
                unless_gone(cluster.update_status(PODS, &next).await)?;
            }
            return Ok(());
        }
        _ => {
            let n = cluster.server().store.count("pod-addresses") % 0xfffe + 1;
            let address = format!("10.244.{}.{}", n >> 8, n & 0xff);
            started(&mut next, &address, &cluster.time());
        }
    }
    unless_gone(cluster.update_status(PODS, &next).await)?;
    if next["status"]["phase"] == "Running" {
        for container in pod["spec"]["containers"].as_array().into_iter().flatten() {
            let name = container["name"].as_str().unwrap_or_default();
            cluster.tell("kubelet", pod, "Created", &format!("Created container: {name}")).await;
            cluster.tell("kubelet", pod, "Started", &format!("Started container {name}")).await;
        }
    }
    Ok(())
}

fn started(pod: &mut Value, address: &str, time: &str) {
    let running = json!({"running": {"startedAt": time}});
    let done = json!({"terminated": {"exitCode": 0, "reason": "Completed", "startedAt": time, "finishedAt": time,
                                     "containerID": ""}});
    let beside = |container: &Value| container["restartPolicy"] == "Always";
    let states = |list: &str, state: &dyn Fn(&Value) -> Value| -> Value {
        let containers = pod["spec"][list].as_array().map_or(&[][..], Vec::as_slice);
        containers.iter().map(|container| container_status(container, &state(container))).collect()
    };
    let own = states("containers", &|_| running.clone());
    let init = states("initContainers", &|c| if beside(c) { running.clone() } else { done.clone() });
    let status = &mut pod["status"];
    status["phase"] = "Running".into();
    status["hostIP"] = ADDRESS.into();
    status["hostIPs"] = json!([{"ip": ADDRESS}]);
    status["podIP"] = address.into();
    status["podIPs"] = json!([{"ip": address}]);
    status["startTime"] = time.into();
    status["containerStatuses"] = own;
    if init.as_array().is_some_and(|list| !list.is_empty()) {
        status["initContainerStatuses"] = init;
    }
    for kind in ["PodReadyToStartContainers", "Initialized", "Ready", "ContainersReady"] {
        set_condition(pod, kind, true, "", "", time);
    }
    if !conditions(pod).iter().any(|c| c["type"] == "PodScheduled") {
        set_condition(pod, "PodScheduled", true, "", "", time);
    }
}

fn container_status(container: &Value, state: &Value) -> Value {
    let image = container["image"].as_str().unwrap_or_default();
    let runs = state["running"].is_object();
    let mut status = json!({"name": container["name"], "image": image, "imageID": image, "containerID": "",
           "ready": true, "started": runs, "restartCount": 0, "state": state, "lastState": {}});
    show_resources(container, &mut status);
    status
}

/// Shows a container's requested resources as allocated.
fn show_resources(container: &Value, status: &mut Value) {
    let resources = container["resources"].as_object().cloned().unwrap_or_default();
    match resources.get("requests") {
        Some(requests) => status["allocatedResources"] = requests.clone(),
        None => drop(meta::object_mut(status).remove("allocatedResources")),
    }
    status["resources"] = resources.into();
}

/// Updates the status after a resize or with new ephemeral containers.
fn followed(pod: &mut Value, time: &str) {
    let containers = |pod: &Value, list: &str| pod["spec"][list].as_array().cloned().unwrap_or_default();
    for (list, statuses) in [("containers", "containerStatuses"), ("initContainers", "initContainerStatuses")]
    {
        let containers = containers(pod, list);
        for status in pod["status"][statuses].as_array_mut().into_iter().flatten() {
            let running = status["state"]["running"].is_object();
            if let Some(container) = containers.iter().find(|c| running && c["name"] == status["name"]) {
                show_resources(container, status);
            }
        }
    }
    let statuses = "ephemeralContainerStatuses";
    let mut known = pod["status"][statuses].as_array().cloned().unwrap_or_default();
    for container in containers(pod, "ephemeralContainers") {
        if !known.iter().any(|status| status["name"] == container["name"]) {
            known.push(container_status(&container, &json!({"running": {"startedAt": time}})));
        }
    }
    if !known.is_empty() {
        pod["status"][statuses] = known.into();
    }
}

/// Ends all containers with success.
fn finished(pod: &mut Value, time: &str) {
    let done = json!({"exitCode": 0, "reason": "Completed"});
    terminated(pod, "Succeeded", &done, "PodCompleted", time);
}

/// Ends all containers: `how` is their exit code and reason.
fn terminated(pod: &mut Value, phase: &str, how: &Value, reason: &str, time: &str) {
    pod["status"]["phase"] = phase.into();
    for status in pod["status"]["containerStatuses"].as_array_mut().into_iter().flatten() {
        let since = status["state"]["running"]["startedAt"].clone();
        status["state"] = json!({"terminated": {"exitCode": how["exitCode"], "reason": how["reason"], "startedAt": since,
                                                "finishedAt": time, "containerID": ""}});
        status["ready"] = false.into();
        status["started"] = false.into();
    }
    for kind in ["Ready", "ContainersReady"] {
        set_condition(pod, kind, false, reason, "", time);
    }
}

/// Stops a terminating pod, and deletes it once its status is written: a kubelet's last update precedes the deletion.
async fn end(cluster: &Cluster, pod: &Value) -> Result<(), Fault> {
    if !is_over(pod) {
        for container in pod["spec"]["containers"].as_array().into_iter().flatten() {
            let name = container["name"].as_str().unwrap_or_default();
            cluster.tell("kubelet", pod, "Killing", &format!("Stopping container {name}")).await;
        }
        let mut next = pod.clone();
        let (killed, text) = (json!({"exitCode": 137, "reason": "Error"}), "PodFailed");
        terminated(&mut next, "Failed", &killed, text, &cluster.time());
        // The update queues the pod again.
        return unless_gone(cluster.update_status(PODS, &next).await);
    }
    if pod["metadata"]["deletionGracePeriodSeconds"] == 0 {
        return Ok(());
    }
    unless_gone(cluster.delete(PODS, pod, json!({"gracePeriodSeconds": 0})).await)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn started_pod_is_ready_and_pod_of_a_job_succeeds() {
        let mut pod = json!({"spec": {"containers": [{"name": "c", "image": "i"}],
            "initContainers": [{"name": "a"}, {"name": "b", "restartPolicy": "Always"}]}, "status": {}});
        started(&mut pod, "10.244.0.1", "2026-01-01T00:00:00Z");
        let status = &pod["status"];
        assert_eq!((&status["phase"], &status["podIP"]), (&json!("Running"), &json!("10.244.0.1")));
        assert!(status["initContainerStatuses"][0]["state"]["terminated"].is_object());
        assert!(status["initContainerStatuses"][1]["state"]["running"].is_object());
        assert!(super::super::pods::is_ready(&pod));
        pod["spec"]["containers"][0]["resources"] = json!({"requests": {"cpu": "2"}});
        pod["spec"]["ephemeralContainers"] = json!([{"name": "debug", "image": "d"}]);
        followed(&mut pod, "2026-01-01T00:00:01Z");
        assert_eq!(pod["status"]["containerStatuses"][0]["allocatedResources"], json!({"cpu": "2"}));
        let followed_once = pod.clone();
        followed(&mut pod, "2026-01-01T00:00:02Z");
        assert_eq!(pod, followed_once);
        assert_eq!(
            pod["status"]["ephemeralContainerStatuses"][0]["state"]["running"]["startedAt"],
            "2026-01-01T00:00:01Z"
        );
        finished(&mut pod, "2026-01-01T00:00:01Z");
        assert!(!super::super::pods::is_ready(&pod) && is_over(&pod));
    }
}
