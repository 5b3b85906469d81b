//! The status of kinds whose controllers keep pods running, and of disruption budgets. Source: `pkg/apis/apps/validation`,
//! `pkg/apis/core/validation` and `pkg/apis/policy/validation`.

use serde_json::Value;

use super::field::{Errors, Field};
use crate::names::quoted;
use crate::status::Cause;

/// `ValidateDeploymentStatusUpdate`, and its counterparts for stateful sets, replica sets and replication controllers.
pub(in crate::builtin) fn replicas_status(new: &Value, old: &Value) -> Vec<Cause> {
    let kind = new["kind"].as_str().unwrap_or_default();
    let (numbers, bounded): (&[&str], &[&str]) = match kind {
        "Deployment" => (
            &[
                "observedGeneration",
                "replicas",
                "updatedReplicas",
                "readyReplicas",
                "availableReplicas",
                "unavailableReplicas",
                "terminatingReplicas",
                "collisionCount",
            ],
            &["updatedReplicas", "readyReplicas", "availableReplicas"],
        ),
        "StatefulSet" => (
            &[
                "replicas",
                "readyReplicas",
                "currentReplicas",
                "updatedReplicas",
                "availableReplicas",
                "observedGeneration",
                "collisionCount",
            ],
            &["readyReplicas", "currentReplicas", "updatedReplicas", "availableReplicas"],
        ),
        _ => (
            &[
                "replicas",
                "fullyLabeledReplicas",
                "readyReplicas",
                "availableReplicas",
                "observedGeneration",
                "terminatingReplicas",
            ],
            &["fullyLabeledReplicas", "readyReplicas", "availableReplicas"],
        ),
    };
    Errors::of(|errors| {
        let status = Field::root(new).child("status");
        errors.none_negative(&status, numbers);
        let all = status.child("replicas").number_or_zero();
        for count in bounded.iter().map(|count| status.child(count)) {
            if count.number_or_zero() > all {
                errors.invalid_number(&count, "cannot be greater than status.replicas");
            }
        }
        let (ready, available) = (status.child("readyReplicas"), status.child("availableReplicas"));
        if available.number_or_zero() > ready.number_or_zero() {
            let place = if kind == "StatefulSet" { "status." } else { "" };
            errors.invalid_number(&available, &format!("cannot be greater than {place}readyReplicas"));
        }
        if numbers.contains(&"collisionCount") {
            collisions(&status, old, errors);
        }
    })
}

/// Checks that the number of hash collisions does not fall.
fn collisions(status: &Field<'_>, old: &Value, errors: &mut Errors) {
    let count = status.child("collisionCount");
    let before = old["status"]["collisionCount"].as_i64();
    if before.is_some_and(|before| count.number_or_zero() < before) {
        errors.invalid_number(&count, "cannot be decremented");
    }
}

/// `ValidateDaemonSetStatusUpdate`.
pub(in crate::builtin) fn daemon_set_status(new: &Value, old: &Value) -> Vec<Cause> {
    Errors::of(|errors| {
        let counts = [
            "currentNumberScheduled",
            "numberMisscheduled",
            "desiredNumberScheduled",
            "numberReady",
            "observedGeneration",
            "updatedNumberScheduled",
            "numberAvailable",
            "numberUnavailable",
            "collisionCount",
        ];
        let status = Field::root(new).child("status");
        errors.none_negative(&status, &counts);
        collisions(&status, old, errors);
    })
}

/// `ValidatePodDisruptionBudgetStatusUpdate`.
pub(in crate::builtin) fn disruption_budget_status(new: &Value, _: &Value) -> Vec<Cause> {
    Errors::of(|errors| {
        let status = Field::root(new).child("status");
        conditions(&status.child("conditions"), errors);
        errors.none_negative(
            &status,
            &["disruptionsAllowed", "currentHealthy", "desiredHealthy", "expectedPods"],
        );
    })
}

const LONGEST_REASON: usize = 1024;
const LONGEST_MESSAGE: usize = 32 * 1024;

