//! Operators.

use std::sync::Arc;

use super::{Called, no_overload, same_kind, text_of};
use crate::cel::moment::Moment;
use crate::cel::native::{Entries, Form};
use crate::cel::types::field_of;
use crate::cel::value::{Key, List, ListKind, Value, compare, equal, same_key};

pub(super) fn call(function: &str, args: &[Value]) -> Called {
    match (function, args) {
        ("_==_" | "_!=_", [a, b]) => {
            a.readable().and(b.readable())?;
            Ok(Value::Bool(equal(a, b) == (function == "_==_")))
        }
        ("_<_" | "_<=_" | "_>_" | "_>=_", [a, b]) => relation(function, a, b),
        ("!_", [Value::Bool(b)]) => Ok(Value::Bool(!b)),
        ("-_", [Value::Int(i)]) => whole(i.checked_neg()),
        ("-_", [Value::Double(f)]) => Ok(Value::Double(-f)),
        ("@in", [item, Value::List(list)]) => {
            let found = list.items.iter().any(|other| equal(item, other));
            if !found {
                args.iter().try_for_each(Value::readable)?;
            }
            Ok(Value::Bool(found))
        }
        ("@in", [item, Value::Map(map)]) => {
            Ok(Value::Bool(Key::of(item).is_some_and(|key| map.contains_key(&key))))
        }
        ("_[_]", [container, index]) => at(container, index),
        ("_[?_]", [container, index]) => optional_at(container, index),
        ("size", [Value::String(_) | Value::Bytes(_) | Value::List(_) | Value::Map(_)]) => {
            Ok(Value::Int(i64::try_from(args[0].size()).unwrap_or(i64::MAX)))
        }
        ("cel.@mapInsert", [Value::Map(map), rest @ ..]) => insert(map, rest),
        ("_+_", [a, b]) => add(a, b),
        (_, [a, b]) => arithmetic(function, a, b),
        _ => no_overload(),
    }
}

fn relation(function: &str, a: &Value, b: &Value) -> Called {
    let number = |v: &Value| matches!(v, Value::Double(_) | Value::Int(_) | Value::Uint(_));
    let Some(order) = compare(a, b) else {
        // NaN compares with nothing.
        let unordered = number(a) && number(b);
        return if unordered { Err("NaN values cannot be ordered".to_owned()) } else { no_overload() };
    };
    Ok(Value::Bool(match function {
        "_<_" => order.is_lt(),
        "_<=_" => order.is_le(),
        "_>_" => order.is_gt(),
        _ => order.is_ge(),
    }))
}

fn whole(value: Option<i64>) -> Called {
    value.map(Value::Int).ok_or_else(|| "integer overflow".to_owned())
}

fn unsigned(value: Option<u64>) -> Called {
    value.map(Value::Uint).ok_or_else(|| "unsigned integer overflow".to_owned())
}

fn span(value: Option<i64>) -> Called {
    value.map(Value::Duration).ok_or_else(|| "integer overflow".to_owned())
}

/// A timestamp plus nanoseconds.
fn moved(moment: Moment, nanos: i128) -> Called {
    moment.plus(nanos).map(Value::Timestamp).ok_or_else(|| "timestamp overflow".to_owned())
}

fn add(a: &Value, b: &Value) -> Called {
    match (a, b) {
        (Value::Int(a), Value::Int(b)) => whole(a.checked_add(*b)),
        (Value::Uint(a), Value::Uint(b)) => unsigned(a.checked_add(*b)),
        (Value::Double(a), Value::Double(b)) => Ok(Value::Double(a + b)),
        (Value::String(a), Value::String(b)) => Ok(Value::string([a.as_ref(), b.as_ref()].concat())),
        (Value::Bytes(a), Value::Bytes(b)) => Ok(Value::Bytes([a.as_ref(), b.as_ref()].concat().into())),
        (Value::Duration(a), Value::Duration(b)) => span(a.checked_add(*b)),
        (Value::Timestamp(t), Value::Duration(d)) | (Value::Duration(d), Value::Timestamp(t)) => {
            moved(*t, i128::from(*d))
        }
        (Value::List(a), Value::List(b)) => Ok(concat(a, b)),
        _ => no_overload(),
    }
}

/// Joins lists. Sets and list maps are merged: items of the right list replace those with the same key.
fn concat(a: &List, b: &List) -> Value {
    match &a.kind {
        ListKind::Atomic(_) => Value::list_of([a.items.as_slice(), b.items.as_slice()].concat(), Form::Read),
        ListKind::Set => {
            let mut items = a.items.clone();
            for item in &b.items {
                if !items.iter().any(|other| equal(item, other)) {
                    items.push(item.clone());
                }
            }
            same_kind(items, &a.kind)
        }
        ListKind::Map(keys) => {
            let mut items = a.items.clone();
            for item in &b.items {
                match items.iter_mut().find(|other| same_key(keys, item, other)) {
                    Some(place) => *place = item.clone(),
                    None => items.push(item.clone()),
                }
            }
            same_kind(items, &a.kind)
        }
    }
}

