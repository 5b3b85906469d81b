//! Containers of a running pod that exit and start again, and their probes.
//!
//! Source: `doBackOff` of pkg/kubelet/kuberuntime/kuberuntime_manager.go, `getPhase` of pkg/kubelet/kubelet_pods.go,
//! `doProbe` of pkg/kubelet/prober/worker.go.

use std::time::Duration;

use jiff::Timestamp;
use serde_json::{Value, json};

use super::super::cluster::Cluster;
use super::super::switches::{exit_code, readiness, until};
use super::kubelet::KUBELET;
use super::start::set_started;
use crate::meta::{self, member};

/// `MaxContainerBackOff` and the initial back-off of pkg/kubelet/kubelet.go, in seconds.
const MOST: i64 = 300;
const FIRST: i64 = 10;
const BACK_OFF: &str = "CrashLoopBackOff";

/// Lets containers exit unless they have started only now, restarts those that are due, and probes them. Returns the time until the next restart or probe,
/// and the phase of a pod whose containers have all ended for good.
pub(super) fn follow(pod: &mut Value, is_new: bool, time: &str) -> (Option<Duration>, Option<&'static str>) {
    let Ok(now) = time.parse() else { return (None, None) };
    let whole = pod.clone();
    let mut next: Option<Duration> = None;
    let mut changed = false;
    let containers: Vec<Value> = whole["spec"]["containers"].as_array().cloned().unwrap_or_default();
    for status in pod["status"]["containerStatuses"].as_array_mut().into_iter().flatten() {
        let Some(container) = containers.iter().find(|container| container["name"] == status["name"]) else {
            continue;
        };
        let before = status.clone();
        let left = step(&whole, container, status, (now, is_new), time);
        changed |= *status != before;
        next = next.into_iter().chain(left).min();
    }
    if changed {
        set_started(pod, time);
    }
    (next, over(pod))
}

/// Takes the next step of a container. Returns the time until the one after it.
fn step(
    pod: &Value,
    container: &Value,
    status: &mut Value,
    (now, is_new): (Timestamp, bool),
    time: &str,
) -> Option<Duration> {
    if status["state"]["running"].is_object() {
        if let Some(code) = exit_code(pod, container).filter(|_| !is_new) {
            exit(status, code, time);
            return None;
        }
        return probe(pod, container, status, now);
    }
    let ended = match &status["state"] {
        state if state["terminated"].is_object() => state["terminated"].clone(),
        state if state["waiting"]["reason"] == BACK_OFF => status["lastState"]["terminated"].clone(),
        _ => return None,
    };
    if !restarts(pod, &ended) {
        return None;
    }
    // An end without a time is not this kubelet's.
    let end = finished(&ended)?;
    let restarted = status["restartCount"].as_i64().unwrap_or(0);
    let seconds = back_off(restarted, &ended);
    let left = until(end, seconds, now);
    status["lastState"] = json!({"terminated": ended});
    if !left.is_zero() {
        // Go's notation of durations.
        let time =
            if seconds < 60 { format!("{seconds}s") } else { format!("{}m{}s", seconds / 60, seconds % 60) };
        let (name, pod) = (member(container, "name"), full_name(pod));
        let message = format!("back-off {time} restarting failed container={name} pod={pod}");
        status["state"] = json!({"waiting": {"reason": BACK_OFF, "message": message}});
        return Some(left);
    }
    status["restartCount"] = restarted.saturating_add(1).into();
    status["state"] = json!({"running": {"startedAt": time}});
    status["ready"] = true.into();
    status["started"] = true.into();
    probe(pod, container, status, now)
}

/// `format.Pod` of pkg/kubelet/util/format.
fn full_name(pod: &Value) -> String {
    format!("{}_{}({})", meta::name(pod), meta::namespace(pod), meta::text(pod, "uid"))
}

fn exit(status: &mut Value, code: i64, time: &str) {
    let reason = if code == 0 { "Completed" } else { "Error" };
    let since = status["state"]["running"]["startedAt"].clone();
    status["state"] = json!({"terminated": {"exitCode": code, "reason": reason, "startedAt": since, "finishedAt": time,
                                            "containerID": ""}});
    status["ready"] = false.into();
    status["started"] = false.into();
}

