//! Pods: what a spec has to say, and what an update may change.

use serde_json::Value;

use super::containers::{containers, volumes};
use super::{is_empty, items, one_of, text};
use crate::builtin::defaults::quality_of_service;
use crate::names::{NameRule, quoted};
use crate::status::Cause;

pub(in crate::builtin) fn pod(object: &Value, old: Option<&Value>) -> Vec<Cause> {
    let mut causes = whole(object);
    if old.is_none() && !is_empty(&object["spec"]["ephemeralContainers"]) {
        causes.push(Cause::forbidden("spec.ephemeralContainers", "cannot be set on create"));
    }
    if let Some(old) = old
        && !only_what_may_change(&object["spec"], &old["spec"])
    {
        causes.push(Cause::forbidden(
            "spec",
            "pod updates may not change fields other than \
             `spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,\
             `spec.tolerations` (only additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow \
             it to be set to 1 if it was previously negative)",
        ));
    }
    causes
}

fn whole(pod: &Value) -> Vec<Cause> {
    let mut causes = Vec::new();
    spec(&pod["spec"], "spec", &mut causes);
    ephemeral_containers(&pod["spec"], &mut causes);
    causes
}

/// Checks a pod whose ephemeral containers were changed: those that are there stay as they are.
pub(in crate::builtin) fn pod_ephemeral_containers(pod: &Value, old: &Value) -> Vec<Cause> {
    if is_static(old) {
        return vec![Cause::forbidden("", "static pods do not support ephemeral containers")];
    }
    let mut causes = whole(pod);
    let list = "ephemeralContainers";
    for (_, before) in items(&old["spec"][list]) {
        let name = text(before, "name");
        let mut now = items(&pod["spec"][list]).map(|(_, container)| container);
        let fault = match now.find(|container| text(container, "name") == name) {
            None => "removed",
            Some(now) if now != before => "changed",
            Some(_) => continue,
        };
        let text = format!("existing ephemeral containers {} may not be {fault}\n", quoted(name));
        causes.push(Cause::forbidden("spec.ephemeralContainers", &text));
    }
    causes
}

/// Checks a pod whose resources were changed.
pub(in crate::builtin) fn pod_resize(pod: &Value, old: &Value) -> Vec<Cause> {
    if is_static(old) {
        return vec![Cause::forbidden("", "static pods cannot be resized")];
    }
    if old["spec"]["os"]["name"] == "windows" {
        return vec![Cause::forbidden("", "windows pods cannot be resized")];
    }
    let mut causes = whole(pod);
    let (spec, before) = (&pod["spec"], &old["spec"]);
    let class = quality_of_service(spec);
    if class != quality_of_service(before) {
        let text = "Pod QOS Class may not change as a result of resizing";
        causes.push(Cause::invalid("spec", quoted(class), text));
    }
    let mut statuses = items(&old["status"]["containerStatuses"]).map(|(_, status)| status);
    let running = statuses.find(|status| status["state"]["running"].is_object());
    if running.is_some_and(|status| status["resources"].is_null()) {
        causes.push(Cause::forbidden("spec", "Pod running on node without support for resize"));
    }
    let faults = causes.len();
    for list in ["containers", "initContainers"] {
        same_containers(&spec[list], &before[list], list, &mut causes);
    }
    if causes.len() == faults {
        for list in ["containers", "initContainers"] {
            resized(&spec[list], &before[list], &format!("spec.{list}"), &mut causes);
        }
    }
    causes
}

/// Whether a kubelet made the pod from a file of its node.
fn is_static(pod: &Value) -> bool {
    pod["metadata"]["annotations"]["kubernetes.io/config.mirror"].is_string()
}

fn same_containers(new: &Value, old: &Value, list: &str, causes: &mut Vec<Cause>) {
    if items(new).count() != items(old).count() {
        let text = format!("{list} may not be added or removed on resize");
        return causes.push(Cause::forbidden(format!("spec.{list}"), &text));
    }
    for ((i, _), _) in items(new).zip(items(old)).filter(|((_, new), (_, old))| new["name"] != old["name"]) {
        let text = format!("{list} may not be renamed or reordered on resize");
        causes.push(Cause::forbidden(format!("spec.{list}[{i}].name"), &text));
    }
}

/// Only processor time and memory change, of containers that go on running, and nothing that was asked for goes.
fn resized(new: &Value, old: &Value, path: &str, causes: &mut Vec<Cause>) {
    for ((i, new), (_, old)) in items(new).zip(items(old)) {
        let path = format!("{path}[{i}].resources");
        let (new_resources, old_resources) = (&new["resources"], &old["resources"]);
        if path.starts_with("spec.init") && old["restartPolicy"] != "Always" && new_resources != old_resources
        {
            let text = "resources for non-sidecar init containers are immutable";
            causes.push(Cause::forbidden(path, text));
            continue;
        }
        for part in ["requests", "limits"] {
            let amounts = old_resources[part].as_object().into_iter().flatten();
            if amounts.into_iter().any(|(name, _)| new_resources[part][name].is_null()) {
                let text = format!("resource {part} cannot be removed");
                causes.push(Cause::forbidden(format!("{path}.{part}"), &text));
            }
        }
        if fixed_resources(new_resources) != fixed_resources(old_resources) {
            causes.push(Cause::forbidden("spec", "only cpu and memory resources are mutable"));
        }
    }
}

