//! The status of disruption budgets.

use jiff::Timestamp;
use serde_json::{Value, json};

use crate::clock::rfc3339;
use crate::meta;

/// The type of the condition (`DisruptionAllowedCondition` of k8s.io/api/policy/v1).
pub(crate) const ALLOWED: &str = "DisruptionAllowed";
/// The reason when the number of pods is unknown (`SyncFailedReason`).
pub(crate) const SYNC_FAILED: &str = "SyncFailed";

/// Returns the condition on whether pods can be evicted.
pub(crate) fn condition(budget: &Value) -> Option<&Value> {
    budget["status"]["conditions"].as_array()?.iter().find(|condition| condition["type"] == ALLOWED)
}

/// Updates the condition from the number of evictions that the status allows; `failure` is the reason why the number is
/// unknown (`UpdateDisruptionAllowedCondition` of `pkg/apis/policy/v1`).
pub(crate) fn set_condition(budget: &mut Value, now: Timestamp, failure: Option<&str>) {
    let allows = budget["status"]["disruptionsAllowed"].as_i64().unwrap_or(0) > 0;
    let (status, reason) = match failure {
        Some(_) => ("False", SYNC_FAILED),
        None if allows => ("True", "SufficientPods"),
        None => ("False", "InsufficientPods"),
    };
    let same = condition(budget).filter(|old| old["status"] == status);
    let since = same.map_or_else(|| rfc3339(now).into(), |old| old["lastTransitionTime"].clone());
    let next = json!({
        "type": ALLOWED, "status": status, "reason": reason, "message": failure.unwrap_or_default(),
        "lastTransitionTime": since, "observedGeneration": budget["status"]["observedGeneration"].as_i64().unwrap_or(0),
    });
    let list = meta::map_at(budget, "status").entry("conditions").or_insert_with(|| json!([]));
    if let Some(list) = list.as_array_mut() {
        match list.iter_mut().find(|condition| condition["type"] == ALLOWED) {
            Some(old) => *old = next,
            None => list.push(next),
        }
    }
}
