//! The start of a pod's containers, and the conditions that follow from it.
//!
//! Source: `pkg/kubelet/kubelet_pods.go` and `pkg/kubelet/status/generate.go`.

use serde_json::{Value, json};

use super::references::Faults;
use super::{ADDRESS, condition, set_condition};
use crate::meta;

/// Starts what can start: without its volumes nothing, without its environment not this container and, if it is an init
/// container, none after it.
pub(super) fn begin(pod: &mut Value, faults: &Faults, address: impl FnOnce() -> String, time: &str) {
    let is_mounted = !faults.hold_all();
    let (init, initialized) = init_statuses(pod, faults, time);
    let own = statuses(pod, "containers", |container| match faults.of(container) {
        _ if !initialized => not_yet(pod),
        Some(waiting) => waiting,
        None => json!({"running": {"startedAt": time}}),
    });
    let waits = own.iter().any(|status| status["state"]["waiting"].is_object());
    let has_init = !init.is_empty();
    let status = &mut pod["status"];
    status["phase"] = if waits { "Pending" } else { "Running" }.into();
    status["hostIP"] = ADDRESS.into();
    status["hostIPs"] = json!([{"ip": ADDRESS}]);
    if is_mounted && status["podIP"].is_null() {
        let address = address();
        status["podIPs"] = json!([{"ip": address}]);
        status["podIP"] = address.into();
    }
    if status["startTime"].is_null() {
        status["startTime"] = time.into();
    }
    status["containerStatuses"] = own.into();
    if has_init {
        status["initContainerStatuses"] = init.into();
    }
    set_condition(pod, "PodReadyToStartContainers", is_mounted, "", "", time);
    set_started(pod, time);
    if condition(pod, "PodScheduled").is_none() {
        set_condition(pod, "PodScheduled", true, "", "", time);
    }
}

/// Returns the statuses of the init containers, and whether all of them have done their part.
fn init_statuses(pod: &Value, faults: &Faults, time: &str) -> (Vec<Value>, bool) {
    let done = json!({"terminated": {"exitCode": 0, "reason": "Completed", "startedAt": time, "finishedAt": time,
                                     "containerID": ""}});
    let mut held = faults.hold_all();
    let statuses = statuses(pod, "initContainers", |container| {
        if held {
            return not_yet(pod);
        }
        match faults.of(container) {
            Some(waiting) => {
                held = true;
                waiting
            }
            None if container["restartPolicy"] == "Always" => json!({"running": {"startedAt": time}}),
            None => done.clone(),
        }
    });
    (statuses, !held)
}

/// Returns the statuses of a list of containers; one that has started keeps its state.
fn statuses(pod: &Value, list: &str, mut state: impl FnMut(&Value) -> Value) -> Vec<Value> {
    let shown = if list == "containers" { "containerStatuses" } else { "initContainerStatuses" };
    let known = pod["status"][shown].as_array().map_or(&[][..], Vec::as_slice);
    let containers = pod["spec"][list].as_array().into_iter().flatten();
    let status = |container: &Value| {
        let next = state(container);
        let old = known.iter().find(|status| status["name"] == container["name"]);
        let old = old.map(|status| &status["state"]).filter(|state| state.is_object());
        match old.filter(|state| state["waiting"].is_null()) {
            Some(old) => container_status(container, old),
            None => container_status(container, &next),
        }
    };
    containers.map(status).collect()
}

/// The state of a container that waits for volumes or for init containers.
fn not_yet(pod: &Value) -> Value {
    let has_init = pod["spec"]["initContainers"].as_array().is_some_and(|list| !list.is_empty());
    json!({"waiting": {"reason": if has_init { "PodInitializing" } else { "ContainerCreating" }}})
}

/// The reason of a container that waits for its environment.
pub(super) const MISCONFIGURED: &str = "CreateContainerConfigError";

pub(super) fn misconfigured(message: &str) -> Value {
    json!({"waiting": {"reason": MISCONFIGURED, "message": message}})
}

