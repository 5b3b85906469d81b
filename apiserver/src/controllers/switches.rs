//! Switches of a test: annotations that let containers exit, image pulls and readiness probes fail, and the kubelet stop.

use std::time::Duration;

use jiff::Timestamp;
use serde_json::{Value, json};

use crate::meta::member;

/// The prefixes of pod annotations; the container's name follows.
const EXIT: &str = "exit.kubesmith.dev/";
const READY: &str = "ready.kubesmith.dev/";
const PULL: &str = "pull.kubesmith.dev/";
/// The annotation of a node whose kubelet has stopped.
const STOPPED: &str = "kubelet.kubesmith.dev/stopped";

fn annotation<'a>(object: &'a Value, key: &str) -> Option<&'a str> {
    object["metadata"]["annotations"].get(key)?.as_str()
}

fn of_container<'a>(pod: &'a Value, prefix: &str, container: &Value) -> Option<&'a str> {
    annotation(pod, &format!("{prefix}{}", member(container, "name")))
}

/// The code with which a container exits whenever it runs.
pub(super) fn exit_code(pod: &Value, container: &Value) -> Option<i64> {
    of_container(pod, EXIT, container)?.parse().ok()
}

/// Reports whether a container of a pod is to exit.
pub(super) fn exits(pod: &Value) -> bool {
    let mut containers = pod["spec"]["containers"].as_array().into_iter().flatten();
    containers.any(|container| exit_code(pod, container).is_some())
}

/// Whether a container's readiness probe succeeds, if the pod says so.
pub(super) fn readiness(pod: &Value, container: &Value) -> Option<bool> {
    of_container(pod, READY, container)?.parse().ok()
}

/// The reasons of a container that waits for its image (pkg/kubelet/images/types.go).
pub(super) const FAILED_PULL: &str = "ErrImagePull";
pub(super) const PULL_BACK_OFF: &str = "ImagePullBackOff";

/// Returns the state of a container whose image is not there, and the time until it is. The annotation has the
/// seconds of the pull, such as `30s`, or its error (`EnsureImageExists` of pkg/kubelet/images/image_manager.go).
pub(super) fn pull(pod: &Value, container: &Value, now: Timestamp) -> Option<(Value, Option<Duration>)> {
    let text = of_container(pod, PULL, container)?;
    if let Some(seconds) = text.strip_suffix('s').and_then(|seconds| seconds.parse().ok()) {
        let start = pod["status"]["startTime"].as_str().and_then(|time| time.parse().ok()).unwrap_or(now);
        let left = until(start, seconds, now);
        return (!left.is_zero()).then(|| (json!({"waiting": {"reason": "ContainerCreating"}}), Some(left)));
    }
    let statuses = ["containerStatuses", "initContainerStatuses"].map(|list| pod["status"][list].as_array());
    let mut statuses = statuses.into_iter().flatten().flatten();
    let has_failed = statuses.any(|status| {
        let reason = &status["state"]["waiting"]["reason"];
        status["name"] == container["name"] && (reason == FAILED_PULL || reason == PULL_BACK_OFF)
    });
    let message = format!("Back-off pulling image {:?}: {FAILED_PULL}: {text}", member(container, "image"));
    let waiting = match has_failed {
        true => json!({"reason": PULL_BACK_OFF, "message": message}),
        false => json!({"reason": FAILED_PULL, "message": text}),
    };
    Some((json!({"waiting": waiting}), None))
}

/// Returns the time that is left until so many seconds after the start.
pub(super) fn until(start: Timestamp, seconds: i64, now: Timestamp) -> Duration {
    let passed = now.as_second().saturating_sub(start.as_second());
    Duration::from_secs(u64::try_from(seconds.saturating_sub(passed)).unwrap_or_default())
}

/// Reports whether a node's kubelet has stopped.
pub(super) fn is_stopped(node: &Value) -> bool {
    annotation(node, STOPPED) == Some("true")
}
