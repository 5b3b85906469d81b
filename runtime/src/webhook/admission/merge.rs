//! What a typed change means for an object as it came.
//!
//! A typed object knows only the fields of its type and writes some that were not there. So the change is what differs
//! between the typed object before and after, carried over to the object as it came; all else stays as it is.

use serde_json::{Map, Value};

/// The object as it came, with what changed from `before` to `after`.
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
            // What the type does not write when it is empty was empty.
            (Some(raw @ Value::Object(_)), None) => carried_over(raw, &Value::Object(Map::new()), value),
            _ => value.clone(),
        };
        all.insert(key.clone(), changed);
    }
    all
}

/// Each item after the change with the fields that its type does not know.
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

/// Which item before the change each item was; `None` for new ones.
///
/// First those that are equal, in place or elsewhere, then those of the same name, then, if as many went as came, the
/// rest in order. What cannot be told is new: fields of one item never get into another.
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
            // Two names are two items.
            if name(&before[from]).is_none() || name(&after[to]).is_none() {
                origins[to] = Some(from);
            }
        }
    }
    origins
}

/// What tells items of a list apart, as far as can be known without a schema.
fn name(item: &Value) -> Option<&str> {
    ["name", "key", "type"].into_iter().find_map(|field| item.get(field).and_then(Value::as_str))
}

#[cfg(test)]
mod tests;