fn finished(ended: &Value) -> Option<Timestamp> {
    ended["finishedAt"].as_str()?.parse().ok()
}

/// `ShouldContainerBeRestarted` of pkg/kubelet/container/helpers.go.
fn restarts(pod: &Value, ended: &Value) -> bool {
    match pod["spec"]["restartPolicy"].as_str() {
        Some("Never") => false,
        Some("OnFailure") => ended["exitCode"] != 0,
        _ => true,
    }
}

/// Returns the seconds between an exit and the restart: none the first time and after a run that was twice as long as the
/// longest back-off.
fn back_off(restarts: i64, ended: &Value) -> i64 {
    let start: Option<Timestamp> = ended["startedAt"].as_str().and_then(|time| time.parse().ok());
    let ran = start.zip(finished(ended)).map(|(start, end)| end.as_second() - start.as_second());
    if restarts == 0 || ran.is_some_and(|ran| ran > 2 * MOST) {
        return 0;
    }
    let doubled = u32::try_from(restarts - 1).ok().and_then(|times| FIRST.checked_shl(times.min(8)));
    doubled.unwrap_or(MOST).min(MOST)
}

/// Sets whether a running container has started and is ready. One without probes and switch keeps what it shows.
fn probe(pod: &Value, container: &Value, status: &mut Value, now: Timestamp) -> Option<Duration> {
    let (startup, ready) = (&container["startupProbe"], &container["readinessProbe"]);
    let switch = readiness(pod, container);
    if startup.is_null() && ready.is_null() && switch.is_none() {
        return None;
    }
    let start: Timestamp = status["state"]["running"]["startedAt"].as_str()?.parse().ok()?;
    let number = |probe: &Value, key: &str, otherwise: i64| probe[key].as_i64().unwrap_or(otherwise);
    let delay = |probe: &Value| number(probe, "initialDelaySeconds", 0);
    let repeats = (number(ready, "successThreshold", 1) - 1) * number(ready, "periodSeconds", 10);
    let until_started = until(start, delay(startup), now);
    let until_ready = until(start, delay(startup).max(delay(ready)) + repeats, now);
    status["started"] = until_started.is_zero().into();
    status["ready"] = (until_ready.is_zero() && switch != Some(false)).into();
    [until_started, until_ready].into_iter().filter(|left| !left.is_zero()).min()
}

/// Returns the phase of a pod whose containers have all ended for good.
fn over(pod: &Value) -> Option<&'static str> {
    let statuses = pod["status"]["containerStatuses"].as_array().filter(|all| !all.is_empty())?;
    let ended: Vec<&Value> = statuses.iter().map(|status| &status["state"]["terminated"]).collect();
    if ended.iter().any(|ended| ended.is_null() || restarts(pod, ended)) {
        return None;
    }
    let is_well = ended.iter().all(|ended| ended["exitCode"] == 0);
    Some(if is_well { "Succeeded" } else { "Failed" })
}

