//! Compares bounds: of numbers, lengths and sizes.

use kubesmith_apiextensions::structural::{Structural, validate};

use super::ChangeCode;
use super::schema::{Types, Walk};

/// Compares the bounds that matter to values of these types.
pub(super) fn check(walk: &mut Walk<'_>, old: &Structural, new: &Structural, types: Types) {
    if types.has(Types::INTEGER) || types.has(Types::FRACTION) {
        numbers(walk, old, new, !types.has(Types::FRACTION));
    }
    if types.has(Types::STRING) {
        sizes(
            walk,
            ["minLength", "maxLength"],
            [old.min_length, old.max_length],
            [new.min_length, new.max_length],
            None,
        );
    }
    if types.has(Types::ARRAY) {
        sizes(
            walk,
            ["minItems", "maxItems"],
            [old.min_items, old.max_items],
            [new.min_items, new.max_items],
            None,
        );
        match (old.unique_items, new.unique_items) {
            (false, true) => tell(walk, true, "uniqueItems", "items have to be unique".to_owned()),
            (true, false) => tell(walk, false, "uniqueItems", "items need not be unique any more".to_owned()),
            _ => {}
        }
    }
    if types.has(Types::OBJECT) {
        let (before, after) =
            ([old.min_properties, old.max_properties], [new.min_properties, new.max_properties]);
        sizes(walk, ["minProperties", "maxProperties"], before, after, Some(implied(old)));
    }
}

fn tell(walk: &mut Walk<'_>, is_tighter: bool, keyword: &str, message: String) {
    let code = if is_tighter { ChangeCode::BoundTightened } else { ChangeCode::BoundLoosened };
    walk.add_at(code, &[keyword], message);
}

/// How few and how many fields an object has, whatever its bounds say.
fn implied(old: &Structural) -> [i64; 2] {
    let count = |length: usize| i64::try_from(length).unwrap_or(i64::MAX);
    let is_open =
        old.preserves_unknown_fields() || old.additional_properties.is_some() || old.embedded_resource;
    // A root has standard fields as well, and no bounds in practice.
    let is_open = is_open || old.properties.contains_key("metadata");
    // Absent fields with a default are filled in before anything is counted.
    let is_there = |name: &&String| !old.required.contains(name) && old.properties[*name].default.is_some();
    let least = old.required.len() + old.properties.keys().filter(is_there).count();
    [count(least), if is_open { i64::MAX } else { count(old.properties.len()) }]
}

/// Lengths and sizes: the least and the greatest.
fn sizes(
    walk: &mut Walk<'_>,
    keywords: [&str; 2],
    old: [Option<i64>; 2],
    new: [Option<i64>; 2],
    implied: Option<[i64; 2]>,
) {
    let [least, most] = implied.unwrap_or([0, i64::MAX]);
    let (before, after) = (old[0].unwrap_or(0).max(0), new[0].unwrap_or(0).max(0));
    let message = || moved(keywords[0], old[0].filter(|v| *v > 0), new[0].filter(|v| *v > 0));
    if after > before && after <= least {
        walk.add_at(ChangeCode::ConstraintChanged, &[keywords[0]], message());
    } else if after != before {
        tell(walk, after > before, keywords[0], message());
    }
    let (before, after) = (old[1].unwrap_or(i64::MAX), new[1].unwrap_or(i64::MAX));
    let message = || moved(keywords[1], old[1], new[1]);
    if after < before && after >= most {
        walk.add_at(ChangeCode::ConstraintChanged, &[keywords[1]], message());
    } else if after != before {
        tell(walk, after < before, keywords[1], message());
    }
}

/// "maximum 20 became 10"
fn moved<T: std::fmt::Display>(keyword: &str, old: Option<T>, new: Option<T>) -> String {
    match (old, new) {
        (None, Some(new)) => format!("{keyword} {new} is new"),
        (Some(old), None) => format!("{keyword} {old} is gone"),
        (Some(old), Some(new)) => format!("{keyword} {old} became {new}"),
        (None, None) => format!("{keyword} is said in another way"),
    }
}

