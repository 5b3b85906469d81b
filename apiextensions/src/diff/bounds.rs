//! Compares bounds: of numbers, lengths and sizes.

use std::cmp::Ordering;

use crate::schema::{Keyword, Limit, Measure, Number, Schema, Values};
use crate::structural::validate;

use super::ChangeCode;
use super::schema::{Types, Walk};

/// Compares the bounds that apply to values of these types.
pub(super) fn check(walk: &mut Walk<'_>, old: &Schema, new: &Schema, types: Types) {
    if types.any_of(Values::Numbers) {
        numbers(walk, old, new, !types.has(Types::FRACTION));
    }
    for measure in [Measure::Characters, Measure::Items, Measure::Properties] {
        if types.any_of(measure.values()) {
            sizes(walk, measure, old, new);
        }
    }
}

pub(super) fn tell(walk: &mut Walk<'_>, is_tighter: bool, keyword: &str, message: String) {
    let code = if is_tighter { ChangeCode::BoundTightened } else { ChangeCode::BoundLoosened };
    walk.add_at(code, &[keyword], message);
}

/// Returns the least and greatest number of an object's fields, independent of its bounds.
fn implied(old: &Schema) -> [i64; 2] {
    let count = |length: usize| i64::try_from(length).unwrap_or(i64::MAX);
    let is_open = old.preserve_unknown_fields || old.additional_properties.is_some() || old.embedded_resource;
    // A root has standard fields as well, and no bounds in practice.
    let is_open = is_open || old.properties.contains_key("metadata");
    // Absent fields with a default are filled in before the count.
    let is_there = |name: &&String| !old.required.contains(name) && old.properties[*name].default.is_some();
    let least = old.required.len() + old.properties.keys().filter(is_there).count();
    [count(least), if is_open { i64::MAX } else { count(old.properties.len()) }]
}

/// Lengths and sizes.
fn sizes(walk: &mut Walk<'_>, measure: Measure, old: &Schema, new: &Schema) {
    let [least, most] = if measure == Measure::Properties { implied(old) } else { [0, i64::MAX] };
    for keyword in Keyword::limits(measure) {
        let (from, to) = (keyword.count(old), keyword.count(new));
        let (change, is_implied, message) = match keyword.limit {
            Some(Limit::Most(_)) => {
                let (before, after) = (from.unwrap_or(i64::MAX), to.unwrap_or(i64::MAX));
                (before.cmp(&after), after >= most, moved(keyword.name, from, to))
            }
            _ => {
                // Zero is no restriction.
                let (from, to) = (from.filter(|v| *v > 0), to.filter(|v| *v > 0));
                let (before, after) = (from.unwrap_or(0), to.unwrap_or(0));
                (after.cmp(&before), after <= least, moved(keyword.name, from, to))
            }
        };
        match change {
            Ordering::Equal => {}
            Ordering::Greater if is_implied => {
                walk.add_at(ChangeCode::ConstraintChanged, &[keyword.name], message);
            }
            change => tell(walk, change == Ordering::Greater, keyword.name, message),
        }
    }
}

/// "maximum 20 became 10"
pub(super) fn moved<T: std::fmt::Display>(keyword: &str, old: Option<T>, new: Option<T>) -> String {
    match (old, new) {
        (None, Some(new)) => format!("{keyword} {new} is new"),
        (Some(old), None) => format!("{keyword} {old} is gone"),
        (Some(old), Some(new)) => format!("{keyword} {old} became {new}"),
        (None, None) => format!("{keyword} is written in another way"),
    }
}

