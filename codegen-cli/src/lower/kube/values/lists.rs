//! Evaluates lists, sets, and maps made of pairs.

use serde_json::{Map, Value};

use crate::lower::kube::types::{Dialect, Env, Ty};
use crate::syntax::{ValueExpr, ValueKind};

impl Dialect<'_, '_> {
    pub(super) fn list(
        &mut self,
        env: &Env,
        ty: Option<&Ty>,
        items: &[ValueExpr],
        depth: usize,
    ) -> Option<Value> {
        let ty = ty.map(|ty| self.unwrapped(ty));
        match ty {
            None => items.iter().map(|item| self.value_at(env, None, item, depth)).collect(),
            Some(Ty::Slice(item) | Ty::Array(item, _)) => {
                items.iter().map(|value| self.value_at(env, Some(&item), value, depth)).collect()
            }
            Some(Ty::Known(path, arguments)) => {
                let first = self.type_argument(&path, &arguments, 0)?;
                if arguments.len() < 2 || path.ends_with("Set") {
                    let values = items.iter().map(|value| self.value_at(env, Some(&first), value, depth));
                    let values = values.collect::<Option<_>>()?;
                    if path.ends_with("Set") {
                        return set(&path, &first, values);
                    }
                    return Some(Value::Array(values));
                }
                let second = self.type_argument(&path, &arguments, 1)?;
                let mut out = Map::new();
                for item in items {
                    let ValueKind::Tuple(pair) = &item.kind else { return None };
                    let [key, value] = &pair[..] else { return None };
                    let key = self.value_at(env, Some(&first), key, depth)?;
                    out.insert(key.as_str()?.to_string(), self.value_at(env, Some(&second), value, depth)?);
                }
                Some(Value::Object(out))
            }
            Some(_) => None,
        }
    }
}

/// Whether the type is one of the sets of std and indexmap.
pub(super) fn is_set(ty: &Ty) -> bool {
    matches!(ty, Ty::Known(path, _) if path.ends_with("Set"))
}

/// The values in a set of this path, each once.
pub(super) fn set(path: &str, item: &Ty, mut values: Vec<Value>) -> Option<Value> {
    // Hash sets are unordered, so sorting gives a stable result.
    if matches!(path, "std::collections::BTreeSet" | "std::collections::HashSet") {
        // Other types define their own order.
        let is_plain = |value: &Value| value.is_string() || value.is_i64() || value.is_u64();
        if values.len() > 1 && (!values.iter().all(is_plain) || matches!(item, Ty::Item(..))) {
            return None;
        }
        values.sort_by_key(sort_key);
    }
    let each_once = values.into_iter().fold(Vec::new(), |mut kept, value| {
        if !kept.contains(&value) {
            kept.push(value);
        }
        kept
    });
    Some(Value::Array(each_once))
}

/// Sorts numbers by size and other values by text.
fn sort_key(value: &Value) -> (Option<i64>, String) {
    (value.as_i64(), value.as_str().map_or_else(|| value.to_string(), str::to_string))
}
