//! Numbers: bounds, factors and the ranges of formats.

use serde_json::{Number, Value};

use super::Outcome;
use crate::schema::{Number as Bound, Schema};
use crate::structural::cause::Cause;
use crate::structural::golang;

/// A number as the server holds it: an int64 or a float64.
#[derive(Clone, Copy)]
enum Num {
    Int(i64),
    Float(f64),
}

impl Num {
    fn of(number: &Number) -> Self {
        match number.as_i64() {
            Some(i) => Self::Int(i),
            None => Self::Float(number.as_f64().unwrap_or(f64::NAN)),
        }
    }

    /// A bound, seen as the kind of number that it is compared with (Go converts by truncation).
    #[expect(clippy::cast_possible_truncation, reason = "the server truncates bounds of integers as well")]
    fn like(self, bound: f64) -> Self {
        match self {
            Self::Int(_) => Self::Int(bound as i64),
            Self::Float(_) => Self::Float(bound),
        }
    }

    fn less(self, other: Self) -> bool {
        match (self, other) {
            (Self::Int(a), Self::Int(b)) => a < b,
            (a, b) => a.float() < b.float(),
        }
    }

    #[expect(clippy::cast_precision_loss, reason = "only mixed kinds are compared as floats")]
    fn float(self) -> f64 {
        match self {
            Self::Int(i) => i as f64,
            Self::Float(f) => f,
        }
    }

    fn value(self) -> Value {
        match self {
            Self::Int(i) => i.into(),
            Self::Float(f) => f.into(),
        }
    }

    fn text(self) -> String {
        match self {
            Self::Int(i) => i.to_string(),
            Self::Float(f) => golang::float(f),
        }
    }
}

pub(super) fn check_number(schema: &Schema, path: &str, number: &Number) -> Outcome {
    let mut outcome = Outcome::default();
    let value = Num::of(number);
    let fault = |value: Num, detail: String| Cause::invalid(path, value.value(), detail);
    if let Some(detail) = out_of_range(schema, path, "Checked", value) {
        outcome.add(Cause::invalid("", "", detail));
    }
    if let Some(factor) = &schema.multiple_of {
        let (value, factor) = comparable(schema, path, "MultipleOf", (value, factor.float()), &mut outcome);
        if !factor.float().is_nan() && factor.float() <= 0.0 {
            let detail = format!("factor MultipleOf declared for {path} must be positive: {}", factor.text());
            outcome.add(Cause::invalid(path, factor.float(), detail));
        } else if !is_multiple(value, factor) {
            outcome.add(fault(value, format!("{path} in body should be a multiple of {}", factor.text())));
        }
    }
    if let Some(min) = &schema.minimum {
        let pair = (value, min.float());
        let (value, bound) = comparable(schema, path, "Minimum boundary", pair, &mut outcome);
        if value.less(bound) || (schema.exclusive_minimum && !bound.less(value)) {
            let what = if schema.exclusive_minimum { "greater than" } else { "greater than or equal to" };
            outcome.add(fault(value, format!("{path} in body should be {what} {}", bound.text())));
        }
    }
    if let Some(max) = &schema.maximum {
        let pair = (value, max.float());
        let (value, bound) = comparable(schema, path, "Maximum boundary", pair, &mut outcome);
        if bound.less(value) || (schema.exclusive_maximum && !value.less(bound)) {
            let what = if schema.exclusive_maximum { "less than" } else { "less than or equal to" };
            outcome.add(fault(value, format!("{path} in body should be {what} {}", bound.text())));
        }
    }
    outcome.passed += 1;
    outcome
}

/// A value and the number of a keyword, as they are compared. A keyword whose number the type does not have refuses every
/// value, and is compared as a float (`numberValidator` of kube-openapi's pkg/validation/validate/validator.go).
fn comparable(
    schema: &Schema,
    path: &str,
    keyword: &str,
    (value, number): (Num, f64),
    outcome: &mut Outcome,
) -> (Num, Num) {
    match out_of_range(schema, path, keyword, Num::Float(number)) {
        None => (value, value.like(number)),
        Some(detail) => {
            outcome.add(Cause::invalid("", "", detail));
            (Num::Float(value.float()), Num::Float(number))
        }
    }
}

fn is_multiple(value: Num, factor: Num) -> bool {
    match (value, factor) {
        (Num::Int(v), Num::Int(f)) => f != 0 && v.checked_rem(f).unwrap_or(0) == 0,
        (v, f) => {
            let (v, f) = (v.float(), f.float());
            let quotient = if f < 1.0 { 1.0 / f * v } else { v / f };
            is_json_integer(quotient)
        }
    }
}

/// Reports whether a float represents an integer within the exact range of floats, within rounding. Source:
/// `IsFloat64AJSONInteger` of go-openapi/swag.
pub(super) fn is_json_integer(value: f64) -> bool {
    const MAX_EXACT: f64 = 9_007_199_254_740_991.0;
    if !value.is_finite() || value.abs() > MAX_EXACT {
        return false;
    }
    let near = value.round();
    value == near || (value - near).abs() / (value.abs() + near.abs()).max(f64::MIN_POSITIVE) < 1e-9
}

/// Returns a keyword whose number is out of the range of the type, and the number: a server refuses every number then.
#[must_use]
pub fn keyword_out_of_range(schema: &Schema) -> Option<(&'static str, &Bound)> {
    [("minimum", &schema.minimum), ("maximum", &schema.maximum), ("multipleOf", &schema.multiple_of)]
        .into_iter()
        .filter_map(|(keyword, bound)| Some((keyword, bound.as_ref()?)))
        .find(|(_, bound)| out_of_range(schema, "", "", Num::Float(bound.float())).is_some())
}

/// The range check of `int32`, `int64` and `float`; only if the type is unambiguous (`IsValueValidAgainstRange` of
/// kube-openapi's pkg/validation/validate/values.go).
#[expect(clippy::cast_possible_truncation, reason = "the cast is what is checked")]
fn out_of_range(schema: &Schema, path: &str, what: &str, value: Num) -> Option<String> {
    if schema.int_or_string {
        return None;
    }
    let fits = match (schema.type_name(), schema.format_name(), value) {
        ("integer", "int32", Num::Int(i)) => i32::try_from(i).is_ok(),
        ("integer", _, Num::Int(_)) => true,
        // The text has the shortest digits and zeros after them: -2^63 is -9223372036854776000, which is out of range.
        ("integer", "int32", Num::Float(f)) => f.to_string().parse::<i32>().is_ok(),
        ("integer", _, Num::Float(f)) => f.to_string().parse::<i64>().is_ok(),
        ("number", "float", value) => (value.float() as f32).is_finite(),
        _ => true,
    };
    let type_ = schema.type_name();
    match (fits, schema.format_name()) {
        (true, _) => None,
        (false, "") => Some(format!("{what} value must be of type {type_} (default format) in {path}")),
        (false, format) => {
            Some(format!("{what} value must be of type {type_} with format {format} in {path}"))
        }
    }
}