fn numbers(walk: &mut Walk<'_>, old: &Schema, new: &Schema, is_whole: bool) {
    let bound = |value: &Option<Number>, is_exclusive: bool, sign: f64| {
        value.as_ref().map(|value| (sign * value.float(), is_exclusive))
    };
    let minimum = |schema: &Schema| bound(&schema.minimum, schema.exclusive_minimum, 1.0);
    // A maximum is a minimum with the opposite sign.
    let maximum = |schema: &Schema| bound(&schema.maximum, schema.exclusive_maximum, -1.0);
    let shown = |value: &Option<Number>, is_exclusive: bool| {
        let end = if is_exclusive { " (exclusive)" } else { "" };
        value.as_ref().map(|value| format!("{}{end}", value.float()))
    };
    let sides = [
        (
            "minimum",
            minimum(old),
            minimum(new),
            shown(&old.minimum, old.exclusive_minimum),
            shown(&new.minimum, new.exclusive_minimum),
        ),
        (
            "maximum",
            maximum(old),
            maximum(new),
            shown(&old.maximum, old.exclusive_maximum),
            shown(&new.maximum, new.exclusive_maximum),
        ),
    ];
    for (keyword, before, after, from, to) in sides {
        if before == after {
            continue;
        }
        let (before, mut after) = (effective(before, is_whole), effective(after, is_whole));
        // The format already refuses these values.
        if before.0 == f64::NEG_INFINITY && is_beyond_int32(old, keyword, after.0) {
            after = before;
        }
        let message = moved(keyword, from, to);
        match after.partial_cmp(&before) {
            Some(Ordering::Equal) => {
                walk.add_at(ChangeCode::ConstraintChanged, &[keyword], message);
            }
            order => tell(walk, order != Some(Ordering::Less), keyword, message),
        }
    }
    multiple_of(walk, old, new, is_whole);
}

/// Returns the bound as a pair that grows with it; for whole numbers, above 2 means from 3.
fn effective(bound: Option<(f64, bool)>, is_whole: bool) -> (f64, bool) {
    match bound {
        None => (f64::NEG_INFINITY, false),
        Some((value, true)) if is_whole && value.fract() == 0.0 && value.abs() < 9e15 => (value + 1.0, false),
        Some(bound) => bound,
    }
}

/// Returns the whole numbers within the bounds, as texts, if they are few.
pub(super) fn whole_numbers(schema: &Schema) -> Option<Vec<String>> {
    const MOST: f64 = 1_000.0;
    let is_small = |bound: &f64| bound.abs() < 9e15;
    let least = schema.minimum.as_ref().map(Number::float).filter(is_small)?.ceil();
    let most = schema.maximum.as_ref().map(Number::float).filter(is_small)?.floor();
    if !schema.is_type("integer") || schema.nullable || most - least >= MOST {
        return None;
    }
    #[expect(clippy::cast_possible_truncation, reason = "both are whole and in the range of exact floats")]
    let all = (least as i64)..=(most as i64);
    Some(
        all.map(serde_json::Value::from)
            .filter(|n| validate(schema, n).is_empty())
            .map(|n| n.to_string())
            .collect(),
    )
}

/// Reports whether a bound (negated if it is a maximum) adds nothing to the format's range of 32 bits.
fn is_beyond_int32(schema: &Schema, keyword: &str, bound: f64) -> bool {
    let least = if keyword == "minimum" { f64::from(i32::MIN) } else { -f64::from(i32::MAX) };
    schema.is_type("integer") && schema.format_name() == "int32" && bound <= least
}

/// Reports whether the bounds of whole numbers are those of 32 bits, or narrower.
pub(super) fn within_int32(schema: &Schema) -> bool {
    schema.minimum.as_ref().is_some_and(|least| least.float() >= f64::from(i32::MIN))
        && schema.maximum.as_ref().is_some_and(|most| most.float() <= f64::from(i32::MAX))
}

fn multiple_of(walk: &mut Walk<'_>, old: &Schema, new: &Schema, is_whole: bool) {
    let factor = |schema: &Schema| schema.multiple_of.as_ref().map(Number::float);
    let (before, after) = (factor(old), factor(new));
    if before == after {
        return;
    }
    let message = moved("multipleOf", before, after);
    // Every whole number is a multiple of one.
    let factor = |factor: Option<f64>| factor.filter(|factor| !(is_whole && *factor == 1.0));
    match (factor(before), factor(after)) {
        (None, None) => walk.add_at(ChangeCode::ConstraintChanged, &["multipleOf"], message),
        (Some(before), Some(after)) => tell(walk, !is_multiple(before, after), "multipleOf", message),
        (before, _) => tell(walk, before.is_none(), "multipleOf", message),
    }
}

/// Reports whether a number is a multiple of a factor by the servers' arithmetic: 0.3 is one of 0.1.
fn is_multiple(number: f64, factor: f64) -> bool {
    let multiple_of = serde_json::Number::from_f64(factor).map(Number::from);
    let schema = Schema { multiple_of, ..Schema::of_type("number") };
    validate(&schema, &number.into()).is_empty()
}
