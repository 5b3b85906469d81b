//! Lists and sets.

use std::cmp::Ordering;

use super::{Called, items, no_overload};
use crate::cel::value::{Value, compare, equal};

pub(super) fn call(function: &str, args: &[Value]) -> Called {
    args.iter().try_for_each(Value::readable)?;
    match (function, args) {
        ("lists.range", [Value::Int(n)]) => range(*n),
        ("sets.contains", [a, b]) => Ok(Value::Bool(all_in(items(b)?, items(a)?))),
        ("sets.equivalent", [a, b]) => {
            Ok(Value::Bool(all_in(items(b)?, items(a)?) && all_in(items(a)?, items(b)?)))
        }
        ("sets.intersects", [a, b]) => {
            let b = items(b)?;
            Ok(Value::Bool(items(a)?.iter().any(|item| b.iter().any(|other| equal(item, other)))))
        }
        (_, [list, rest @ ..]) => of_list(function, items(list)?, rest),
        _ => no_overload(),
    }
}

/// The greatest length of a list from `lists.range`.
const MAX_RANGE: i64 = 1_000_000;

fn range(n: i64) -> Called {
    match n {
        0.. if n <= MAX_RANGE => Ok(Value::list((0..n).map(Value::Int).collect())),
        ..0 => Ok(Value::list(Vec::new())),
        _ => Err(format!("lists.range() size limit exceeded: {n}")),
    }
}

fn all_in(inner: &[Value], outer: &[Value]) -> bool {
    inner.iter().all(|item| outer.iter().any(|other| equal(item, other)))
}

fn of_list(function: &str, list: &[Value], rest: &[Value]) -> Called {
    match (function, rest) {
        ("isSorted", []) => Ok(Value::Bool(
            list.windows(2).all(|pair| compare(&pair[0], &pair[1]).is_none_or(Ordering::is_le)),
        )),
        ("sum", []) => sum(list),
        ("max", []) => extreme(list, "max", Ordering::Greater),
        ("min", []) => extreme(list, "min", Ordering::Less),
        ("indexOf", [item]) => Ok(place(list.iter().position(|other| equal(item, other)))),
        ("lastIndexOf", [item]) => Ok(place(list.iter().rposition(|other| equal(item, other)))),
        ("slice", [Value::Int(start), Value::Int(end)]) => slice(list, *start, *end),
        ("flatten", []) => flatten(list, 1),
        ("flatten", [Value::Int(depth)]) => flatten(list, *depth),
        ("distinct", []) => {
            let mut seen: Vec<Value> = Vec::new();
            for item in list {
                if !seen.iter().any(|other| equal(item, other)) {
                    seen.push(item.clone());
                }
            }
            Ok(Value::list(seen))
        }
        ("reverse", []) => Ok(Value::list(list.iter().rev().cloned().collect())),
        ("first", []) => Ok(list.first().map_or(Value::Optional(None), |v| Value::some(v.clone()))),
        ("last", []) => Ok(list.last().map_or(Value::Optional(None), |v| Value::some(v.clone()))),
        ("sort", []) => sort(list, list),
        ("@sortByAssociatedKeys", [keys]) => sort(list, items(keys)?),
        _ => no_overload(),
    }
}

fn place(found: Option<usize>) -> Value {
    Value::Int(found.and_then(|i| i64::try_from(i).ok()).unwrap_or(-1))
}

fn sum(list: &[Value]) -> Called {
    let mut total = match list.first() {
        None => return Ok(Value::Int(0)),
        Some(Value::Uint(_)) => Value::Uint(0),
        Some(Value::Double(_)) => Value::Double(0.0),
        Some(Value::Duration(_)) => Value::Duration(0),
        Some(_) => Value::Int(0),
    };
    for item in list {
        total = super::call("_+_", &[total, item.clone()])?;
    }
    Ok(total)
}

fn extreme(list: &[Value], name: &str, wanted: Ordering) -> Called {
    let mut best = list.first().ok_or_else(|| format!("{name} called on empty list"))?;
    for item in list {
        match compare(item, best) {
            Some(order) if order == wanted => best = item,
            Some(_) => {}
            // NaN compares with nothing, so it never replaces the extreme.
            None if matches!((item, best), (Value::Double(_), Value::Double(_))) => {}
            None => return no_overload(),
        }
    }
    Ok(best.clone())
}

