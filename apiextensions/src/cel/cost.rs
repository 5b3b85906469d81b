//! What a call costs when it runs. Source: cel-go's runtime costs and the cost estimator of Kubernetes.

use super::value::{Value, compare_numbers};

/// The cost of a character of a string that is walked along.
const TRAVERSAL: f64 = 0.1;
/// The cost of asking an authorizer. Source: the cost estimator of Kubernetes.
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

/// Walking along everything in a value.
fn traversal(value: &Value, depth: usize) -> u64 {
    match value {
        Value::List(list) if depth < 64 => list.items.iter().map(|item| traversal(item, depth + 1)).sum(),
        Value::String(_) | Value::Bytes(_) => scaled(value.size(), TRAVERSAL),
        Value::Map(map) if depth < 64 => map.values().map(|value| traversal(value, depth + 1) + 1).sum(),
        Value::Object(fields) if depth < 64 => {
            fields.values().map(|value| traversal(value, depth + 1) + 1).sum()
        }
        _ => 1,
    }
}

/// The cost of one call with these arguments, the receiver first.
pub(super) fn call_cost(function: &str, args: &[Value]) -> u64 {
    let size = |i: usize| args.get(i).map_or(1, Value::size);
    match function {
        "isSorted"
        | "sum"
        | "max"
        | "min"
        | "indexOf"
        | "lastIndexOf"
        | "sort"
        | "distinct"
        | "reverse"
        | "flatten"
        | "slice"
        | "@sortByAssociatedKeys" => args.first().map_or(1, |list| traversal(list, 0)),
        "url" | "lowerAscii" | "upperAscii" | "substring" | "trim" | "cidr" | "isIP" | "isCIDR" | "ip"
        | "quantity" | "isQuantity" | "semver" | "isSemver" | "isURL" | "format" => {
            scaled(size(0), TRAVERSAL)
        }
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
        "sets.contains" | "sets.equivalent" | "sets.intersects" => {
            size(0).saturating_mul(size(1)).saturating_add(1)
        }
        "_==_" | "_!=_" | "_<_" | "_<=_" | "_>_" | "_>=_" => match (args.first(), args.get(1)) {
            (Some(a), Some(b)) if compare_numbers(a, b).is_none() => {
                scaled(size(0).min(size(1)), TRAVERSAL).max(1)
            }
            _ => 1,
        },
        "lists.range" => match args.first() {
            Some(Value::Int(n)) => u64::try_from(*n).unwrap_or(1).max(1),
            _ => 1,
        },
        _ => 1,
    }
}
