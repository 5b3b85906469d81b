//! Restricts a schema to one of its branches.

use std::sync::Arc;

use crate::schema::{KEYWORDS, Limit, Merge, Number, Schema};

/// Adds the restrictions of a branch.
pub(super) fn absorb(schema: &mut Schema, mut branch: Schema) {
    let properties = std::mem::take(&mut branch.properties);
    schema.required.extend(std::mem::take(&mut branch.required));
    match (schema.items.as_deref_mut(), branch.items.take()) {
        (Some(items), Some(more)) => absorb(items, *more),
        (None, more) => schema.items = more,
        (Some(_), None) => {}
    }
    for (name, property) in properties {
        match schema.properties.get_mut(&name) {
            Some(known) => absorb(Arc::make_mut(known), property.as_ref().clone()),
            None => {
                schema.properties.insert(name, property);
            }
        }
    }
    branch.type_ = None;
    limits(schema, &mut branch);
    if let (Some(mine), Some(theirs)) = (&mut schema.enum_, &branch.enum_) {
        mine.retain(|value| theirs.contains(value));
    }
    for keyword in KEYWORDS {
        if keyword.is_set(&branch) && (keyword.merge == Merge::Prefer || !keyword.is_set(schema)) {
            keyword.take(&mut branch, schema);
        }
    }
}

/// Moves limits in both into the branch, so that they can be combined.
fn limits(schema: &mut Schema, branch: &mut Schema) {
    for keyword in KEYWORDS {
        let keeps_mine = match (keyword.limit, keyword.count(schema), keyword.count(branch)) {
            (Some(Limit::Most(_)), Some(mine), theirs) => theirs.is_none_or(|theirs| mine < theirs),
            (Some(Limit::Least(_)), Some(mine), theirs) => theirs.is_none_or(|theirs| mine > theirs),
            _ => continue,
        };
        match keeps_mine {
            true => keyword.take(schema, branch),
            false => keyword.clear(schema),
        }
    }
    let bound = |bound: &mut Option<Number>, exclusive: &mut bool| {
        let exclusive = std::mem::take(exclusive);
        bound.take().map(|bound| (bound, exclusive))
    };
    let least = joined(
        bound(&mut schema.minimum, &mut schema.exclusive_minimum),
        bound(&mut branch.minimum, &mut branch.exclusive_minimum),
        |a, b| stricter(a, b, |a, b| a > b),
    );
    let most = joined(
        bound(&mut schema.maximum, &mut schema.exclusive_maximum),
        bound(&mut branch.maximum, &mut branch.exclusive_maximum),
        |a, b| stricter(a, b, |a, b| a < b),
    );
    branch.exclusive_minimum = least.as_ref().is_some_and(|(_, exclusive)| *exclusive);
    branch.minimum = least.map(|(bound, _)| bound);
    branch.exclusive_maximum = most.as_ref().is_some_and(|(_, exclusive)| *exclusive);
    branch.maximum = most.map(|(bound, _)| bound);
    branch.multiple_of = joined(schema.multiple_of.take(), branch.multiple_of.take(), common_multiple);
}

fn joined<T>(a: Option<T>, b: Option<T>, join: impl FnOnce(T, T) -> T) -> Option<T> {
    match (a, b) {
        (Some(a), Some(b)) => Some(join(a, b)),
        (a, b) => a.or(b),
    }
}

/// The stricter of two bounds; of equal ones, the exclusive one.
fn stricter(a: (Number, bool), b: (Number, bool), beyond: fn(f64, f64) -> bool) -> (Number, bool) {
    let (first, second) = (a.0.float(), b.0.float());
    match beyond(first, second) || (first == second && a.1) {
        true => a,
        false => b,
    }
}

/// The least common multiple of whole numbers, or else the greater number.
fn common_multiple(a: Number, b: Number) -> Number {
    let whole = (a.as_u64().filter(|a| *a > 0), b.as_u64().filter(|b| *b > 0));
    let least = match whole {
        (Some(first), Some(second)) => (first / divisor(first, second)).checked_mul(second),
        _ => None,
    };
    match least {
        Some(least) => serde_json::Number::from(least).into(),
        None if a.as_f64() > b.as_f64() => a,
        None => b,
    }
}

/// The greatest common divisor.
fn divisor(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { divisor(b, a % b) }
}
