//! `PodSecurity`: the Pod Security Standards that labels of a namespace choose (`k8s.io/pod-security-admission`).

mod baseline;
mod checks;
mod namespace;
mod policy;
mod restricted;

use serde_json::Value;

use self::checks::{Pod, details, violations};
use self::policy::{LevelVersion, Policy};
use super::super::{Attributes, Operation};
use crate::meta;
use crate::status::{ApiError, ApiResult};

/// Subresources of pods that cannot make a pod more privileged.
const IGNORED: [&str; 8] = ["exec", "attach", "binding", "eviction", "log", "portforward", "proxy", "status"];

/// `Validate` of admission/admission.go.
pub(super) fn validate(attributes: &Attributes<'_>, object: Option<&Value>) -> ApiResult<()> {
    let both = [Operation::Create, Operation::Update].contains(&attributes.operation);
    let Some(object) = object.filter(|_| both && !attributes.call.def.is_custom()) else { return Ok(()) };
    let subresource = attributes.call.path.subresource.as_str();
    match attributes.call.def.collection.as_str() {
        "namespaces" if subresource.is_empty() => namespace::validate(attributes, object),
        "pods" if !IGNORED.contains(&subresource) => pod(attributes, object),
        _ if subresource.is_empty() => {
            if let Some(template) = template(&attributes.call.def.collection, object) {
                let policy = policy_of(attributes);
                warn(attributes, policy.warn, template);
            }
            Ok(())
        }
        _ => Ok(()),
    }
}

/// The policy of the request's namespace, also if labels are malformed.
fn policy_of(attributes: &Attributes<'_>) -> Policy {
    let namespace = attributes.call.server.store.get("namespaces", &attributes.call.path.namespace);
    namespace.map(|namespace| Policy::of(&namespace.value).0).unwrap_or_default()
}

/// `ValidatePod`.
fn pod(attributes: &Attributes<'_>, pod: &Value) -> ApiResult<()> {
    if attributes.old.is_some_and(|old| !is_significant(pod, old)) {
        return Ok(());
    }
    let policy = policy_of(attributes);
    let found = violations(policy.enforce, Pod::of(pod));
    if found.is_empty() {
        warn(attributes, policy.warn, pod);
        return Ok(());
    }
    let name = if attributes.name.is_empty() { meta::name(pod) } else { attributes.name };
    let text = format!("violates PodSecurity {:?}: {}", policy.enforce.to_string(), details(&found));
    Err(ApiError::forbidden(attributes.call.def.subject(name), &text))
}

/// Warns of a pod, or a template of pods, that violates the policy.
fn warn(attributes: &Attributes<'_>, policy: LevelVersion, pod: &Value) {
    let found = violations(policy, Pod::of(pod));
    if !found.is_empty() {
        let text = format!("would violate PodSecurity {:?}: {}", policy.to_string(), details(&found));
        attributes.call.warn(&text);
    }
}

/// The template of a controller's pods (`ExtractPodSpec`).
fn template<'o>(collection: &str, object: &'o Value) -> Option<&'o Value> {
    let template = match collection {
        "podtemplates" => object.get("template"),
        "replicationcontrollers"
        | "replicasets.apps"
        | "deployments.apps"
        | "statefulsets.apps"
        | "daemonsets.apps"
        | "jobs.batch" => object.pointer("/spec/template"),
        "cronjobs.batch" => object.pointer("/spec/jobTemplate/spec/template"),
        _ => None,
    };
    template.filter(|template| template.is_object())
}

/// `isSignificantPodUpdate`: only other images, and other or further containers matter.
fn is_significant(pod: &Value, old: &Value) -> bool {
    let list = |pod: &Value, list: &str| pod["spec"][list].as_array().cloned().unwrap_or_default();
    let differs = |name: &&str| {
        let (new, old) = (list(pod, name), list(old, name));
        new.len() != old.len() || new.iter().zip(&old).any(|(new, old)| new["image"] != old["image"])
    };
    let old_ephemeral = list(old, "ephemeralContainers");
    let is_new = |container: &Value| {
        let before = old_ephemeral.iter().find(|old| old["name"] == container["name"]);
        before.is_none_or(|before| before["image"] != container["image"])
    };
    ["containers", "initContainers"].iter().any(differs)
        || list(pod, "ephemeralContainers").iter().any(is_new)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn update_matters_when_containers_or_images_change() {
        let pod = |image: &str, ephemeral: &str| {
            json!({"spec": {"containers": [{"name": "a", "image": image}],
                "ephemeralContainers": [{"name": ephemeral, "image": "i"}]}})
        };
        assert!(!is_significant(&pod("1", "e"), &pod("1", "e")));
        assert!(is_significant(&pod("2", "e"), &pod("1", "e")));
        assert!(is_significant(&pod("1", "f"), &pod("1", "e")));
        assert!(is_significant(&pod("1", "e"), &json!({"spec": {"containers": []}})));
    }
}
