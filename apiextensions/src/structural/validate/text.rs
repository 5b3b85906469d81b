//! Strings: length, pattern and format.

use super::Outcome;
use super::size::check_size;
use super::types::type_fault;
use crate::formats;
use crate::schema::{Measure, Schema};
use crate::structural::cause::Cause;

pub(super) fn check_string(schema: &Schema, path: &str, text: &str) -> Outcome {
    let sizes = check_size(Measure::Characters, schema, path, || text.chars().count(), || text.into());
    // The server checks the greatest length first and reports one error only.
    if let Some(cause) = sizes.into_iter().next_back() {
        return Outcome::fault(cause);
    }
    if let Some(pattern) = &schema.pattern {
        let source = pattern.source();
        let wanted = match pattern.is_match(text) {
            Ok(true) => return Outcome::default(),
            Ok(false) => source.to_owned(),
            Err(error) => format!("{source}, but pattern is invalid: {error}"),
        };
        let detail = format!("{path} in body should match '{wanted}'");
        return Outcome::fault(Cause::invalid(path, text, detail));
    }
    Outcome::default()
}

pub(super) fn check_format(schema: &Schema, path: &str, text: &str) -> Outcome {
    match formats::validates(schema.format_name(), text) {
        true => Outcome::default(),
        false => type_fault(path, schema.format_name(), text),
    }
}
