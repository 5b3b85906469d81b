//! The cost of a call at run time. Source: cel-go's runtime costs and the cost estimator of Kubernetes.

use super::eval::LIST_COST;
use super::value::{Value, compare_numbers, is_visible};

/// The cost of traversing a character of a string.
const TRAVERSAL: f64 = 0.1;
/// The cost of an authorizer check. Source: the cost estimator of Kubernetes.
const AUTHORIZATION: u64 = 350_000;
/// The cost of a character of a regular expression.
const REGEX: f64 = 0.25;

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    reason = "costs are not negative and estimates"
)]
fn scaled(size: u64, factor: f64) -> u64 {
    (size as f64 * factor).ceil() as u64
}

/// The cost of traversing a value.
fn traversal(value: &Value, depth: usize) -> u64 {
    match value {
        Value::List(list) if depth < 64 => list.items.iter().map(|item| traversal(item, depth + 1)).sum(),
        Value::String(_) | Value::Bytes(_) => scaled(value.size(), TRAVERSAL),
        Value::Map(map) if depth < 64 => map.values().map(|value| traversal(value, depth + 1) + 1).sum(),
        // The iterator gives no value of a hidden field.
        Value::Object(fields) if depth < 64 => {
            let cost = |(name, value): (&String, &Value)| match is_visible(name) {
                true => traversal(value, depth + 1) + 1,
                false => 2,
            };
            fields.iter().map(cost).sum()
        }
        _ => 1,
    }
}

/// The cost of a function that returns a list.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    reason = "costs are not negative and estimates"
)]
fn allocating(size: u64, factor: f64) -> u64 {
    ((size as f64 * factor) as u64).saturating_add(1 + LIST_COST)
}

/// The cost of comparing all items of a list with each other.
fn ordering(list: &Value) -> u64 {
    let text =
        matches!(list, Value::List(l) if matches!(l.items.first(), Some(Value::String(_) | Value::Bytes(_))));
    let size = list.size();
    allocating(size.saturating_mul(size), if text { 2.0 + TRAVERSAL } else { 2.0 })
}

/// The depth to which `flatten` goes.
#[expect(clippy::cast_precision_loss, reason = "an estimate")]
fn depth(value: &Value) -> f64 {
    number(value) as f64
}

/// The value of an int, at least zero.
fn number(value: &Value) -> u64 {
    match value {
        Value::Int(value) => u64::try_from(*value).unwrap_or(0),
        _ => 0,
    }
}

/// The cost of one call with these arguments, the receiver first.
pub(super) fn call_cost(function: &str, args: &[Value]) -> u64 {
    let size = |i: usize| args.get(i).map_or(1, Value::size);
    match function {
        "isSorted" | "sum" | "max" | "min" | "indexOf" | "lastIndexOf" => {
            args.first().map_or(1, |list| traversal(list, 0))
        }
        "sort" | "distinct" | "@sortByAssociatedKeys" => args.last().map_or(1, ordering),
        "reverse" => allocating(size(0), 1.0),
        "flatten" => allocating(size(0), args.get(1).map_or(1.0, depth)),
        "slice" => {
            allocating(args.get(2).map_or(0, number).saturating_sub(args.get(1).map_or(0, number)), 1.0)
        }
        "url"
        | "lowerAscii"
        | "upperAscii"
        | "substring"
        | "trim"
        | "jsonpatch.escapeKey"
        | "cidr"
        | "isIP"
        | "isCIDR"
        | "ip"
        | "quantity"
        | "isQuantity"
        | "semver"
        | "isSemver"
        | "isURL"
        | "format" => scaled(size(0), TRAVERSAL),
        "replace" | "split" | "ip.isCanonical" => scaled(size(0), 2.0 * TRAVERSAL),
        "join" => args.first().map_or(1, |list| 2 * traversal(list, 0)),
        "find" | "findAll" | "matches" => {
            scaled(size(0).saturating_add(1), TRAVERSAL).saturating_mul(scaled(size(1), REGEX))
        }
        "contains" => scaled(size(0), TRAVERSAL).saturating_mul(scaled(size(1), TRAVERSAL)),
        "check" if matches!(args.first(), Some(Value::Question(_))) => AUTHORIZATION,
        "startsWith" | "endsWith" => scaled(size(1), TRAVERSAL),
        "validate" => scaled(size(1).saturating_add(1), TRAVERSAL).saturating_mul(32),
        "@in" => match args.get(1) {
            Some(list @ Value::List(_)) => list.size(),
            _ => 1,
        },
        "_+_" => match (args.first(), args.get(1)) {
            (Some(Value::String(_) | Value::Bytes(_)), _) => {
                scaled(size(0).saturating_add(size(1)), TRAVERSAL)
            }
            _ => 1,
        },
        "sets.contains" | "sets.intersects" => size(0).saturating_mul(size(1)).saturating_add(1),
        "sets.equivalent" => size(0).saturating_mul(size(1)).saturating_mul(2).saturating_add(1),
        "_==_" | "_!=_" | "_<_" | "_<=_" | "_>_" | "_>=_" => match (args.first(), args.get(1)) {
            (Some(a), Some(b)) if compare_numbers(a, b).is_none() => {
                scaled(size(0).min(size(1)), TRAVERSAL).max(1)
            }
            _ => 1,
        },
        "lists.range" => allocating(args.first().map_or(0, number), 1.0),
        _ => 1,
    }
}