pub(super) fn container_status(container: &Value, state: &Value) -> Value {
    let image = container["image"].as_str().unwrap_or_default();
    let (runs, waits) = (state["running"].is_object(), state["waiting"].is_object());
    let mut status = json!({"name": container["name"], "image": image, "imageID": if waits { "" } else { image },
           "containerID": "", "ready": !waits, "started": runs, "restartCount": 0, "state": state, "lastState": {}});
    show_resources(container, &mut status);
    status
}

/// Shows a container's requested resources as allocated.
pub(super) fn show_resources(container: &Value, status: &mut Value) {
    let resources = container["resources"].as_object().cloned().unwrap_or_default();
    match resources.get("requests") {
        Some(requests) => status["allocatedResources"] = requests.clone(),
        None => drop(meta::object_mut(status).remove("allocatedResources")),
    }
    status["resources"] = resources.into();
}

/// Sets the conditions `Initialized`, `ContainersReady` and `Ready` of a pod that starts (`GeneratePodInitializedCondition`
/// and `GenerateContainersReadyCondition`).
pub(super) fn set_started(pod: &mut Value, time: &str) {
    let unready = |pod: &Value, list: &str, wanted: &dyn Fn(&Value) -> bool| -> Vec<String> {
        let statuses = pod["status"][list].as_array().into_iter().flatten();
        let unready = statuses.filter(|status| status["ready"] != true && wanted(status));
        unready.map(|status| meta::member(status, "name").to_owned()).collect()
    };
    let is_sidecar = |status: &Value| {
        let mut init = pod["spec"]["initContainers"].as_array().into_iter().flatten();
        init.any(|container| container["name"] == status["name"] && container["restartPolicy"] == "Always")
    };
    let incomplete = unready(pod, "initContainerStatuses", &|_| true);
    let mut containers = unready(pod, "initContainerStatuses", &is_sidecar);
    containers.extend(unready(pod, "containerStatuses", &|_| true));
    let listed =
        |what: &str, names: &[String]| format!("containers with {what} status: [{}]", names.join(" "));
    for (kind, reason, what, names) in [
        ("Initialized", "ContainersNotInitialized", "incomplete", &incomplete),
        ("ContainersReady", "ContainersNotReady", "unready", &containers),
    ] {
        match names.is_empty() {
            true => set_condition(pod, kind, true, "", "", time),
            false => set_condition(pod, kind, false, reason, &listed(what, names), time),
        }
    }
    set_ready(pod, time);
}

