//! Evaluates changes of variables: methods of std's collections and strings, and assigned fields.

use serde_json::Value;

use crate::lower::kube::known::{LISTS, MAPS, SETS};
use crate::lower::kube::literals::paired;
use crate::lower::kube::types::{Dialect, Env, Ty};
use crate::lower::kube::values::lists::{is_set, set};
use crate::syntax::kube::Body;
use crate::syntax::{Change, TEXT_LIMIT, ValueExpr, ValueKind};

impl Dialect<'_, '_> {
    /// The value behind changes.
    pub(super) fn value_after(
        &mut self,
        env: &Env,
        ty: Option<&Ty>,
        (before, changes): (&ValueExpr, &[Change]),
        depth: usize,
    ) -> Option<Value> {
        let ty = ty.map(|ty| self.unwrapped(ty));
        match &ty {
            Some(owner @ Ty::Item(id, params)) => {
                let derived = self.item(*id).schemars.as_deref()?;
                let Body::Named(fields) = &derived.body else { return None };
                let given = given(changes)?;
                self.fields_value(env, (*id, params), fields, (&given, Some(before)), owner, depth)
            }
            Some(Ty::Known(path, arguments)) if matches!(changes, [Change::Field(..), ..]) => {
                let given = given(changes)?;
                self.known_literal(env, path, arguments, (&given, Some(before)), depth)
            }
            // The methods of the user's own types are unknown.
            None if self.is_own(env, before, depth) => None,
            Some(ty) if !has_plain_methods(ty) => None,
            _ => {
                let mut value = self.value_at(env, ty.as_ref(), before, depth)?;
                for change in changes {
                    self.apply(env, ty.as_ref(), &mut value, change, depth)?;
                }
                match (&ty, value) {
                    (Some(Ty::Known(path, arguments)), Value::Array(values)) if path.ends_with("Set") => {
                        let item = self.type_argument(path, arguments, 0)?;
                        set(path, &item, values)
                    }
                    (_, value) => Some(value),
                }
            }
        }
    }

    fn apply(
        &mut self,
        env: &Env,
        ty: Option<&Ty>,
        value: &mut Value,
        change: &Change,
        depth: usize,
    ) -> Option<()> {
        let (first, second) = self.parts(ty)?;
        match (value, change) {
            (Value::Object(members), Change::Insert(pair)) => {
                let [key, value] = &pair[..] else { return None };
                let key = self.value_at(env, first.as_ref(), key, depth)?.as_str()?.to_string();
                members.insert(key, self.value_at(env, second.as_ref(), value, depth)?);
            }
            // A list of pairs that becomes a map.
            (value @ Value::Object(_), Change::Push(pair)) => {
                let ValueKind::Tuple(pair) = &pair.kind else { return None };
                return self.apply(env, ty, value, &Change::Insert(pair.clone()), depth);
            }
            (Value::Object(members), Change::Extend(more)) => {
                let Value::Object(more) = paired(self.value_at(env, ty, more, depth)?) else { return None };
                members.extend(more);
            }
            (Value::Array(items), Change::Push(item)) => {
                items.push(self.value_at(env, first.as_ref(), item, depth)?);
            }
            (Value::Array(items), Change::Insert(arguments)) => match &arguments[..] {
                [item] if ty.is_some_and(is_set) => {
                    items.push(self.value_at(env, first.as_ref(), item, depth)?);
                }
                [at, item] => {
                    let at = usize::try_from(self.whole(env, at, depth)?).ok()?;
                    let item = self.value_at(env, first.as_ref(), item, depth)?;
                    (at <= items.len()).then(|| items.insert(at, item))?;
                }
                _ => return None,
            },
            (Value::Array(items), Change::Extend(more)) => {
                let Value::Array(more) = self.value_at(env, ty, more, depth)? else { return None };
                items.extend(more);
            }
            (Value::String(text), Change::Push(more)) if ty.is_some() => {
                text.push_str(self.value_at(env, ty, more, depth)?.as_str()?);
                (text.len() <= TEXT_LIMIT).then_some(())?;
            }
            (Value::Null, Change::Content(_)) => {}
            (value, Change::Content(changes)) => {
                for change in changes {
                    self.apply(env, ty, value, change, depth)?;
                }
            }
            _ => return None,
        }
        Some(())
    }

    /// The types of a collection's items, or of a map's keys and values.
    fn parts(&mut self, ty: Option<&Ty>) -> Option<(Option<Ty>, Option<Ty>)> {
        Some(match ty {
            Some(Ty::Known(path, arguments)) => {
                let mut part = |at| match arguments.len() > at {
                    true => self.type_argument(path, arguments, at).map(Some),
                    false => Some(None),
                };
                (part(0)?, part(1)?)
            }
            Some(Ty::Slice(item)) => (Some((**item).clone()), None),
            _ => (None, None),
        })
    }
}

/// Whether `push`, `insert` and `extend` only add to the JSON. A path gets a separator, a heap its own order.
fn has_plain_methods(ty: &Ty) -> bool {
    match ty {
        Ty::Known(path, _) => {
            let path = path.as_str();
            let is_plain = matches!(path, "String" | "serde_json::Map") || SETS.contains(&path);
            is_plain || MAPS.contains(&path) || (LISTS.contains(&path) && !path.ends_with("Heap"))
        }
        Ty::Slice(_) => true,
        _ => false,
    }
}

/// The last value that changes assign to a field, if any; `None`: not all of them assign fields.
pub(in super::super) fn assigned<'c>(changes: &'c [Change], field: &str) -> Option<Option<&'c ValueExpr>> {
    changes.iter().try_fold(None, |found, change| match change {
        Change::Field(name, value) => Some(if name == field { Some(value) } else { found }),
        _ => None,
    })
}

/// The values that changes assign to fields, the last first; `None`: not all of them assign fields.
fn given(changes: &[Change]) -> Option<Vec<(String, ValueExpr)>> {
    let field = |change: &Change| match change {
        Change::Field(name, value) => Some((name.clone(), value.clone())),
        _ => None,
    };
    changes.iter().rev().map(field).collect()
}
