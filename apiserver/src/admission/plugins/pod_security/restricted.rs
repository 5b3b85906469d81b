//! The checks of the level `restricted` (policy/check_*.go).

use serde_json::Value;

use super::baseline::{Seccomp, adding, masked_proc_mount, must_not_add};
use super::checks::{Pod, Texts, Violation, named, plural, quoted, setters, text};

/// From 1.25 on, pods for Windows are exempt from checks of Linux's fields, which validation refuses there.
fn is_exempt(pod: Pod<'_>, minor: u32) -> bool {
    minor >= 25 && pod.is_for_windows()
}

pub(super) fn privilege_escalation(pod: Pod<'_>, minor: u32) -> Option<Violation> {
    let is_bad = |container: &Value| container["securityContext"]["allowPrivilegeEscalation"] != false;
    let bad = pod.containers_that(is_bad);
    if bad.is_empty() || is_exempt(pod, minor) {
        return None;
    }
    let detail = format!("{} must set securityContext.allowPrivilegeEscalation=false", named(&bad));
    Violation::new("allowPrivilegeEscalation != false", detail)
}

pub(super) fn capabilities(pod: Pod<'_>, minor: u32) -> Option<Violation> {
    if is_exempt(pod, minor) {
        return None;
    }
    let missing = pod.containers_that(|container| {
        let dropped = container.pointer("/securityContext/capabilities/drop").and_then(Value::as_array);
        !dropped.is_some_and(|dropped| dropped.iter().any(|name| name == "ALL"))
    });
    let (containers, forbidden) = adding(pod, &["NET_BIND_SERVICE"]);
    let mut details = Vec::new();
    if !missing.is_empty() {
        details.push(format!("{} must set securityContext.capabilities.drop=[\"ALL\"]", named(&missing)));
    }
    if !containers.is_empty() {
        details.push(must_not_add(&containers, forbidden));
    }
    if details.is_empty() { None } else { Violation::new("unrestricted capabilities", details.join("; ")) }
}

pub(super) fn proc_mount(pod: Pod<'_>, _: u32) -> Option<Violation> {
    masked_proc_mount(pod)
}

const ALLOWED_VOLUMES: [&str; 9] = [
    "configMap",
    "csi",
    "downwardAPI",
    "emptyDir",
    "ephemeral",
    "image",
    "persistentVolumeClaim",
    "projected",
    "secret",
];

const OTHER_VOLUMES: [&str; 21] = [
    "hostPath",
    "gcePersistentDisk",
    "awsElasticBlockStore",
    "gitRepo",
    "nfs",
    "iscsi",
    "glusterfs",
    "rbd",
    "flexVolume",
    "cinder",
    "cephfs",
    "flocker",
    "fc",
    "azureFile",
    "vsphereVolume",
    "quobyte",
    "azureDisk",
    "photonPersistentDisk",
    "portworxVolume",
    "scaleIO",
    "storageos",
];

pub(super) fn volumes(pod: Pod<'_>, _: u32) -> Option<Violation> {
    let (mut names, mut types) = (Vec::new(), Texts::new());
    for volume in pod.spec["volumes"].as_array().into_iter().flatten() {
        let has = |source: &&&str| volume[**source].is_object();
        if ALLOWED_VOLUMES.iter().any(|source| has(&source)) {
            continue;
        }
        names.push(text(&volume["name"]));
        types.insert(OTHER_VOLUMES.iter().find(has).copied().unwrap_or("unknown"));
    }
    if names.is_empty() {
        return None;
    }
    let (word, uses, kind) = (
        plural("volume", "volumes", names.len()),
        plural("uses", "use", names.len()),
        plural("restricted volume type", "restricted volume types", types.len()),
    );
    let detail = format!("{word} {} {uses} {kind} {}", quoted(names), quoted(types));
    Violation::new("restricted volume types", detail)
}

/// From 1.35 on, pods with users of their own may run as root.
pub(super) fn run_as_non_root(pod: Pod<'_>, minor: u32) -> Option<Violation> {
    const REASON: &str = "runAsNonRoot != true";
    if minor >= 35 && pod.has_own_users() {
        return None;
    }
    let of_pod = &pod.security()["runAsNonRoot"];
    let of = |container: &Value| container["securityContext"]["runAsNonRoot"].as_bool();
    let containers = pod.containers_that(|container| of(container) == Some(false));
    if let Some(bad) = setters(*of_pod == false, &containers) {
        return Violation::new(REASON, format!("{bad} must not set securityContext.runAsNonRoot=false"));
    }
    let missing = pod.containers_that(|container| of(container).is_none());
    if missing.is_empty() || *of_pod == true {
        return None;
    }
    Violation::new(REASON, format!("pod or {} must set securityContext.runAsNonRoot=true", named(&missing)))
}

/// From 1.35 on, pods with users of their own may run as root.
pub(super) fn run_as_user(pod: Pod<'_>, minor: u32) -> Option<Violation> {
    if minor >= 35 && pod.has_own_users() {
        return None;
    }
    let is_root = |security: &Value| security["runAsUser"] == 0;
    let containers = pod.containers_that(|container| is_root(&container["securityContext"]));
    let bad = setters(is_root(pod.security()), &containers)?;
    Violation::new("runAsUser=0", format!("{bad} must not set runAsUser=0"))
}

pub(super) fn seccomp(pod: Pod<'_>, minor: u32) -> Option<Violation> {
    if is_exempt(pod, minor) {
        return None;
    }
    let profiles = Seccomp::of(pod);
    let pod_is_good = profiles.pod_is_good;
    if let Some(violation) = profiles.violation() {
        return Some(violation);
    }
    let missing =
        pod.containers_that(|container| !container["securityContext"]["seccompProfile"].is_object());
    if missing.is_empty() || pod_is_good {
        return None;
    }
    let detail = format!(
        "pod or {} must set securityContext.seccompProfile.type to \"RuntimeDefault\" or \"Localhost\"",
        named(&missing)
    );
    Violation::new("seccompProfile", detail)
}