fn slice(list: &[Value], start: i64, end: i64) -> Called {
    let fault = || {
        let reason = match () {
            () if start < 0 || end < 0 => "negative indexes not supported".to_owned(),
            () if start > end => "start index must be less than or equal to end index".to_owned(),
            () => format!("list is length {}", list.len()),
        };
        format!("cannot slice({start}, {end}), {reason}")
    };
    let (from, to) =
        (usize::try_from(start).map_err(|_| fault())?, usize::try_from(end).map_err(|_| fault())?);
    list.get(from..to).map(|part| Value::list(part.to_vec())).ok_or_else(fault)
}

fn flatten(list: &[Value], depth: i64) -> Called {
    if depth < 0 {
        return Err("level must be non-negative".to_owned());
    }
    let mut flat = Vec::new();
    flatten_into(list, depth.min(64), &mut flat);
    Ok(Value::list(flat))
}

fn flatten_into(list: &[Value], depth: i64, flat: &mut Vec<Value>) {
    for item in list {
        match item {
            Value::List(inner) if depth > 0 => flatten_into(&inner.items, depth - 1, flat),
            other => flat.push(other.clone()),
        }
    }
}

/// Reports whether values of this type have an order.
fn is_ordered(value: &Value) -> bool {
    matches!(value, Value::Double(_)) || compare(value, value).is_some()
}

/// The order of two values of one type. NaN, which compares with nothing, comes last.
fn total_order(a: &Value, b: &Value) -> Ordering {
    let is_nan = |value: &Value| matches!(value, Value::Double(number) if number.is_nan());
    compare(a, b).unwrap_or_else(|| is_nan(a).cmp(&is_nan(b)))
}

/// The items of a list in the order of their keys. Source: `sortListByAssociatedKeys` of cel-go's ext/lists.go.
fn sort(list: &[Value], keys: &[Value]) -> Called {
    if list.len() != keys.len() {
        return Err(format!(
            "@sortByAssociatedKeys() expected a list of the same size as the associated keys list, but got {} and {} elements respectively",
            list.len(),
            keys.len()
        ));
    }
    let Some(first) = keys.first() else { return Ok(Value::list(Vec::new())) };
    if !is_ordered(first) {
        return Err("list elements must be comparable".to_owned());
    }
    // Types differ even where numbers compare, such as an int and a double.
    if keys.iter().any(|key| key.type_name() != first.type_name()) {
        return Err("list elements must have the same type".to_owned());
    }
    let mut order: Vec<usize> = (0..list.len()).collect();
    order.sort_by(|a, b| total_order(&keys[*a], &keys[*b]));
    Ok(Value::list(order.into_iter().map(|i| list[i].clone()).collect()))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn number() -> impl Strategy<Value = Value> {
        let near = (1_i64 << 53) - 4..(1_i64 << 53) + 4;
        #[expect(clippy::cast_precision_loss, reason = "the loss is what is tested")]
        let double = near.clone().prop_map(|number| Value::Double(number as f64));
        let odd = prop_oneof![Just(f64::NAN), Just(f64::INFINITY), Just(-0.0)].prop_map(Value::Double);
        prop_oneof![near.prop_map(Value::Int), double, odd]
    }

    proptest! {
        #[test]
        fn sort_orders_lists_of_one_type_and_refuses_mixed_ones(
            numbers in proptest::collection::vec(number(), 0..60),
        ) {
            let is_mixed = numbers.windows(2).any(|pair| pair[0].type_name() != pair[1].type_name());
            match sort(&numbers, &numbers) {
                Err(message) => {
                    prop_assert!(is_mixed);
                    prop_assert_eq!(message, "list elements must have the same type");
                }
                Ok(Value::List(sorted)) => {
                    prop_assert!(!is_mixed);
                    prop_assert!(sorted.items.windows(2).all(|pair| total_order(&pair[0], &pair[1]).is_le()));
                }
                Ok(other) => prop_assert!(false, "{:?}", other),
            }
        }
    }
}
