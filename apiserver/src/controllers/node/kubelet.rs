//! The kubelet: starts the pods of the node, ends them, and shows it in their status.

use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

use super::super::Outcome;
use super::super::cluster::{Cluster, EVENTS, Fault, PODS, unless_gone};
use super::super::owners::controller_of;
use super::super::pods::is_over;
use super::super::switches::{FAILED_PULL, PULL_BACK_OFF, exits};
use super::references::{self, Faults};
use super::restarts::{follow, tell_back_off};
use super::start::{MISCONFIGURED, begin, container_status, set_ready, show_resources};
use super::{ADDRESS, admission, condition, observe, set_condition};
use crate::meta::{self, member};

/// The reporter of events.
pub(super) const KUBELET: &str = "kubelet";

/// Starts a pod's containers as far as possible; a job's pod succeeds at once. Returns the time until the pod's deadline.
pub(super) async fn run(cluster: &Cluster, pod: &Value) -> Outcome {
    let (now, time) = (cluster.now(), cluster.time());
    if until_deadline(pod, now).is_some_and(|left| left.is_zero()) {
        expire(cluster, pod, &time).await?;
        return Ok(None);
    }
    if pod["status"]["startTime"].is_null()
        && let Some(rejection) = admission::rejection(cluster, pod)
    {
        let pause = admission::pause(cluster, pod, &rejection);
        if pause.is_none() {
            admission::reject(cluster, pod, &rejection).await?;
        }
        return Ok(pause);
    }
    let ends = controller_of(pod).is_some_and(|owner| owner["kind"] == "Job");
    let mut next = pod.clone();
    let mut faults = Faults::default();
    match pod["status"]["phase"].as_str() {
        Some("Running") if ends && !exits(pod) => finished(&mut next, &time),
        Some("Running") => followed(&mut next, &time),
        _ => {
            faults = references::faults(cluster, pod);
            begin(&mut next, &faults, || address(cluster, pod), &time);
        }
    }
    let left = run_containers(&mut next, pod["status"]["phase"] != "Running", &time);
    observe(&mut next);
    if next != *pod {
        unless_gone(cluster.update_status(PODS, &next).await)?;
        tell_started(cluster, pod, &next).await;
        tell_back_off(cluster, pod, &next).await;
    }
    tell_faults(cluster, &next, &faults).await;
    Ok(until_deadline(&next, now).into_iter().chain(left).chain(faults.pull).min())
}

/// Lets the containers of a running pod exit and restart. Returns the time until the next change.
fn run_containers(pod: &mut Value, is_new: bool, time: &str) -> Option<Duration> {
    if pod["status"]["phase"] != "Running" {
        return None;
    }
    let (left, over) = follow(pod, is_new, time);
    if let Some(phase) = over {
        let reason = if phase == "Succeeded" { "PodCompleted" } else { "PodFailed" };
        // What still runs are sidecars.
        terminated(pod, phase, &json!({"exitCode": 0, "reason": "Completed"}), reason, time);
    }
    left
}

/// Posts again that a pod is ready, after its node was away (`syncBatch` of pkg/kubelet/status).
pub(super) async fn post(cluster: &Cluster, pod: &Value) -> Result<(), Fault> {
    let mut next = pod.clone();
    set_ready(&mut next, &cluster.time());
    observe(&mut next);
    match next == *pod {
        true => Ok(()),
        false => unless_gone(cluster.update_status(PODS, &next).await),
    }
}

fn address(cluster: &Cluster, pod: &Value) -> String {
    if pod["spec"]["hostNetwork"] == true {
        return ADDRESS.to_owned();
    }
    let n = cluster.server().store.count("pod-addresses") % 0xfffe + 1;
    format!("10.244.{}.{}", n >> 8, n & 0xff)
}

/// Returns the time until a pod has been active for too long (`pastActiveDeadline` of pkg/kubelet/active_deadline.go).
fn until_deadline(pod: &Value, now: Timestamp) -> Option<Duration> {
    let allowed = SignedDuration::from_secs(pod["spec"]["activeDeadlineSeconds"].as_i64()?);
    let start: Timestamp = pod["status"]["startTime"].as_str()?.parse().ok()?;
    let left = allowed.saturating_sub(now.duration_since(start));
    Some(Duration::try_from(left).unwrap_or_default())
}

