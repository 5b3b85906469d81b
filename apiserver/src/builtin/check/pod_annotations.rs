//! Annotations of pods that Kubernetes reads. Source: `ValidatePodSpecificAnnotations` of `pkg/apis/core/validation`.

use serde_json::Value;

use super::super::app_armor::PREFIX as APP_ARMOR_OF;
use super::field::{Errors, Field};
use super::tolerated::Tolerated;
use super::volumes::descending;
use crate::names::quoted;

const MIRROR: &str = "kubernetes.io/config.mirror";
const DELETION_COST: &str = "controller.kubernetes.io/pod-deletion-cost";
const SECCOMP: &str = "seccomp.security.alpha.kubernetes.io/pod";
const SECCOMP_OF: &str = "container.seccomp.security.alpha.kubernetes.io/";

/// `ValidatePodSpecificAnnotations`.
pub(super) fn check(annotations: &Field<'_>, spec: &Field<'_>, tolerated: Tolerated, errors: &mut Errors) {
    let mirror = annotations.key(MIRROR);
    if mirror.is_set() && spec.child("nodeName").is_empty() {
        errors.invalid(&mirror, "must set spec.nodeName if mirror pod annotation is set");
    }
    if let Some(cost) = invalid_cost(annotations).filter(|_| !tolerated.deletion_cost) {
        errors.invalid(&cost, "must be a 32bit integer");
    }
    for (key, profile) in annotations.entries() {
        if key == SECCOMP || key.starts_with(SECCOMP_OF) {
            seccomp(&profile.at(annotations.child(key).path), errors);
        }
    }
    for (key, profile) in annotations.entries() {
        if let Some(name) = key.strip_prefix(APP_ARMOR_OF) {
            app_armor(name, &profile, spec, errors);
        }
    }
}

/// Returns the deletion cost if it is invalid.
pub(super) fn invalid_cost<'v>(annotations: &Field<'v>) -> Option<Field<'v>> {
    let cost = annotations.key(DELETION_COST);
    (cost.is_set() && !is_cost(cost.text())).then_some(cost)
}

/// `GetDeletionCostFromPodAnnotations`: a number of 32 bits without a plus or leading zeros.
fn is_cost(text: &str) -> bool {
    let starts_well = text == "0" || text.starts_with(|first: char| matches!(first, '-' | '1'..='9'));
    starts_well && text.parse::<i32>().is_ok()
}

/// `ValidateSeccompProfile`.
fn seccomp(profile: &Field<'_>, errors: &mut Errors) {
    match profile.text() {
        "runtime/default" | "docker/default" | "unconfined" => {}
        text => match text.strip_prefix("localhost/") {
            Some(path) => descending(&profile.holding(&path.into()), errors),
            None => errors.invalid(profile, "must be a valid seccomp profile"),
        },
    }
}

/// `ValidateAppArmorPodAnnotations`, of one annotation.
fn app_armor(name: &str, profile: &Field<'_>, spec: &Field<'_>, errors: &mut Errors) {
    let containers = super::pods::all_containers(spec);
    if !containers.iter().any(|container| container.child("name").text() == name) {
        errors.invalid(&profile.holding(&name.into()), "container not found");
    }
    let text = profile.text();
    if !["", "runtime/default", "unconfined"].contains(&text) && !text.starts_with("localhost/") {
        errors.invalid(profile, &format!("invalid AppArmor profile name: {}", quoted(text)));
    }
}

/// `ValidatePodSpecificAnnotationUpdates`, without the annotations themselves.
pub(super) fn unchanged(annotations: &Field<'_>, old: &Value, errors: &mut Errors) {
    let fixed = |key: &str| match key {
        MIRROR => Some("mirror pod annotation"),
        key => key.starts_with(APP_ARMOR_OF).then_some("AppArmor annotations"),
    };
    let before = annotations.holding(old);
    for (key, value) in before.entries() {
        if let Some(what) = fixed(key).filter(|_| annotations.key(key).value != value.value) {
            errors.forbidden(&value, &format!("may not remove or update {what}"));
        }
    }
    for (key, value) in annotations.entries() {
        if let Some(what) = fixed(key).filter(|_| !before.key(key).is_set()) {
            errors.forbidden(&value, &format!("may not add {what}"));
        }
    }
}

