//! Carries changes of a typed object over to the object as it was sent.
//!
//! A typed object knows only the fields of its type, and writes some that were absent. So the change is the
//! difference of the typed object before and after, applied to the object as it was sent. All other fields stay.

use serde_json::{Map, Value};

/// Returns the object as it was sent, with the changes from `before` to `after`.
pub(super) fn carried_over(raw: &Value, before: &Value, after: &Value) -> Value {
    if before == after {
        return raw.clone();
    }
    match (raw, before, after) {
        (Value::Object(raw), Value::Object(before), Value::Object(after)) => {
            Value::Object(members(raw, before, after))
        }
        (Value::Array(raw), Value::Array(before), Value::Array(after)) if raw.len() == before.len() => {
            Value::Array(items(raw, before, after))
        }
        _ => after.clone(),
    }
}

fn members(
    raw: &Map<String, Value>,
    before: &Map<String, Value>,
    after: &Map<String, Value>,
) -> Map<String, Value> {
    let is_removed = |key: &String| before.contains_key(key) && !after.contains_key(key);
    let kept = raw.iter().filter(|(key, _)| !is_removed(key));
    let mut all: Map<String, Value> = kept.map(|(key, value)| (key.clone(), value.clone())).collect();
    for (key, value) in after {
        if before.get(key) == Some(value) {
            continue;
        }
        let changed = match (raw.get(key), before.get(key)) {
            (Some(raw), Some(before)) => carried_over(raw, before, value),
            // A field that the type omits when empty was empty.
            (Some(raw @ Value::Object(_)), None) => carried_over(raw, &Value::Object(Map::new()), value),
            _ => value.clone(),
        };
        all.insert(key.clone(), changed);
    }
    all
}

/// Returns each item after the change, with the fields that its type does not know.
fn items(raw: &[Value], before: &[Value], after: &[Value]) -> Vec<Value> {
    let origins = origins(before, after);
    let pairs = after.iter().zip(origins);
    pairs
        .map(|(item, origin)| match origin {
            Some(at) => carried_over(&raw[at], &before[at], item),
            None => item.clone(),
        })
        .collect()
}

/// Returns the index before the change of each item; `None` for new ones.
///
/// Equal items match first, at the same index or elsewhere; then items with the same name; then, if the numbers
/// agree, the rest in order. All others are new, so that fields of one item never get into another.
fn origins(before: &[Value], after: &[Value]) -> Vec<Option<usize>> {
    let mut origins = vec![None; after.len()];
    let mut is_free = vec![true; before.len()];
    let mut pair = |origins: &mut Vec<Option<usize>>, same: &dyn Fn(usize, usize) -> bool| {
        for (to, origin) in origins.iter_mut().enumerate().filter(|(_, origin)| origin.is_none()) {
            if let Some(from) = (0..before.len()).find(|from| is_free[*from] && same(*from, to)) {
                is_free[from] = false;
                *origin = Some(from);
            }
        }
    };
    pair(&mut origins, &|from, to| from == to && before[from] == after[to]);
    pair(&mut origins, &|from, to| before[from] == after[to]);
    pair(&mut origins, &|from, to| {
        name(&before[from]).is_some_and(|name_before| name(&after[to]) == Some(name_before))
    });
    let gone: Vec<usize> = (0..before.len()).filter(|from| is_free[*from]).collect();
    let come: Vec<usize> = (0..after.len()).filter(|to| origins[*to].is_none()).collect();
    if gone.len() == come.len() {
        for (from, to) in gone.into_iter().zip(come) {
            // Items with different names are different items.
            if name(&before[from]).is_none() || name(&after[to]).is_none() {
                origins[to] = Some(from);
            }
        }
    }
    origins
}

/// Returns the field that distinguishes items of a list, as far as possible without a schema.
fn name(item: &Value) -> Option<&str> {
    ["name", "key", "type"].into_iter().find_map(|field| item.get(field).and_then(Value::as_str))
}

#[cfg(test)]
mod tests;
