//! Pods: what a spec has to say, and what an update may change.

use serde_json::Value;

use super::containers::{containers, volumes};
use super::{is_empty, items, one_of, text};
use crate::names::{NameRule, quoted};
use crate::status::Cause;

pub(in crate::builtin) fn pod(object: &Value, old: Option<&Value>) -> Vec<Cause> {
    let mut causes = Vec::new();
    spec(&object["spec"], "spec", &mut causes);
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
