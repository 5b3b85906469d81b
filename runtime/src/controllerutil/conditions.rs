//! Conditions of a status: a list with the type as key.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, Time};
use k8s_openapi::jiff::Timestamp;

/// Makes a condition that changed at `now`. `status` is `True` or `False`; build [`Condition`] directly for
/// `Unknown`.
pub fn condition(
    condition_type: impl Into<String>,
    status: bool,
    reason: impl Into<String>,
    message: impl Into<String>,
    now: Timestamp,
) -> Condition {
    Condition {
        type_: condition_type.into(),
        status: if status { "True" } else { "False" }.to_owned(),
        reason: reason.into(),
        message: message.into(),
        observed_generation: None,
        last_transition_time: Time(now),
    }
}

/// Adds `new`, or updates the condition of its type; returns whether anything changed. The transition time only
/// changes with the status.
///
/// ```
/// use k8s_openapi::jiff::Timestamp;
/// use kubesmith_runtime::controllerutil::{condition, is_status_condition_true, set_status_condition};
///
/// let mut conditions = Vec::new();
/// let ready = condition("Ready", true, "AllThere", "3 of 3", Timestamp::UNIX_EPOCH);
/// assert!(set_status_condition(&mut conditions, ready.clone()));
/// assert!(!set_status_condition(&mut conditions, ready));
/// assert!(is_status_condition_true(&conditions, "Ready"));
/// ```
pub fn set_status_condition(conditions: &mut Vec<Condition>, mut new: Condition) -> bool {
    let Some(known) = conditions.iter_mut().find(|known| known.type_ == new.type_) else {
        conditions.push(new);
        return true;
    };
    if known.status == new.status {
        new.last_transition_time = known.last_transition_time.clone();
    }
    let changed = *known != new;
    *known = new;
    changed
}

/// Removes the condition of this type; returns whether there was one.
pub fn remove_status_condition(conditions: &mut Vec<Condition>, condition_type: &str) -> bool {
    let before = conditions.len();
    conditions.retain(|known| known.type_ != condition_type);
    conditions.len() != before
}

/// Returns the condition of this type.
pub fn find_status_condition<'c>(conditions: &'c [Condition], condition_type: &str) -> Option<&'c Condition> {
    conditions.iter().find(|known| known.type_ == condition_type)
}

/// Reports whether the condition of this type exists and is `True`.
pub fn is_status_condition_true(conditions: &[Condition], condition_type: &str) -> bool {
    find_status_condition(conditions, condition_type).is_some_and(|known| known.status == "True")
}

/// Reports whether the condition of this type exists and is `False`.
pub fn is_status_condition_false(conditions: &[Condition], condition_type: &str) -> bool {
    find_status_condition(conditions, condition_type).is_some_and(|known| known.status == "False")
}

/// Reports whether the condition of this type exists and has this status: `True`, `False` or `Unknown`.
///
/// ```
/// use k8s_openapi::jiff::Timestamp;
/// use kubesmith_runtime::controllerutil::{condition, is_status_condition_present_and_equal};
///
/// let conditions = [condition("Ready", false, "Waiting", "1 of 3", Timestamp::UNIX_EPOCH)];
/// assert!(is_status_condition_present_and_equal(&conditions, "Ready", "False"));
/// assert!(!is_status_condition_present_and_equal(&conditions, "Live", "False"));
/// ```
pub fn is_status_condition_present_and_equal(
    conditions: &[Condition],
    condition_type: &str,
    status: &str,
) -> bool {
    find_status_condition(conditions, condition_type).is_some_and(|known| known.status == status)
}