/// Fails a pod that has been active for too long.
async fn expire(cluster: &Cluster, pod: &Value, time: &str) -> Result<(), Fault> {
    let (reason, message) =
        ("DeadlineExceeded", "Pod was active on the node longer than the specified deadline");
    let mut next = pod.clone();
    killed(&mut next, time);
    next["status"]["reason"] = reason.into();
    next["status"]["message"] = message.into();
    observe(&mut next);
    unless_gone(cluster.update_status(PODS, &next).await)?;
    cluster.tell(KUBELET, pod, reason, message).await;
    tell_killed(cluster, pod).await;
    Ok(())
}

/// Reports whether a container runs, in the status of its pod.
fn runs(pod: &Value, name: &Value) -> bool {
    let mut statuses = pod["status"]["containerStatuses"].as_array().into_iter().flatten();
    statuses.any(|status| status["name"] == *name && status["state"]["running"].is_object())
}

async fn tell_started(cluster: &Cluster, before: &Value, after: &Value) {
    for container in before["spec"]["containers"].as_array().into_iter().flatten() {
        let name = &container["name"];
        if runs(after, name) && !runs(before, name) {
            cluster.tell(KUBELET, before, "Created", "Container created").await;
            cluster.tell(KUBELET, before, "Started", "Container started").await;
        }
    }
}

async fn tell_killed(cluster: &Cluster, pod: &Value) {
    for container in pod["spec"]["containers"].as_array().into_iter().flatten() {
        if runs(pod, &container["name"]) {
            let text = format!("Stopping container {}", member(container, "name"));
            cluster.tell(KUBELET, pod, "Killing", &text).await;
        }
    }
}

/// Records what keeps a pod from starting, once.
async fn tell_faults(cluster: &Cluster, pod: &Value, faults: &Faults) {
    let of_volumes = faults.volumes.iter().map(|message| ("FailedMount", message.clone()));
    let statuses = |list: &str| pod["status"][list].as_array().into_iter().flatten();
    let waiting = statuses("initContainerStatuses").chain(statuses("containerStatuses"));
    let of_containers = waiting.filter_map(|status| {
        let waiting = &status["state"]["waiting"];
        let text = match waiting["reason"].as_str()? {
            MISCONFIGURED => format!("Error: {}", member(waiting, "message")),
            FAILED_PULL => {
                format!("Failed to pull image {:?}: {}", member(status, "image"), member(waiting, "message"))
            }
            PULL_BACK_OFF => format!("Error: {PULL_BACK_OFF}"),
            _ => return None,
        };
        Some(("Failed", text))
    });
    let of_devices = faults.devices.iter().map(|message| ("FailedPrepareDynamicResources", message.clone()));
    for (reason, message) in of_volumes.chain(of_devices).chain(of_containers) {
        let is_known = |event: &Value| {
            event["involvedObject"]["uid"] == meta::text(pod, "uid") && event["message"] == message
        };
        if cluster.list_where(EVENTS, meta::namespace(pod), is_known).is_empty() {
            cluster.warn(KUBELET, pod, reason, &message).await;
        }
    }
}

/// Updates the status after a resize, with new ephemeral containers, or when a readiness gate changed.
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
    if !containers(pod, "readinessGates").is_empty() {
        set_ready(pod, time);
    }
}

/// Ends all containers with success.
fn finished(pod: &mut Value, time: &str) {
    let done = json!({"exitCode": 0, "reason": "Completed"});
    terminated(pod, "Succeeded", &done, "PodCompleted", time);
}

/// Ends all containers by force.
fn killed(pod: &mut Value, time: &str) {
    let killed = json!({"exitCode": 137, "reason": "Error"});
    terminated(pod, "Failed", &killed, "PodFailed", time);
}

/// Ends all containers: `how` is their exit code and reason.
fn terminated(pod: &mut Value, phase: &str, how: &Value, reason: &str, time: &str) {
    let is_initialized = condition(pod, "Initialized").is_some_and(|condition| condition["status"] == "True");
    let status = &mut pod["status"];
    status["phase"] = phase.into();
    for list in ["containerStatuses", "initContainerStatuses"] {
        for (i, status) in status[list].as_array_mut().into_iter().flatten().enumerate() {
            let is_expected = if list == "containerStatuses" { is_initialized } else { i == 0 };
            terminate(status, how, is_expected, time);
        }
    }
    if phase == "Succeeded" {
        set_condition(pod, "Initialized", true, reason, "", time);
    }
    set_condition(pod, "PodReadyToStartContainers", false, "", "", time);
    for kind in ["Ready", "ContainersReady"] {
        set_condition(pod, kind, false, reason, "", time);
    }
}