/// Sets the condition `Ready` from the containers and the pod's readiness gates (`GeneratePodReadyCondition`).
pub(super) fn set_ready(pod: &mut Value, time: &str) {
    let containers = condition(pod, "ContainersReady").cloned().unwrap_or_default();
    if containers["status"] != "True" {
        let (reason, message) = (meta::member(&containers, "reason"), meta::member(&containers, "message"));
        return set_condition(pod, "Ready", false, reason, message, time);
    }
    let gates = pod["spec"]["readinessGates"].as_array().into_iter().flatten();
    let unmet = gates.filter_map(|gate| {
        let kind = meta::member(gate, "conditionType");
        match condition(pod, kind).map(|condition| meta::member(condition, "status")) {
            None => Some(format!("corresponding condition of pod readiness gate {kind:?} does not exist.")),
            Some("True") => None,
            Some(status) => {
                Some(format!("the status of pod readiness gate {kind:?} is not \"True\", but {status}"))
            }
        }
    });
    let unmet: Vec<String> = unmet.collect();
    match unmet.is_empty() {
        true => set_condition(pod, "Ready", true, "", "", time),
        false => set_condition(pod, "Ready", false, "ReadinessGatesNotReady", &unmet.join(", "), time),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::controllers::pods::is_ready;

    const TIME: &str = "2026-01-01T00:00:00Z";

    fn begun(pod: &mut Value, faults: &Faults) {
        begin(pod, faults, || "10.244.0.1".to_owned(), TIME);
    }

    #[test]
    fn started_pod_is_ready() {
        let mut pod = json!({"spec": {"containers": [{"name": "c", "image": "i"}],
            "initContainers": [{"name": "a"}, {"name": "b", "restartPolicy": "Always"}]}, "status": {}});
        begun(&mut pod, &Faults::default());
        let status = &pod["status"];
        assert_eq!((&status["phase"], &status["podIP"]), (&json!("Running"), &json!("10.244.0.1")));
        assert!(status["initContainerStatuses"][0]["state"]["terminated"].is_object());
        assert!(status["initContainerStatuses"][1]["state"]["running"].is_object());
        assert!(is_ready(&pod));
    }

    #[test]
    fn readiness_gates_have_to_be_true() {
        let mut pod = json!({"spec": {"containers": [{"name": "c"}], "readinessGates": [{"conditionType": "x/y"}]},
                             "status": {}});
        begun(&mut pod, &Faults::default());
        let ready = |pod: &Value| condition(pod, "Ready").cloned().unwrap();
        let missing = "corresponding condition of pod readiness gate \"x/y\" does not exist.";
        assert_eq!(
            (&ready(&pod)["reason"], &ready(&pod)["message"]),
            (&json!("ReadinessGatesNotReady"), &json!(missing))
        );
        set_condition(&mut pod, "x/y", false, "", "", TIME);
        set_ready(&mut pod, TIME);
        let unmet = "the status of pod readiness gate \"x/y\" is not \"True\", but False";
        assert_eq!(ready(&pod)["message"], unmet);
        set_condition(&mut pod, "x/y", true, "", "", TIME);
        set_ready(&mut pod, TIME);
        assert!(is_ready(&pod));
    }

    #[test]
    fn container_waits_for_its_environment_and_for_init_containers() {
        let mut pod = json!({"spec": {"containers": [{"name": "c"}, {"name": "d"}]}, "status": {}});
        let of = |name: &str| Faults {
            containers: [(name.to_owned(), "m".to_owned())].into(),
            ..Faults::default()
        };
        begun(&mut pod, &of("c"));
        let reasons =
            |pod: &Value, list: &str, i: usize| pod["status"][list][i]["state"]["waiting"]["reason"].clone();
        assert_eq!(reasons(&pod, "containerStatuses", 0), "CreateContainerConfigError");
        assert!(pod["status"]["containerStatuses"][1]["state"]["running"].is_object());
        assert_eq!(pod["status"]["phase"], "Pending");
        let message = "containers with unready status: [c]";
        assert_eq!(condition(&pod, "Ready").unwrap()["message"], message);
        begun(&mut pod, &Faults::default());
        assert!(is_ready(&pod));

        let init = json!([{"name": "i"}, {"name": "j"}]);
        let mut pod = json!({"spec": {"containers": [{"name": "c"}], "initContainers": init}, "status": {}});
        begun(&mut pod, &of("i"));
        assert_eq!(reasons(&pod, "initContainerStatuses", 0), "CreateContainerConfigError");
        assert_eq!(reasons(&pod, "initContainerStatuses", 1), "PodInitializing");
        assert_eq!(reasons(&pod, "containerStatuses", 0), "PodInitializing");
        let message = "containers with incomplete status: [i j]";
        assert_eq!(condition(&pod, "Initialized").unwrap()["message"], message);

        let mut pod = json!({"spec": {"containers": [{"name": "c"}]}, "status": {}});
        begun(&mut pod, &Faults { volumes: vec!["v".to_owned()], ..Faults::default() });
        assert_eq!(reasons(&pod, "containerStatuses", 0), "ContainerCreating");
        assert!(pod["status"]["podIP"].is_null());
        assert_eq!(condition(&pod, "PodReadyToStartContainers").unwrap()["status"], "False");
    }
}
