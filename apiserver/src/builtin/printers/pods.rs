//! The table of pods.

use jiff::Timestamp;
use serde_json::Value;

use super::{AGE, BuiltInColumn, Cell, NAME, list, made, or_none, string, wide};
use crate::ages::since;

pub(super) const PODS: &[BuiltInColumn] = &[
    NAME,
    made("Ready", |pod, _| ready(pod).into()),
    made("Status", |pod, _| Summary::of(pod).reason.into()),
    made("Restarts", |pod, now| Summary::of(pod).restarts(now).into()),
    AGE,
    wide(made("IP", |pod, _| or_none(address(pod)))),
    wide(made("Node", |pod, _| or_none(string(&pod["spec"], "nodeName").to_owned()))),
    wide(made("Nominated Node", |pod, _| or_none(string(&pod["status"], "nominatedNodeName").to_owned()))),
    wide(super::text("Readiness Gates", Cell::Made(|pod, _| gates(pod)))),
];

/// The summary of the states of a pod's containers.
struct Summary<'a> {
    reason: String,
    restarts: i64,
    last_restart: Option<&'a str>,
}

fn ready(pod: &Value) -> String {
    let sidecars = list(&pod["spec"]["initContainers"]).iter().filter(|c| is_sidecar(c)).count();
    let all = list(&pod["spec"]["containers"]).len() + sidecars;
    let runs = |status: &&Value| status["ready"] == true && status["state"]["running"].is_object();
    let own = list(&pod["status"]["containerStatuses"]).iter().filter(runs).count();
    let beside = list(&pod["status"]["initContainerStatuses"])
        .iter()
        .filter(|status| status["started"] == true && status["ready"] == true)
        .filter(|status| container(pod, "initContainers", string(status, "name")).is_some_and(is_sidecar))
        .count();
    format!("{}/{all}", own + beside)
}

fn container<'a>(pod: &'a Value, field: &str, name: &str) -> Option<&'a Value> {
    list(&pod["spec"][field]).iter().find(|c| c["name"] == name)
}

/// Reports whether an init container keeps running beside the others.
fn is_sidecar(container: &Value) -> bool {
    container["restartPolicy"] == "Always"
}

impl<'a> Summary<'a> {
    fn of(pod: &'a Value) -> Self {
        let status = &pod["status"];
        let mut reason = string(status, "phase").to_owned();
        if !string(status, "reason").is_empty() {
            string(status, "reason").clone_into(&mut reason);
        }
        let gated = list(&status["conditions"])
            .iter()
            .any(|c| c["type"] == "PodScheduled" && c["reason"] == "SchedulingGated");
        if gated {
            "SchedulingGated".clone_into(&mut reason);
        }
        let all = list(&status["initContainerStatuses"]).iter().chain(list(&status["containerStatuses"]));
        let mut summary = Self {
            reason,
            restarts: all.clone().filter_map(|s| s["restartCount"].as_i64()).sum(),
            last_restart: all.filter_map(|s| s["lastState"]["terminated"]["finishedAt"].as_str()).max(),
        };
        match initializing(pod) {
            Some(reason) => summary.reason = reason,
            None => summary.read_containers(status),
        }
        let over = matches!(status["phase"].as_str(), Some("Failed" | "Succeeded"));
        if crate::meta::is_terminating(pod) {
            if status["reason"] == "NodeLost" {
                "Unknown".clone_into(&mut summary.reason);
            } else if !over {
                "Terminating".clone_into(&mut summary.reason);
            }
        }
        summary
    }

    fn read_containers(&mut self, status: &Value) {
        let mut runs = false;
        for container in list(&status["containerStatuses"]).iter().rev() {
            let state = &container["state"];
            if !string(&state["waiting"], "reason").is_empty() {
                string(&state["waiting"], "reason").clone_into(&mut self.reason);
            } else if state["terminated"].is_object() {
                self.reason = ended(&state["terminated"]);
            } else {
                runs |= container["ready"] == true && state["running"].is_object();
            }
        }
        if self.reason == "Completed" && runs {
            let ready =
                list(&status["conditions"]).iter().any(|c| c["type"] == "Ready" && c["status"] == "True");
            self.reason = if ready { "Running" } else { "NotReady" }.to_owned();
        }
    }

    fn restarts(&self, now: Timestamp) -> String {
        match self.last_restart.filter(|_| self.restarts > 0) {
            Some(last) => format!("{} ({} ago)", self.restarts, since(Some(last), now)),
            None => self.restarts.to_string(),
        }
    }
}