fn numbers(walk: &mut Walk<'_>, old: &Structural, new: &Structural, is_whole: bool) {
    let bound = |value: Option<f64>, is_exclusive: bool| value.map(|value| (value, is_exclusive));
    let minimum = |schema: &Structural| bound(schema.minimum, schema.exclusive_minimum);
    // The greatest is the least with other signs.
    let maximum = |schema: &Structural| bound(schema.maximum.map(|value| -value), schema.exclusive_maximum);
    let shown = |value: Option<f64>, is_exclusive: bool| {
        value.map(|value| format!("{value}{}", if is_exclusive { " (exclusive)" } else { "" }))
    };
    let sides = [
        (
            "minimum",
            minimum(old),
            minimum(new),
            shown(old.minimum, old.exclusive_minimum),
            shown(new.minimum, new.exclusive_minimum),
        ),
        (
            "maximum",
            maximum(old),
            maximum(new),
            shown(old.maximum, old.exclusive_maximum),
            shown(new.maximum, new.exclusive_maximum),
        ),
    ];
    for (keyword, before, after, from, to) in sides {
        if before == after {
            continue;
        }
        let (before, mut after) = (effective(before, is_whole), effective(after, is_whole));
        // What the format refuses is no news.
        if before.0 == f64::NEG_INFINITY && is_beyond_int32(old, keyword, after.0) {
            after = before;
        }
        let message = moved(keyword, from, to);
        match after.partial_cmp(&before) {
            Some(std::cmp::Ordering::Equal) => {
                walk.add_at(ChangeCode::ConstraintChanged, &[keyword], message);
            }
            order => tell(walk, order != Some(std::cmp::Ordering::Less), keyword, message),
        }
    }
    multiple_of(walk, old, new, is_whole);
}

/// The bound as a pair that grows with it; a whole number above 2 is one from 3.
fn effective(bound: Option<(f64, bool)>, is_whole: bool) -> (f64, bool) {
    match bound {
        None => (f64::NEG_INFINITY, false),
        Some((value, true)) if is_whole && value.fract() == 0.0 && value.abs() < 9e15 => (value + 1.0, false),
        Some(bound) => bound,
    }
}

/// The whole numbers that bounds admit, as texts, if they are few.
pub(super) fn whole_numbers(schema: &Structural) -> Option<Vec<String>> {
    const MOST: f64 = 1_000.0;
    let is_small = |bound: &f64| bound.abs() < 9e15;
    let least = schema.minimum.filter(is_small)?.ceil();
    let most = schema.maximum.filter(is_small)?.floor();
    if schema.type_ != "integer" || schema.nullable || most - least >= MOST {
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

/// Whether a bound, with another sign where it is the greatest, refuses no number of 32 bits where the format does.
fn is_beyond_int32(schema: &Structural, keyword: &str, bound: f64) -> bool {
    let least = if keyword == "minimum" { f64::from(i32::MIN) } else { -f64::from(i32::MAX) };
    schema.type_ == "integer" && schema.format == "int32" && bound <= least
}

/// Whether the bounds of whole numbers are those of 32 bits, or narrower.
pub(super) fn within_int32(schema: &Structural) -> bool {
    schema.minimum.is_some_and(|least| least >= f64::from(i32::MIN))
        && schema.maximum.is_some_and(|most| most <= f64::from(i32::MAX))
}

fn multiple_of(walk: &mut Walk<'_>, old: &Structural, new: &Structural, is_whole: bool) {
    let (before, after) = (old.multiple_of, new.multiple_of);
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

/// Whether a number is a multiple of a factor, as servers reckon: 0.3 is one of 0.1.
fn is_multiple(number: f64, factor: f64) -> bool {
    let schema =
        Structural { type_: "number".to_owned(), multiple_of: Some(factor), ..Structural::default() };
    validate(&schema, &number.into()).is_empty()
}