/// Records that containers wait for their restart.
pub(super) async fn tell_back_off(cluster: &Cluster, before: &Value, after: &Value) {
    let waits = |pod: &Value, i: usize| {
        pod["status"]["containerStatuses"][i]["state"]["waiting"]["reason"] == BACK_OFF
    };
    for (i, container) in after["spec"]["containers"].as_array().into_iter().flatten().enumerate() {
        if waits(after, i) && !waits(before, i) {
            let (name, pod) = (member(container, "name"), full_name(after));
            let text = format!("Back-off restarting failed container {name} in pod {pod}");
            cluster.warn(KUBELET, after, "BackOff", &text).await;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: i64) -> String {
        Timestamp::from_second(1_767_225_600 + seconds).unwrap().to_string()
    }

    fn pod(spec: Value, annotations: Value) -> Value {
        let mut container = json!({"name": "c"});
        crate::meta::object_mut(&mut container).extend(spec.as_object().cloned().unwrap_or_default());
        json!({"metadata": {"name": "p", "namespace": "n", "uid": "u", "annotations": annotations},
               "spec": {"restartPolicy": "Always", "containers": [container]},
               "status": {"phase": "Running", "containerStatuses": [{"name": "c", "ready": true, "started": true, "restartCount": 0,
                   "state": {"running": {"startedAt": at(0)}}, "lastState": {}}]}})
    }

    /// Follows a pod at a time; returns the time left.
    fn followed(pod: &mut Value, seconds: i64) -> Option<u64> {
        follow(pod, false, &at(seconds)).0.map(|left| left.as_secs())
    }

    fn of(pod: &Value) -> &Value {
        &pod["status"]["containerStatuses"][0]
    }

    #[test]
    fn container_that_exits_restarts_with_back_off() {
        let mut pod = pod(json!({}), json!({"exit.kubesmith.dev/c": "3"}));
        assert_eq!(followed(&mut pod, 1), None);
        assert_eq!(of(&pod)["state"]["terminated"]["exitCode"], 3);
        assert_eq!(pod["status"]["conditions"].as_array().map(Vec::len), Some(3));
        // The first restart is immediate.
        assert_eq!(followed(&mut pod, 1), None);
        assert_eq!((&of(&pod)["restartCount"], of(&pod)["state"]["running"].is_object()), (&json!(1), true));
        assert_eq!(followed(&mut pod, 2), None);
        assert_eq!(followed(&mut pod, 2), Some(10));
        let waiting = &of(&pod)["state"]["waiting"];
        let message = "back-off 10s restarting failed container=c pod=p_n(u)";
        assert_eq!((&waiting["reason"], &waiting["message"]), (&json!(BACK_OFF), &json!(message)));
        assert_eq!(of(&pod)["lastState"]["terminated"]["exitCode"], 3);
        assert_eq!(followed(&mut pod, 5), Some(7));
        pod["metadata"]["annotations"] = json!({});
        assert_eq!(followed(&mut pod, 12), None);
        assert_eq!((&of(&pod)["restartCount"], &of(&pod)["ready"]), (&json!(2), &json!(true)));
        let ended = |from: i64, to: i64| json!({"startedAt": at(from), "finishedAt": at(to)});
        assert_eq!([2, 5, 6, 90].map(|restarts| back_off(restarts, &ended(0, 1))), [20, 160, 300, 300]);
        assert_eq!(back_off(5, &ended(0, 601)), 0);
    }

    #[test]
    fn restart_policy_decides_about_the_end() {
        for (policy, code, phase) in [
            ("Never", "1", Some("Failed")),
            ("Never", "0", Some("Succeeded")),
            ("OnFailure", "0", Some("Succeeded")),
            ("OnFailure", "1", None),
            ("Always", "0", None),
        ] {
            let mut pod = pod(json!({}), json!({"exit.kubesmith.dev/c": code}));
            pod["spec"]["restartPolicy"] = json!(policy);
            assert_eq!(follow(&mut pod, false, &at(1)).1, phase, "{policy} {code}");
        }
    }

    #[test]
    fn container_is_ready_after_its_probes() {
        let probes = json!({"startupProbe": {"initialDelaySeconds": 5},
                            "readinessProbe": {"initialDelaySeconds": 20, "periodSeconds": 4, "successThreshold": 2}});
        let mut pod = pod(probes, json!({}));
        let shown = |pod: &Value| [&of(pod)["started"], &of(pod)["ready"]].map(|value| value == true);
        assert_eq!((followed(&mut pod, 0), shown(&pod)), (Some(5), [false, false]));
        assert_eq!((followed(&mut pod, 5), shown(&pod)), (Some(19), [true, false]));
        assert_eq!((followed(&mut pod, 24), shown(&pod)), (None, [true, true]));
        pod["metadata"]["annotations"] = json!({"ready.kubesmith.dev/c": "false"});
        assert_eq!((followed(&mut pod, 30), shown(&pod)), (None, [true, false]));
    }
}
