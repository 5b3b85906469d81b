//! Comparisons of filters: those of Go's text/template, which compares values of one type only.

use std::cmp::Ordering;

use serde_json::Value;

use super::parse::Operator;
use super::{EvaluateError, Found};

enum Basic<'a> {
    Bool(bool),
    Int(i64),
    Float(f64),
    String(&'a str),
}

/// Reports whether the comparison of `left` with `right` holds.
pub(super) fn holds(left: Found<'_>, operator: &Operator, right: Found<'_>) -> Result<bool, EvaluateError> {
    if let Operator::Unknown(text) = operator {
        return Err(EvaluateError::UnknownOperator(text.clone()));
    }
    let (left, right) = (basic(left)?, basic(right)?);
    let (ordering, is_ordered) = match (left, right) {
        (Basic::Bool(left), Basic::Bool(right)) => (Some(left.cmp(&right)), false),
        (Basic::Int(left), Basic::Int(right)) => (Some(left.cmp(&right)), true),
        (Basic::Float(left), Basic::Float(right)) => (left.partial_cmp(&right), true),
        (Basic::String(left), Basic::String(right)) => (Some(left.cmp(right)), true),
        _ => return Err(EvaluateError::Incomparable),
    };
    let is_equal = ordering == Some(Ordering::Equal);
    let is_less = ordering == Some(Ordering::Less);
    match operator {
        Operator::Equal => return Ok(is_equal),
        Operator::NotEqual => return Ok(!is_equal),
        _ if !is_ordered => return Err(EvaluateError::Incomparable),
        _ => {}
    }
    Ok(match operator {
        Operator::Less => is_less,
        Operator::LessEqual => is_less || is_equal,
        Operator::Greater => !(is_less || is_equal),
        _ => !is_less,
    })
}

fn basic(found: Found<'_>) -> Result<Basic<'_>, EvaluateError> {
    Ok(match found {
        Found::Bool(value) | Found::Value(&Value::Bool(value)) => Basic::Bool(value),
        Found::Int(value) => Basic::Int(value),
        // Go compares integers of any size and sign.
        Found::Byte(value) => Basic::Int(value.into()),
        Found::Float(value) => Basic::Float(value),
        Found::Text(text) => Basic::String(text),
        Found::Value(Value::String(text)) => Basic::String(text),
        Found::Value(Value::Number(number)) => match number.as_i64() {
            Some(value) => Basic::Int(value),
            None => Basic::Float(number.as_f64().unwrap_or(f64::NAN)),
        },
        Found::Value(Value::Null | Value::Array(_) | Value::Object(_)) => {
            return Err(EvaluateError::Incomparable);
        }
    })
}
