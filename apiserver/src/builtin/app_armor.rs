//! The annotations with AppArmor profiles, which fields have replaced.

use serde_json::{Value, json};

use crate::meta;

/// The prefix of the annotation of a container.
pub(super) const PREFIX: &str = "container.apparmor.security.beta.kubernetes.io/";

/// The limit of a profile's path, in bytes (`ValidateAppArmorProfileField` of pkg/apis/core/validation).
const LONGEST: usize = 4095;

/// Turns the annotations of a new pod into fields of its containers; returns the warnings (`applyAppArmorVersionSkew` of
/// pkg/registry/core/pod/strategy.go).
pub(crate) fn sync(pod: &mut Value) -> Vec<String> {
    let annotations = pod["metadata"]["annotations"].clone();
    if pod["spec"]["os"]["name"] == "windows" || annotations.is_null() {
        return Vec::new();
    }
    let of_pod = pod["spec"]["securityContext"]["appArmorProfile"].clone();
    let mut warnings = Vec::new();
    for list in ["initContainers", "containers", "ephemeralContainers"] {
        let containers = pod["spec"].get_mut(list).and_then(Value::as_array_mut);
        for container in containers.into_iter().flatten() {
            let key = format!("{PREFIX}{}", meta::member(container, "name"));
            let given =
                annotations.get(&key).filter(|_| container["securityContext"]["appArmorProfile"].is_null());
            let Some(annotation) = given else { continue };
            let profile = profile(annotation).filter(is_valid);
            if profile.as_ref() == Some(&of_pod) {
                continue;
            }
            warnings.push(deprecated("metadata", &key));
            if let Some(profile) = profile {
                meta::map_at(container, "securityContext").insert("appArmorProfile".to_owned(), profile);
            }
        }
    }
    warnings
}

/// Returns the warning about a container's annotation in a template, whose metadata is at `place`.
pub(super) fn warning(template: &Value, container: &Value, place: &str) -> Option<String> {
    let of_pod = &template["spec"]["securityContext"]["appArmorProfile"];
    let key = format!("{PREFIX}{}", meta::member(container, "name"));
    let annotation = template["metadata"]["annotations"].get(&key)?;
    let is_said = !container["securityContext"]["appArmorProfile"].is_null()
        || (!of_pod.is_null() && profile(annotation).as_ref() == Some(of_pod));
    (!is_said).then(|| deprecated(place, &key))
}

fn deprecated(place: &str, key: &str) -> String {
    format!("{place}.annotations[{key}]: deprecated since v1.30; use the \"appArmorProfile\" field instead")
}

/// Returns the profile of an annotation (`ApparmorFieldForAnnotation` of pkg/api/pod/util.go).
fn profile(annotation: &Value) -> Option<Value> {
    match annotation.as_str()? {
        "unconfined" => Some(json!({"type": "Unconfined"})),
        "runtime/default" => Some(json!({"type": "RuntimeDefault"})),
        other => match other.strip_prefix("localhost/")? {
            "" => None,
            profile => Some(json!({"type": "Localhost", "localhostProfile": profile})),
        },
    }
}

fn is_valid(profile: &Value) -> bool {
    let path = meta::member(profile, "localhostProfile");
    path.trim() == path && path.len() <= LONGEST
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pod(annotation: &str, spec: Value) -> Value {
        let mut pod = json!({"metadata": {"annotations": {format!("{PREFIX}c"): annotation}}, "spec": spec});
        pod["spec"]["containers"] = json!([{"name": "c"}, {"name": "d"}]);
        pod
    }

    #[test]
    fn annotation_becomes_field_of_its_container_with_a_warning() {
        for (annotation, profile) in [
            ("unconfined", json!({"type": "Unconfined"})),
            ("runtime/default", json!({"type": "RuntimeDefault"})),
            ("localhost/a", json!({"type": "Localhost", "localhostProfile": "a"})),
            ("localhost/", Value::Null),
            ("localhost/ a", Value::Null),
        ] {
            let mut pod = pod(annotation, json!({}));
            assert_eq!(sync(&mut pod), [deprecated("metadata", &format!("{PREFIX}c"))]);
            assert_eq!(pod["spec"]["containers"][0]["securityContext"]["appArmorProfile"], profile);
            assert_eq!(pod["spec"]["containers"][1], json!({"name": "d"}));
        }
    }

    #[test]
    fn annotation_stays_when_pod_has_the_profile_or_runs_windows() {
        let same = json!({"securityContext": {"appArmorProfile": {"type": "Unconfined"}}});
        for spec in [same, json!({"os": {"name": "windows"}})] {
            let mut pod = pod("unconfined", spec);
            let before = pod.clone();
            assert!(sync(&mut pod).is_empty());
            assert_eq!(pod, before);
        }
    }
}
