//! The policies for failed pods and for the success of a job. Source: `pkg/apis/batch/validation`.

use serde_json::Value;

use super::field::{Errors, Field};
use crate::names::quoted;

const MOST_RULES: usize = 20;
const MOST_CONDITIONS: usize = 20;
const MOST_EXIT_CODES: usize = 255;
const ACTIONS: [&str; 4] = ["Count", "FailIndex", "FailJob", "Ignore"];
const OPERATORS: [&str; 2] = ["In", "NotIn"];
const STATUSES: [&str; 3] = ["False", "True", "Unknown"];

/// `validatePodFailurePolicy`.
pub(super) fn pod_failure(spec: &Field<'_>, errors: &mut Errors) {
    let rules = spec.child("podFailurePolicy").child("rules");
    errors.at_most(&rules, MOST_RULES);
    let pods = spec.child("template").child("spec");
    let containers: Vec<&str> = ["containers", "initContainers"]
        .iter()
        .flat_map(|list| pods.child(list).items().map(|container| container.child("name").text()))
        .collect();
    for rule in rules.items() {
        let action = rule.child("action");
        if action.text() == "FailIndex" {
            if !spec.child("backoffLimitPerIndex").is_set() {
                errors.invalid(&action, "requires the backoffLimitPerIndex to be set");
            }
        } else {
            one_of(&action, &ACTIONS, errors);
        }
        let (codes, conditions) = (rule.child("onExitCodes"), rule.child("onPodConditions"));
        if codes.is_set() {
            exit_codes(&codes, &containers, errors);
        }
        errors.at_most(&conditions, MOST_CONDITIONS);
        for condition in conditions.items() {
            errors.qualified_name(&condition.child("type"));
            one_of(&condition.child("status"), &STATUSES, errors);
        }
        match (codes.is_set(), conditions.is_empty()) {
            (true, false) => {
                errors
                    .invalid_whole(&rule, "specifying both OnExitCodes and OnPodConditions is not supported");
            }
            (false, true) => {
                errors.invalid_whole(&rule, "specifying one of OnExitCodes and OnPodConditions is required");
            }
            _ => {}
        }
    }
}

/// Checks an enumeration; if it is absent, the message lists its values.
fn one_of(field: &Field<'_>, supported: &[&str], errors: &mut Errors) {
    if field.is_empty() {
        let list: Vec<String> = supported.iter().map(|value| quoted(value)).collect();
        errors.required(field, &format!("valid values: [{}]", list.join(" ")));
    } else if !supported.contains(&field.text()) {
        errors.not_supported(field, supported);
    }
}

fn exit_codes(codes: &Field<'_>, containers: &[&str], errors: &mut Errors) {
    let operator = codes.child("operator");
    one_of(&operator, &OPERATORS, errors);
    let container = codes.child("containerName");
    if container.is_set() && !containers.contains(&container.text()) {
        errors.invalid(&container, "must be one of the container or initContainer names in the pod template");
    }
    let values = codes.child("values");
    if values.is_empty() {
        errors.invalid(&values, "at least one value is required");
    }
    errors.at_most(&values, MOST_EXIT_CODES);
    let mut seen: Vec<i64> = Vec::new();
    for value in values.items() {
        let code = value.number_or_zero();
        if operator.text() == "In" && code == 0 {
            errors.invalid(&value, "must not be 0 for the In operator");
        }
        if seen.contains(&code) {
            errors.duplicate(&value);
        }
        seen.push(code);
    }
    if !seen.is_sorted() {
        errors.invalid(&values, "must be ordered");
    }
}

/// `validateSuccessPolicy`, for an indexed job.
pub(super) fn success(spec: &Field<'_>, errors: &mut Errors) {
    let rules = spec.child("successPolicy").child("rules");
    if rules.is_empty() {
        errors.required(&rules, "at least one rules must be specified when the successPolicy is specified");
    }
    errors.at_most(&rules, MOST_RULES);
    let completions = spec.child("completions").number_or_zero();
    for rule in rules.items() {
        let (count, indexes) = (rule.child("succeededCount"), rule.child("succeededIndexes"));
        if !count.is_set() && !indexes.is_set() {
            let detail = "at least one of succeededCount or succeededIndexes must be specified";
            errors.required(&rule, detail);
        }
        let total = match number_of_indexes(indexes.text(), completions) {
            Ok(total) => total,
            Err(why) => {
                errors.invalid(&indexes, &format!("error parsing succeededIndexes: {why}"));
                0
            }
        };
        errors.not_negative(&count);
        let mut limit = |most: i64, of: &str| {
            if count.number_or_zero() > most {
                errors.invalid(&count, &format!("must be less than or equal to {most} (the number of {of})"));
            }
        };
        limit(completions, "specified completions");
        if indexes.is_set() {
            limit(total, "indexes in the specified succeededIndexes field");
        }
    }
}

/// `validateIndexesFormat`: returns the number of indexes in a text such as `0,2-4`.
fn number_of_indexes(text: &str, completions: i64) -> Result<i64, String> {
    let index = |text: &str| -> Result<i64, String> {
        let fault = |what: &str| format!("{what}: {}", quoted(text));
        let index: i64 = text.parse().map_err(|_| fault("cannot convert string to integer for index"))?;
        if index < completions { Ok(index) } else { Err(fault("too large index")) }
    };
    let (mut total, mut last) = (0, None);
    for interval in text.split(',').filter(|_| !text.is_empty()) {
        let limits: Vec<&str> = interval.split('-').collect();
        let (first, end) = match limits.as_slice() {
            [one] => (index(one)?, None),
            [first, end] => (index(first)?, Some(index(end)?)),
            _ => {
                return Err(format!(
                    "the fragment {} violates the requirement that an index interval can have at most two parts separated by '-'",
                    quoted(interval)
                ));
            }
        };
        for (before, now) in [(end.map(|_| first), end), (last, Some(first))] {
            if let (Some(before), Some(now)) = (before, now)
                && before >= now
            {
                return Err(format!("non-increasing order, previous: {before}, current: {now}"));
            }
        }
        let end = end.unwrap_or(first);
        total += end - first + 1;
        last = Some(end);
    }
    Ok(total)
}

/// Go's names of the internal `SuccessPolicy`.
pub(super) fn success_policy_in_go(policy: &Value) -> String {
    let number = |value: &Value| value.to_string();
    let rules: Vec<String> = policy["rules"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|rule| {
            let (indexes, count) = (number(&rule["succeededIndexes"]), number(&rule["succeededCount"]));
            format!("{{\"SucceededIndexes\":{indexes},\"SucceededCount\":{count}}}")
        })
        .collect();
    let rules = if policy["rules"].is_array() { format!("[{}]", rules.join(",")) } else { "null".to_owned() };
    format!("{{\"Rules\":{rules}}}")
}

#[cfg(test)]
mod tests {
    use super::number_of_indexes;

    #[test]
    fn indexes_are_counted_in_increasing_order() {
        assert_eq!(number_of_indexes("", 3), Ok(0));
        assert_eq!(number_of_indexes("0,2-4", 5), Ok(4));
        assert_eq!(number_of_indexes("5", 5), Err("too large index: \"5\"".to_owned()));
        assert_eq!(
            number_of_indexes("2,1", 5),
            Err("non-increasing order, previous: 2, current: 1".to_owned())
        );
        let odd = number_of_indexes("a", 5);
        assert_eq!(odd, Err("cannot convert string to integer for index: \"a\"".to_owned()));
    }
}
