//! `allOf`, `anyOf`, `oneOf` and `not`.

use serde_json::Value;

use super::{Outcome, check};
use crate::schema::Schema;
use crate::structural::cause::Cause;
use crate::structural::golang;

pub(super) fn check_junctors(schema: &Schema, path: &str, value: &Value) -> Outcome {
    let mut outcome = Outcome::default();
    let plain = |detail: String| Cause::invalid("", "", detail);
    check_any_of(schema, path, value, &mut outcome);
    check_one_of(schema, path, value, &mut outcome);
    let mut failed = 0;
    for branch in &schema.all_of {
        let result = check(branch, path, value, None);
        failed += usize::from(!result.causes.is_empty());
        outcome.merge(result);
    }
    if failed > 0 {
        let none = if failed == schema.all_of.len() { ". None validated" } else { "" };
        let path = golang::quote(path);
        outcome.add(plain(format!("{path} must validate all the schemas (allOf){none}")));
    }
    if let Some(not) = &schema.not
        && check(not, path, value, None).causes.is_empty()
    {
        outcome.add(plain(format!("{} must not validate the schema (not)", golang::quote(path))));
    }
    outcome.passed += 1;
    outcome
}

fn check_any_of(schema: &Schema, path: &str, value: &Value, outcome: &mut Outcome) {
    let mut best: Option<Outcome> = None;
    for branch in &schema.any_of {
        let result = check(branch, path, value, None);
        if result.causes.is_empty() {
            outcome.merge(result);
            return;
        }
        if best.as_ref().is_none_or(|best| result.passed > best.passed) {
            best = Some(result);
        }
    }
    if let Some(best) = best {
        let detail = format!("{} must validate at least one schema (anyOf)", golang::quote(path));
        outcome.add(Cause::invalid("", "", detail));
        outcome.merge(best);
    }
}

fn check_one_of(schema: &Schema, path: &str, value: &Value, outcome: &mut Outcome) {
    let (mut valid, mut first, mut best) = (0, None, None::<Outcome>);
    for branch in &schema.one_of {
        let result = check(branch, path, value, None);
        if result.causes.is_empty() {
            valid += 1;
            best = None;
            first = first.or(Some(result));
        } else if valid == 0 && best.as_ref().is_none_or(|best| result.passed > best.passed) {
            best = Some(result);
        }
    }
    if schema.one_of.is_empty() {
        return;
    }
    if let (1, Some(first)) = (valid, first) {
        outcome.merge(first);
        return;
    }
    let found = match valid {
        0 => "Found none valid".to_owned(),
        n => format!("Found {n} valid alternatives"),
    };
    let path = golang::quote(path);
    outcome.add(Cause::invalid(
        "",
        "",
        format!("{path} must validate one and only one schema (oneOf). {found}"),
    ));
    if let Some(best) = best {
        outcome.merge(best);
    }
}