/// What a resize may not touch.
fn fixed_resources(resources: &Value) -> Value {
    let mut fixed = resources.clone();
    for part in ["requests", "limits"] {
        let Some(amounts) = fixed.get_mut(part).and_then(Value::as_object_mut) else { continue };
        amounts.retain(|name, _| !matches!(name.as_str(), "cpu" | "memory"));
        if amounts.is_empty()
            && let Some(fixed) = fixed.as_object_mut()
        {
            fixed.remove(part);
        }
    }
    if fixed == serde_json::json!({}) { Value::Null } else { fixed }
}

/// What an ephemeral container may not have: nothing depends on it, and nobody waits for it.
const NOT_EPHEMERAL: [&str; 8] = [
    "ports",
    "resources",
    "resizePolicy",
    "restartPolicy",
    "livenessProbe",
    "readinessProbe",
    "startupProbe",
    "lifecycle",
];

fn ephemeral_containers(spec: &Value, causes: &mut Vec<Cause>) {
    let list = &spec["ephemeralContainers"];
    let lists = ["containers", "initContainers"];
    let mut names: Vec<&str> = lists
        .iter()
        .flat_map(|list| items(&spec[*list]))
        .map(|(_, container)| text(container, "name"))
        .collect();
    let others = names.clone();
    let volumes: Vec<&str> = items(&spec["volumes"]).map(|(_, volume)| text(volume, "name")).collect();
    containers(list, "spec.ephemeralContainers", &volumes, &mut names, causes);
    let forbidden = "cannot be set for an Ephemeral Container";
    for (i, container) in items(list) {
        let path = format!("spec.ephemeralContainers[{i}]");
        let target = text(container, "targetContainerName");
        if !target.is_empty() && !others.contains(&target) {
            let message = format!("Not found: {}", quoted(target));
            causes.push(Cause::new("FieldValueNotFound", format!("{path}.targetContainerName"), message));
        }
        for field in NOT_EPHEMERAL {
            let value = &container[field];
            if !(value.is_null() || *value == serde_json::json!({})) {
                causes.push(Cause::forbidden(format!("{path}.{field}"), forbidden));
            }
        }
        for (k, mount) in items(&container["volumeMounts"]) {
            for field in ["subPath", "subPathExpr"].into_iter().filter(|field| !text(mount, field).is_empty())
            {
                causes.push(Cause::forbidden(format!("{path}.volumeMounts[{k}].{field}"), forbidden));
            }
        }
    }
}

/// Whether the two specs differ in nothing but images, the deadline and more tolerations.
fn only_what_may_change(new: &Value, old: &Value) -> bool {
    let frozen = |spec: &Value| {
        let mut spec = spec.clone();
        for list in ["containers", "initContainers"] {
            for container in spec.get_mut(list).and_then(Value::as_array_mut).into_iter().flatten() {
                container["image"] = Value::Null;
            }
        }
        if let Some(spec) = spec.as_object_mut() {
            for free in ["activeDeadlineSeconds", "tolerations"] {
                spec.remove(free);
            }
            // A gated pod gets its node's name by the binding, and gates only go.
            spec.remove("schedulingGates");
        }
        spec
    };
    let kept = old["tolerations"].as_array().into_iter().flatten();
    let tolerations = new["tolerations"].as_array().map_or(&[][..], Vec::as_slice);
    frozen(new) == frozen(old) && kept.into_iter().all(|t| tolerations.contains(t))
}

/// Checks a pod's spec, alone or in a template.
pub(super) fn spec(spec: &Value, path: &str, causes: &mut Vec<Cause>) {
    let known = volumes(&spec["volumes"], &format!("{path}.volumes"), causes);
    if is_empty(&spec["containers"]) {
        causes.push(Cause::required(format!("{path}.containers"), ""));
    }
    let mut names = Vec::new();
    for list in ["containers", "initContainers"] {
        containers(&spec[list], &format!("{path}.{list}"), &known, &mut names, causes);
    }
    one_of(spec, path, "restartPolicy", &["Always", "OnFailure", "Never"], causes);
    one_of(spec, path, "dnsPolicy", &["ClusterFirst", "ClusterFirstWithHostNet", "Default", "None"], causes);
    if let Some(seconds) = spec["terminationGracePeriodSeconds"].as_i64().filter(|s| *s < 0) {
        let text = "must be greater than or equal to 0";
        causes.push(Cause::invalid(format!("{path}.terminationGracePeriodSeconds"), seconds, text));
    }
    let account = text(spec, "serviceAccountName");
    if !account.is_empty() {
        for fault in NameRule::Subdomain.check(account) {
            causes.push(Cause::invalid(format!("{path}.serviceAccountName"), quoted(account), &fault));
        }
    }
    for (i, toleration) in items(&spec["tolerations"]) {
        one_of(toleration, &format!("{path}.tolerations[{i}]"), "operator", &["Equal", "Exists"], causes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_pod_may_change_its_image_and_little_else() {
        let old = json!({"containers": [{"name": "a", "image": "1"}], "tolerations": [{"key": "a"}]});
        let with = |key: &str, value: Value| {
            let mut new = old.clone();
            new[key] = value;
            new
        };
        assert!(only_what_may_change(&with("containers", json!([{"name": "a", "image": "2"}])), &old));
        assert!(only_what_may_change(&with("tolerations", json!([{"key": "a"}, {"key": "b"}])), &old));
        assert!(!only_what_may_change(&with("tolerations", json!([{"key": "b"}])), &old));
        assert!(!only_what_may_change(&with("containers", json!([{"name": "b", "image": "1"}])), &old));
        assert!(!only_what_may_change(&with("nodeName", json!("n")), &old));
    }
}
