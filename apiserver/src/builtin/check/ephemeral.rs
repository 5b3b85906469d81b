//! Adding ephemeral containers to a pod. Source: `ValidatePodEphemeralContainersUpdate` of `pkg/apis/core/validation`.

use serde_json::Value;

use super::field::{Errors, Field};
use super::pods::whole;
use super::tolerated::Tolerated;
use crate::names::quoted;
use crate::status::Cause;

/// Checks an update of ephemeral containers. Existing ones may not change.
pub(in crate::builtin) fn pod_ephemeral_containers(pod: &Value, old: &Value) -> Vec<Cause> {
    if is_static(old) {
        return vec![Cause::forbidden("", "static pods do not support ephemeral containers")];
    }
    Errors::of(|errors| {
        whole(pod, Tolerated::of(old), errors);
        let now = Field::root(pod).child("spec").child("ephemeralContainers");
        for before in Field::root(old).child("spec").child("ephemeralContainers").items() {
            let name = before.child("name").text();
            let fault = match now.items().find(|container| container.child("name").text() == name) {
                None => "removed",
                Some(container) if container.value != before.value => "changed",
                Some(_) => continue,
            };
            let detail = format!("existing ephemeral containers {} may not be {fault}\n", quoted(name));
            errors.forbidden(&now, &detail);
        }
    })
}

/// Reports whether a kubelet made the pod from a file of its node.
pub(super) fn is_static(pod: &Value) -> bool {
    pod["metadata"]["annotations"]["kubernetes.io/config.mirror"].is_string()
}