/// Returns the reason why a container ended.
fn ended(terminated: &Value) -> String {
    match (string(terminated, "reason"), terminated["signal"].as_i64().unwrap_or(0)) {
        ("", 0) => format!("ExitCode:{}", terminated["exitCode"].as_i64().unwrap_or(0)),
        ("", signal) => format!("Signal:{signal}"),
        (reason, _) => reason.to_owned(),
    }
}

/// Returns the state of the first unfinished init container; `None` if all are done.
fn initializing(pod: &Value) -> Option<String> {
    let statuses = list(&pod["status"]["initContainerStatuses"]);
    for (i, status) in statuses.iter().enumerate() {
        let state = &status["state"];
        let sidecar = container(pod, "initContainers", string(status, "name")).is_some_and(is_sidecar);
        if state["terminated"]["exitCode"] == 0 || (sidecar && status["started"] == true) {
            continue;
        }
        if state["terminated"].is_object() {
            return Some(format!("Init:{}", ended(&state["terminated"])));
        }
        let waiting = string(&state["waiting"], "reason");
        if !waiting.is_empty() && waiting != "PodInitializing" {
            return Some(format!("Init:{waiting}"));
        }
        return Some(format!("Init:{i}/{}", list(&pod["spec"]["initContainers"]).len()));
    }
    None
}

fn address(pod: &Value) -> String {
    let first = list(&pod["status"]["podIPs"]).first().map(|ip| string(ip, "ip"));
    first.unwrap_or_else(|| string(&pod["status"], "podIP")).to_owned()
}

/// Counts the open readiness gates of a pod.
fn gates(pod: &Value) -> Value {
    let gates = list(&pod["spec"]["readinessGates"]);
    let open = gates.iter().filter(|gate| {
        let of = |c: &&Value| c["type"] == gate["conditionType"] && c["status"] == "True";
        list(&pod["status"]["conditions"]).iter().any(|c| of(&c))
    });
    if gates.is_empty() { "<none>".into() } else { format!("{}/{}", open.count(), gates.len()).into() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[track_caller]
    fn check(pod: &Value, expected: [&str; 3]) {
        let now: Timestamp = "2026-01-01T00:10:00Z".parse().unwrap();
        let row: Vec<Value> = PODS[1..4].iter().map(|column| column.cell(pod, now)).collect();
        assert_eq!(row, expected);
    }

    #[test]
    fn pod_status_follows_its_containers() {
        let spec = json!({"containers": [{"name": "a"}, {"name": "b"}]});
        check(&json!({"spec": spec, "status": {"phase": "Pending"}}), ["0/2", "Pending", "0"]);
        let running = json!({"name": "a", "ready": true, "state": {"running": {}}});
        let waiting = json!({"name": "b", "restartCount": 3, "state": {"waiting": {"reason": "CrashLoopBackOff"}},
                             "lastState": {"terminated": {"finishedAt": "2026-01-01T00:05:00Z"}}});
        let both = json!({"phase": "Running", "containerStatuses": [running, waiting]});
        check(&json!({"spec": spec, "status": both}), ["1/2", "CrashLoopBackOff", "3 (5m ago)"]);
        let done = json!({"name": "b", "state": {"terminated": {"exitCode": 0, "reason": "Completed"}}});
        let ready = json!([{"type": "Ready", "status": "True"}]);
        let half = json!({"phase": "Running", "containerStatuses": [running, done], "conditions": ready});
        check(&json!({"spec": spec, "status": half}), ["1/2", "Running", "0"]);
        let failed =
            json!({"phase": "Failed", "containerStatuses": [{"state": {"terminated": {"exitCode": 3}}}]});
        check(&json!({"spec": spec, "status": failed}), ["0/2", "ExitCode:3", "0"]);
        let leaving = json!({"deletionTimestamp": "2026-01-01T00:00:00Z"});
        check(
            &json!({"metadata": leaving, "spec": spec, "status": {"phase": "Running"}}),
            ["0/2", "Terminating", "0"],
        );
    }

    #[test]
    fn pod_status_shows_init_containers_first() {
        let spec = json!({"containers": [{"name": "a"}], "initContainers": [{"name": "i"}, {"name": "s", "restartPolicy": "Always"}]});
        let status = |list: Value| json!({"spec": spec, "status": {"phase": "Pending", "initContainerStatuses": list}});
        check(&status(json!([{"name": "i", "state": {"running": {}}}])), ["0/2", "Init:0/2", "0"]);
        check(
            &status(json!([{"name": "i", "state": {"terminated": {"exitCode": 1, "reason": "Error"}}}])),
            ["0/2", "Init:Error", "0"],
        );
        check(
            &status(json!([{"name": "i", "state": {"terminated": {"exitCode": 0}}},
                           {"name": "s", "started": true, "ready": true, "state": {"running": {}}}])),
            ["1/2", "Pending", "0"],
        );
    }
}