/// Ends a container. One that waits is lost if it was expected to have started (`TerminatePod` of
/// pkg/kubelet/status/status_manager.go).
fn terminate(status: &mut Value, how: &Value, is_expected: bool, time: &str) {
    let state = &status["state"];
    if state["terminated"].is_object() {
        return;
    }
    if state["waiting"].is_object() {
        if is_expected {
            let text = "The container could not be located when the pod was terminated";
            status["state"] = json!({"terminated": {"exitCode": 137, "reason": "ContainerStatusUnknown", "message": text,
                                                    "startedAt": null, "finishedAt": null}});
        }
        return;
    }
    let since = state["running"]["startedAt"].clone();
    status["state"] = json!({"terminated": {"exitCode": how["exitCode"], "reason": how["reason"], "startedAt": since,
                                            "finishedAt": time, "containerID": ""}});
    status["ready"] = false.into();
    status["started"] = false.into();
}

/// Stops a terminating pod, and deletes it once its status is written: a kubelet's last update precedes the deletion.
pub(super) async fn end(cluster: &Cluster, pod: &Value) -> Result<(), Fault> {
    if !is_over(pod) {
        tell_killed(cluster, pod).await;
        let mut next = pod.clone();
        killed(&mut next, &cluster.time());
        observe(&mut next);
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
    use crate::controllers::pods::is_ready;

    #[test]
    fn status_follows_the_spec_of_a_running_pod() {
        let mut pod = json!({"spec": {"containers": [{"name": "c", "image": "i"}]}, "status": {}});
        begin(&mut pod, &Faults::default(), String::new, "2026-01-01T00:00:00Z");
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
        assert!(!is_ready(&pod) && is_over(&pod));
    }

    #[test]
    fn all_containers_end_with_their_pod() {
        const TIME: &str = "2026-01-01T00:00:00Z";
        let sidecar = json!([{"name": "i"}, {"name": "s", "restartPolicy": "Always"}]);
        let pod = json!({"spec": {"containers": [{"name": "c"}], "initContainers": sidecar}, "status": {}});
        let of = |pod: &Value, list: &str, i: usize| pod["status"][list][i]["state"].clone();
        let mut ended = pod.clone();
        begin(&mut ended, &Faults::default(), String::new, TIME);
        finished(&mut ended, TIME);
        for i in [0, 1] {
            let state = of(&ended, "initContainerStatuses", i);
            assert_eq!(state["terminated"]["reason"], "Completed", "{i}");
        }
        let shown = |pod: &Value, kind: &str| {
            let condition = condition(pod, kind).unwrap();
            (condition["status"].clone(), condition["reason"].clone())
        };
        assert_eq!(shown(&ended, "Initialized"), (json!("True"), json!("PodCompleted")));
        assert_eq!(shown(&ended, "PodReadyToStartContainers"), (json!("False"), Value::Null));

        // The first init container was expected to start, the others were not.
        let mut lost = pod;
        begin(&mut lost, &Faults { volumes: vec!["v".to_owned()], ..Faults::default() }, String::new, TIME);
        killed(&mut lost, TIME);
        let first = of(&lost, "initContainerStatuses", 0);
        assert_eq!(first["terminated"]["reason"], "ContainerStatusUnknown");
        assert!(of(&lost, "initContainerStatuses", 1)["waiting"].is_object());
        assert!(of(&lost, "containerStatuses", 0)["waiting"].is_object());
    }

    #[test]
    fn deadline_counts_from_the_start() {
        let now = "2026-01-01T00:00:10Z".parse().unwrap();
        let pod = |seconds: i64| json!({"spec": {"activeDeadlineSeconds": seconds}, "status": {"startTime": "2026-01-01T00:00:00Z"}});
        assert_eq!(until_deadline(&pod(12), now), Some(Duration::from_secs(2)));
        assert_eq!(until_deadline(&pod(10), now), Some(Duration::ZERO));
        assert_eq!(until_deadline(&pod(1), now), Some(Duration::ZERO));
        assert_eq!(until_deadline(&json!({"spec": {"activeDeadlineSeconds": 1}}), now), None);
    }
}