/// `validateSeccompAnnotationsAndFields` and `validateAppArmorAnnotationsAndFieldsMatchOnCreate`.
pub(super) fn match_fields(annotations: &Field<'_>, spec: &Field<'_>, errors: &mut Errors) {
    let of_pod = spec.child("securityContext");
    let containers = super::pods::all_containers(spec);
    let profile = of_pod.child("seccompProfile");
    matches("seccomp", &annotations.key(SECCOMP), &profile, &profile, errors);
    for container in &containers {
        let key = format!("{SECCOMP_OF}{}", container.child("name").text());
        let profile = container.child("securityContext").child("seccompProfile");
        matches("seccomp", &annotations.key(&key), &profile, &profile, errors);
    }
    if spec.child("os").child("name").text() == "windows" {
        return;
    }
    for container in &containers {
        let key = format!("{APP_ARMOR_OF}{}", container.child("name").text());
        let own = container.child("securityContext").child("appArmorProfile");
        let profile = if own.is_set() { own.clone() } else { of_pod.child("appArmorProfile") };
        matches("apparmor", &annotations.key(&key), &profile, &own, errors);
    }
}

/// Checks that an annotation says what the profile says; errors name fields of `place`.
fn matches(kind: &str, annotation: &Field<'_>, profile: &Field<'_>, place: &Field<'_>, errors: &mut Errors) {
    if !annotation.is_set() || !profile.is_set() {
        return;
    }
    let text = annotation.text();
    let path = text.strip_prefix("localhost/");
    let of_type = match profile.child("type").text() {
        "Unconfined" => text == "unconfined",
        "RuntimeDefault" => text == "runtime/default" || (kind == "seccomp" && text == "docker/default"),
        "Localhost" => path.is_some(),
        _ => return,
    };
    if !of_type {
        errors.forbidden(&place.child("type"), &format!("{kind} type in annotation and field must match"));
    } else if let Some(path) = path
        && profile.child("localhostProfile").value != path
    {
        let detail = format!("{kind} profile in annotation and field must match");
        errors.forbidden(&place.child("localhostProfile"), &detail);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn faults(annotations: Value, spec: &Value) -> Vec<String> {
        let field = Field::root(&annotations).at("metadata.annotations");
        let causes = Errors::of(|errors| {
            check(&field, &Field::root(spec).at("spec"), Tolerated::of(&Value::Null), errors);
            match_fields(&field, &Field::root(spec).at("spec"), errors);
        });
        causes.iter().map(|cause| format!("{}: {}", cause.field, cause.message)).collect()
    }

    #[test]
    fn annotations_of_a_pod_have_values_that_kubernetes_reads() {
        let spec = json!({"containers": [{"name": "c"}]});
        assert!(faults(json!({DELETION_COST: "-7", SECCOMP: "localhost/a"}), &spec).is_empty());
        for cost in ["+1", "01", "x", "", "2147483648"] {
            assert_eq!(faults(json!({DELETION_COST: cost}), &spec).len(), 1, "{cost}");
        }
        let place = format!("metadata.annotations[{MIRROR}]");
        let detail = "Invalid value: \"x\": must set spec.nodeName if mirror pod annotation is set";
        assert_eq!(faults(json!({MIRROR: "x"}), &spec), [format!("{place}: {detail}")]);
        let place = format!("metadata.annotations.{SECCOMP}");
        let detail = "Invalid value: \"x\": must be a valid seccomp profile";
        assert_eq!(faults(json!({SECCOMP: "x"}), &spec), [format!("{place}: {detail}")]);
        let key = format!("{APP_ARMOR_OF}d");
        assert_eq!(
            faults(json!({&key: "x"}), &spec),
            [
                format!("metadata.annotations[{key}]: Invalid value: \"d\": container not found"),
                format!(
                    "metadata.annotations[{key}]: Invalid value: \"x\": invalid AppArmor profile name: \"x\""
                )
            ]
        );
    }

    #[test]
    fn annotations_of_profiles_match_their_fields() {
        let context = json!({"seccompProfile": {"type": "Localhost", "localhostProfile": "a"},
            "appArmorProfile": {"type": "Unconfined"}});
        let spec = json!({"containers": [{"name": "c"}], "securityContext": context});
        let key = format!("{APP_ARMOR_OF}c");
        assert_eq!(
            faults(json!({SECCOMP: "localhost/b", &key: "runtime/default"}), &spec),
            [
                "spec.securityContext.seccompProfile.localhostProfile: Forbidden: seccomp profile in annotation and field must \
                 match",
                "spec.containers[0].securityContext.appArmorProfile.type: Forbidden: apparmor type in annotation and field must \
                 match"
            ]
        );
        assert!(faults(json!({SECCOMP: "localhost/a", &key: "unconfined"}), &spec).is_empty());
    }

    #[test]
    fn update_keeps_the_annotation_of_a_mirror_pod() {
        let count =
            |new: Value, old: Value| Errors::of(|errors| unchanged(&Field::root(&new), &old, errors)).len();
        assert_eq!(count(json!({MIRROR: "a"}), json!({MIRROR: "a"})), 0);
        assert_eq!(count(json!({MIRROR: "b"}), json!({MIRROR: "a"})), 1);
        assert_eq!(count(json!({MIRROR: "b"}), json!(null)), 1);
        assert_eq!(count(json!({}), json!({MIRROR: "a"})), 1);
    }
}