/// `ValidateConditions` of apimachinery's pkg/apis/meta/v1/validation.
pub(super) fn conditions(list: &Field<'_>, errors: &mut Errors) {
    let mut seen: Vec<&str> = Vec::new();
    for condition in list.items() {
        let type_ = condition.child("type");
        if seen.contains(&type_.text()) {
            errors.duplicate_as(&type_, &quoted(type_.text()));
        }
        seen.push(type_.text());
        errors.qualified_name(&type_);
        errors.text_of(&condition.child("status"), &["False", "True", "Unknown"]);
        let generation = condition.child("observedGeneration");
        if generation.number_or_zero() < 0 {
            errors.invalid(&generation, "must be greater than or equal to zero");
        }
        if !condition.child("lastTransitionTime").is_set() {
            errors.required(&condition.child("lastTransitionTime"), "");
        }
        reason(&condition.child("reason"), errors);
        let message = condition.child("message");
        if message.text().len() > LONGEST_MESSAGE {
            errors.too_long(&message.path, LONGEST_MESSAGE);
        }
    }
}

fn reason(reason: &Field<'_>, errors: &mut Errors) {
    let text = reason.text().as_bytes();
    let (Some(first), Some(last)) = (text.first(), text.last()) else {
        errors.required(reason, "");
        return;
    };
    let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
    let is_valid = first.is_ascii_alphabetic()
        && is_word(last)
        && text.iter().all(|byte| is_word(byte) || matches!(byte, b',' | b':'));
    if !is_valid {
        let detail = "a condition reason must start with alphabetic character, optionally followed by a string of \
                      alphanumeric characters or '_,:', and must end with an alphanumeric character or '_' (e.g. 'my_name',  \
                      or 'MY_NAME',  or 'MyName',  or 'ReasonA,ReasonB',  or 'ReasonA:ReasonB', regex used for validation \
                      is '[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?')";
        errors.invalid(reason, detail);
    }
    if text.len() > LONGEST_REASON {
        errors.too_long(&reason.path, LONGEST_REASON);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn fields(causes: Vec<Cause>) -> Vec<String> {
        causes.into_iter().map(|cause| cause.field).collect()
    }

    #[test]
    fn status_counts_are_bounded_by_replicas() {
        let status = |status: Value| {
            fields(replicas_status(&json!({"kind": "Deployment", "status": status}), &json!({})))
        };
        assert!(status(json!({"replicas": 2, "readyReplicas": 2})).is_empty());
        assert_eq!(status(json!({"replicas": 1, "readyReplicas": 2})), ["status.readyReplicas"]);
        // The missing counts are 0, which is more than -1: `ValidateDeploymentStatus` reports them too.
        assert_eq!(
            status(json!({"replicas": -1})),
            ["status.replicas", "status.updatedReplicas", "status.readyReplicas", "status.availableReplicas"]
        );
    }

    #[test]
    fn number_of_collisions_does_not_fall() {
        let with = |count: i64| json!({"kind": "Deployment", "status": {"collisionCount": count}});
        assert_eq!(fields(replicas_status(&with(1), &with(2))), ["status.collisionCount"]);
        assert_eq!(fields(daemon_set_status(&with(1), &with(2))), ["status.collisionCount"]);
        assert!(replicas_status(&with(2), &with(2)).is_empty());
    }

    #[test]
    fn conditions_of_budgets_are_complete_and_counts_positive() {
        let status = |status: Value| fields(disruption_budget_status(&json!({"status": status}), &json!({})));
        let whole = json!({"type": "A", "status": "True", "reason": "R", "lastTransitionTime": "t"});
        assert!(status(json!({"conditions": [whole], "currentHealthy": 1})).is_empty());
        assert_eq!(status(json!({"expectedPods": -1})), ["status.expectedPods"]);
        assert_eq!(
            status(json!({"conditions": [whole, {"type": "A", "status": "x", "reason": "1"}]})),
            ["type", "status", "lastTransitionTime", "reason"]
                .map(|field| format!("status.conditions[1].{field}"))
        );
    }
}
