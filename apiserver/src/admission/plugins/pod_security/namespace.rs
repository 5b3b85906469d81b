//! Namespaces whose labels change (`ValidateNamespace` of admission/admission.go).

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::super::super::Attributes;
use super::checks::{Pod, violations};
use super::policy::{Level, LevelVersion, Policy};
use crate::meta;
use crate::status::{ApiError, ApiResult};

/// The limit of pods that a new level is tried on: `defaultNamespaceMaxPodsToCheck`.
const MOST_PODS: usize = 3000;

pub(super) fn validate(attributes: &Attributes<'_>, namespace: &Value) -> ApiResult<()> {
    let name = meta::name(namespace);
    let (policy, faults) = Policy::of(namespace);
    let before = attributes.old.map(Policy::of);
    if !faults.is_empty() && before.as_ref().is_none_or(|(_, before)| *before != faults) {
        return Err(ApiError::invalid(attributes.call.def.subject_of_kind(name), faults));
    }
    let Some((before, _)) = before else { return Ok(()) };
    let (new, old) = (policy.enforce, before.enforce);
    let is_relaxed = new.minor == old.minor && new.level <= old.level;
    if new != old && new.level != Level::Privileged && !is_relaxed {
        warn_of_pods(attributes, name, new);
    }
    Ok(())
}

/// Warns of existing pods that violate a new level (`EvaluatePodsInNamespace`).
fn warn_of_pods(attributes: &Attributes<'_>, namespace: &str, level: LevelVersion) {
    let listed = attributes.call.server.store.list("pods", &format!("{namespace}/"), None);
    let mut pods: Vec<_> = listed.map(|snapshot| snapshot.objects).unwrap_or_default();
    let count = pods.len();
    // One pod of each controller comes first (`prioritizePods`).
    let mut controllers = BTreeSet::new();
    pods.sort_by_cached_key(|(_, pod)| controller(&pod.value).is_some_and(|uid| !controllers.insert(uid)));
    pods.truncate(MOST_PODS);
    let mut by_reason: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (_, pod) in &pods {
        let found = violations(level, Pod::of(&pod.value));
        if !found.is_empty() {
            let reasons: Vec<String> = found.into_iter().map(|violation| violation.reason).collect();
            by_reason.entry(reasons.join(", ")).or_default().push(meta::name(&pod.value).to_owned());
        }
    }
    let warn = |text: &str| attributes.call.warn(text);
    if pods.len() < count {
        warn(&format!(
            "new PodSecurity enforce level only checked against the first {} of {count} existing pods",
            pods.len()
        ));
    }
    if !by_reason.is_empty() {
        let level = level.to_string();
        warn(&format!(
            "existing pods in namespace {namespace:?} violate the new PodSecurity enforce level {level:?}"
        ));
    }
    let mut texts: Vec<String> =
        by_reason.iter().map(|(reason, names)| format!("{}: {reason}", described(names))).collect();
    texts.sort();
    texts.iter().for_each(|text| warn(text));
}

/// Names the first of these pods, and counts the others.
fn described(names: &[String]) -> String {
    let first = names.iter().min().map_or("", String::as_str);
    match names.len() - 1 {
        0 => first.to_owned(),
        1 => format!("{first} (and 1 other pod)"),
        others => format!("{first} (and {others} other pods)"),
    }
}

fn controller(pod: &Value) -> Option<String> {
    let owners = pod["metadata"]["ownerReferences"].as_array()?;
    let controller = owners.iter().find(|owner| owner["controller"] == true)?;
    controller["uid"].as_str().map(str::to_owned)
}