fn arithmetic(function: &str, a: &Value, b: &Value) -> Called {
    let by_zero = || match function {
        "_/_" => "division by zero".to_owned(),
        _ => "modulus by zero".to_owned(),
    };
    match (function, a, b) {
        ("_/_" | "_%_", Value::Int(_), Value::Int(0)) | ("_/_" | "_%_", Value::Uint(_), Value::Uint(0)) => {
            Err(by_zero())
        }
        ("_-_", Value::Int(a), Value::Int(b)) => whole(a.checked_sub(*b)),
        ("_*_", Value::Int(a), Value::Int(b)) => whole(a.checked_mul(*b)),
        ("_/_", Value::Int(a), Value::Int(b)) => whole(a.checked_div(*b)),
        ("_%_", Value::Int(a), Value::Int(b)) => whole(a.checked_rem(*b)),
        ("_-_", Value::Uint(a), Value::Uint(b)) => unsigned(a.checked_sub(*b)),
        ("_*_", Value::Uint(a), Value::Uint(b)) => unsigned(a.checked_mul(*b)),
        ("_/_", Value::Uint(a), Value::Uint(b)) => unsigned(a.checked_div(*b)),
        ("_%_", Value::Uint(a), Value::Uint(b)) => unsigned(a.checked_rem(*b)),
        ("_-_", Value::Double(a), Value::Double(b)) => Ok(Value::Double(a - b)),
        ("_*_", Value::Double(a), Value::Double(b)) => Ok(Value::Double(a * b)),
        ("_/_", Value::Double(a), Value::Double(b)) => Ok(Value::Double(a / b)),
        ("_-_", Value::Duration(a), Value::Duration(b)) => span(a.checked_sub(*b)),
        ("_-_", Value::Timestamp(t), Value::Duration(d)) => moved(*t, -i128::from(*d)),
        ("_-_", Value::Timestamp(a), Value::Timestamp(b)) => {
            span(i64::try_from(a.nanoseconds() - b.nanoseconds()).ok())
        }
        _ => no_overload(),
    }
}

fn index(value: &Value) -> Option<i64> {
    match value {
        Value::Int(i) => Some(*i),
        Value::Uint(u) => i64::try_from(*u).ok(),
        #[expect(clippy::cast_possible_truncation, reason = "whole numbers within the range of indices")]
        Value::Double(f) if f.fract() == 0.0 && f.abs() < 1e15 => Some(*f as i64),
        _ => None,
    }
}

fn find<'v>(container: &'v Value, key: &Value) -> Result<Option<&'v Value>, String> {
    match container {
        Value::List(list) => match index(key) {
            Some(i) => Ok(usize::try_from(i).ok().and_then(|i| list.items.get(i))),
            None => no_overload(),
        },
        Value::Map(map) => Ok(Key::of(key).and_then(|key| map.get(&key))),
        Value::Object(fields) => match key {
            Value::String(name) => Ok(field_of(fields, name).filter(|value| !matches!(value, Value::Null))),
            _ => no_overload(),
        },
        _ => no_overload(),
    }
}

fn at(container: &Value, key: &Value) -> Called {
    match container {
        Value::Optional(Some(_)) | Value::Optional(None) => optional_at(container, key),
        _ => match find(container, key)? {
            Some(found) => Ok(found.clone()),
            None if matches!(container, Value::List(_)) => {
                Err(format!("index out of bounds: {}", text_of(key)))
            }
            None => Err(format!("no such key: {}", text_of(key))),
        },
    }
}

fn optional_at(container: &Value, key: &Value) -> Called {
    let found = match container {
        Value::Optional(None) => None,
        Value::Optional(Some(inner)) => find(inner, key)?,
        other => find(other, key)?,
    };
    Ok(Value::Optional(found.map(|value| Arc::new(value.clone()))))
}

fn insert(map: &Entries, rest: &[Value]) -> Called {
    let mut result = std::collections::BTreeMap::clone(map);
    let mut put = |key: Key, value: Value| match result.insert(key.clone(), value) {
        Some(_) => Err(format!("insert failed: key {} already exists", text_of(&key.value()))),
        None => Ok(()),
    };
    match rest {
        [Value::Map(more)] => {
            for (key, value) in more.iter() {
                put(key.clone(), value.clone())?;
            }
        }
        [key, value] => match Key::of(key) {
            Some(key) => put(key, value.clone())?,
            None => return no_overload(),
        },
        _ => return no_overload(),
    }
    Ok(Value::map(result))
}
