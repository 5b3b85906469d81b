//! Evaluates methods of JSON, lists and options that move values, and methods of schemas by the user.

use serde_json::{Map, Value};

use super::places::{Part, Place};
use super::{Found, Frame, Machine, Stop, Val, keywords};
use crate::lower::kube::pieces;
use crate::lower::kube::types::Env;
use crate::source::Loc;
use crate::syntax::ValueKind;

/// Methods that return their receiver.
const SAME: &[&str] = &[
    "as_mut",
    "as_ref",
    "as_deref",
    "as_deref_mut",
    "as_slice",
    "as_str",
    "borrow",
    "borrow_mut",
    "by_ref",
    "try_into",
    "to_value",
    "iter",
    "iter_mut",
    "into_iter",
    "ok",
    "ok_or",
    "ok_or_else",
    "as_value",
];

/// Methods that return a copy.
const COPIES: &[&str] = &["clone", "to_owned", "to_string", "to_vec", "cloned", "copied", "into_owned"];

impl Machine<'_, '_, '_> {
    pub(super) fn method(
        &mut self,
        frame: &Frame,
        on: Val,
        name: &str,
        arguments: Vec<Val>,
        loc: Loc,
    ) -> Found<Val> {
        if let Some(made) = self.own_method(frame, &on, name, &arguments, loc) {
            return made;
        }
        if matches!(on, Val::Unit) {
            // The generator and its settings have no value here.
            return Ok(Val::Unit);
        }
        if SAME.contains(&name) || (keywords::is_part(name) && arguments.is_empty()) {
            return Ok(on);
        }
        if COPIES.contains(&name) && arguments.is_empty() {
            return match on {
                Val::List(items) => Ok(Val::List(items)),
                Val::None => Ok(Val::None),
                value if self.is_none(&value) => Ok(Val::None),
                value => self.json(&value).map(Val::Json),
            };
        }
        match name {
            "unwrap" | "expect" | "unwrap_or" | "unwrap_or_else" | "unwrap_or_default" => {
                self.unwrapped(on, name, arguments, loc)
            }
            "map" | "and_then" | "filter" | "chain" | "for_each" | "collect" | "into" | "rev" => {
                self.list_method(on, name, arguments, loc)
            }
            "is_some" | "is_none" | "is_object" | "is_array" | "is_empty" | "contains_key" | "contains"
            | "as_object" | "as_object_mut" | "as_array" | "as_array_mut" | "as_str" | "ensure_object" => {
                self.question(on, name, &arguments, loc)
            }
            _ => {
                let place = self.place(on, loc)?;
                self.change_at(place, name, arguments, loc)
            }
        }
    }

    /// A method of schemas by the user.
    fn own_method(
        &mut self,
        frame: &Frame,
        on: &Val,
        name: &str,
        arguments: &[Val],
        loc: Loc,
    ) -> Option<Found<Val>> {
        if matches!(on, Val::Place(place) if !place.may_be_schema()) {
            return None;
        }
        let (krate, module, item) = self.dialect.ctx.resolver.schema_method(frame.env.krate, name)?;
        let ValueKind::SchemaFunction(function) = &item.expr.kind else { return None };
        let all = std::iter::once(on.clone()).chain(arguments.iter().cloned()).collect();
        Some(self.call(Env::module(krate, module), function, all, loc))
    }

    fn unwrapped(&mut self, on: Val, name: &str, mut arguments: Vec<Val>, loc: Loc) -> Found<Val> {
        if !self.is_none(&on) {
            return Ok(on);
        }
        match (name, arguments.pop()) {
            ("unwrap_or", Some(other)) => Ok(other),
            ("unwrap_or_else", Some(other)) => self.apply(other, Vec::new(), loc),
            // The program would panic, or make a value of unknown type.
            _ => Err(Stop::Beyond(loc)),
        }
    }

    fn list_method(&mut self, on: Val, name: &str, mut arguments: Vec<Val>, loc: Loc) -> Found<Val> {
        match (name, arguments.pop()) {
            ("into" | "collect", None) => self.collected(on, loc),
            ("rev", None) => Ok(Val::List(self.items(on, loc)?.into_iter().rev().collect())),
            ("chain", Some(other)) => {
                let mut items = self.items(on, loc)?;
                items.extend(self.items(other, loc)?);
                Ok(Val::List(items))
            }
            ("map" | "and_then", Some(_)) if self.is_none(&on) => Ok(Val::None),
            ("and_then", Some(function)) => self.apply(function, vec![on], loc),
            ("map", Some(function)) => match self.is_list(&on) {
                true => {
                    let items = self.items(on, loc)?;
                    let made = items.into_iter().map(|item| self.apply(function.clone(), vec![item], loc));
                    Ok(Val::List(made.collect::<Found<_>>()?))
                }
                false => self.apply(function, vec![on], loc),
            },
            ("filter", Some(function)) => {
                let mut kept = Vec::new();
                for item in self.items(on, loc)? {
                    let answer = self.apply(function.clone(), vec![item.clone()], loc)?;
                    match self.json(&answer)? {
                        Value::Bool(true) => kept.push(item),
                        Value::Bool(false) => {}
                        _ => return Err(Stop::Beyond(loc)),
                    }
                }
                Ok(Val::List(kept))
            }
            ("for_each", Some(function)) => {
                for item in self.items(on, loc)? {
                    self.apply(function.clone(), vec![item], loc)?;
                }
                Ok(Val::Unit)
            }
            _ => Err(Stop::Beyond(loc)),
        }
    }

    fn is_list(&self, value: &Val) -> bool {
        match value {
            Val::List(_) => true,
            Val::Json(value) => value.is_array(),
            Val::Place(place) => self.at(place).is_some_and(Value::is_array),
            _ => false,
        }
    }

    fn question(&mut self, on: Val, name: &str, arguments: &[Val], loc: Loc) -> Found<Val> {
        let answer = |answer| Ok(Val::Json(Value::Bool(answer)));
        if matches!(name, "is_some" | "is_none") {
            return answer(self.is_none(&on) == (name == "is_none"));
        }
        let value = self.json(&on)?;
        let wanted = |is_so: bool, on: Val| Ok(if is_so { on } else { Val::None });
        match (name, arguments) {
            ("is_object", []) => answer(value.is_object()),
            ("is_array", []) => answer(value.is_array()),
            ("as_object" | "as_object_mut", []) => wanted(value.is_object(), on),
            ("as_array" | "as_array_mut", []) => wanted(value.is_array(), on),
            ("as_str", []) => wanted(value.is_string(), on),
            ("ensure_object", []) => {
                let place = self.place(on, loc)?;
                if let Some(schema) = self.at_or(&place, &Value::Object(Map::new())) {
                    pieces::object(schema);
                }
                Ok(Val::Place(place))
            }
            ("is_empty", []) => answer(match &value {
                Value::Object(members) => members.is_empty(),
                Value::Array(items) => items.is_empty(),
                Value::String(text) => text.is_empty(),
                Value::Null => true,
                _ => return Err(Stop::Beyond(loc)),
            }),
            ("contains_key" | "contains", [key]) => {
                let key = self.json(key)?;
                answer(match (&value, &key) {
                    (Value::Object(members), Value::String(key)) => members.contains_key(key),
                    (Value::Array(items), key) => items.contains(key),
                    (Value::Null, _) => false,
                    _ => return Err(Stop::Beyond(loc)),
                })
            }
            _ => Err(Stop::Beyond(loc)),
        }
    }

    /// Methods that read from a variable or change it.
    fn change_at(&mut self, place: Place, name: &str, mut arguments: Vec<Val>, loc: Loc) -> Found<Val> {
        let second = if arguments.len() > 1 { arguments.pop() } else { None };
        match (name, arguments.pop(), second) {
            ("get" | "get_mut" | "entry", Some(key), None) => {
                let part = match self.json(&key)? {
                    Value::String(key) => Part::Key(key),
                    Value::Number(at) => {
                        let at = at.as_u64().and_then(|at| usize::try_from(at).ok());
                        Part::Index(at.ok_or(Stop::Beyond(loc))?)
                    }
                    _ => return Err(Stop::Beyond(loc)),
                };
                Ok(Val::Place(place.then(part)))
            }
            ("or_insert" | "get_or_insert", Some(value), None) => self.made(place, Some(value)),
            ("or_insert_with" | "get_or_insert_with", Some(function), None) => {
                let value = if self.at(&place).is_some() {
                    None
                } else if matches!(function, Val::Closure(..) | Val::Named(..)) {
                    Some(self.apply(function, Vec::new(), loc)?)
                } else {
                    Some(function)
                };
                self.made(place, value)
            }
            ("or_default", None, None) => self.made(place, None),
            ("insert", Some(key), Some(value)) => {
                let (key, value) = (self.text(&key, loc)?, self.json(&value)?);
                self.moved(&value)?;
                let place = place.then(Part::Key(key));
                self.set(&place, Some(value)).map(|()| Val::None).ok_or(Stop::Beyond(loc))
            }
            ("insert" | "push", Some(item), None) => self.add(&place, vec![item], name == "insert", loc),
            ("extend" | "append", Some(items), None) => {
                let items = self.items(items, loc)?;
                self.add(&place, items, false, loc)
            }
            ("remove" | "shift_remove" | "swap_remove", Some(key), None) => {
                self.remove(&place, &key, name == "swap_remove", loc)
            }
            ("take", None, None) => {
                let taken = self.at(&place).cloned();
                self.set(&place, None).ok_or(Stop::Beyond(loc))?;
                Ok(taken.map_or(Val::None, Val::Json))
            }
            ("replace", Some(value), None) => {
                let (taken, value) = (self.at(&place).cloned(), self.json(&value)?);
                self.set(&place, Some(value)).ok_or(Stop::Beyond(loc))?;
                Ok(taken.map_or(Val::None, Val::Json))
            }
            ("clear", None, None) => {
                if let Some(value) = self.at(&place) {
                    let empty =
                        if value.is_array() { Value::Array(Vec::new()) } else { Value::Object(Map::new()) };
                    self.set(&place, Some(empty)).ok_or(Stop::Beyond(loc))?;
                }
                Ok(Val::Unit)
            }
            ("keys" | "values" | "values_mut", None, None) => {
                let at = usize::from(name != "keys");
                let side = |pair| match pair {
                    Val::Tuple(mut pair) => Ok(pair.swap_remove(at)),
                    _ => Err(Stop::Beyond(loc)),
                };
                let pairs = self.items(Val::Place(place), loc)?;
                Ok(Val::List(pairs.into_iter().map(side).collect::<Found<_>>()?))
            }
            _ => Err(Stop::Beyond(loc)),
        }
    }

    /// The place, filled with the default if it is empty.
    fn made(&mut self, place: Place, value: Option<Val>) -> Found<Val> {
        if self.at(&place).is_none() {
            let value = match value {
                Some(value) => self.json(&value)?,
                None => Value::Object(Map::new()),
            };
            self.at_or(&place, &value).ok_or(Stop::Here)?;
        }
        Ok(Val::Place(place))
    }

    /// Adds items to a list, to a set in order, or members to an object.
    fn add(&mut self, place: &Place, items: Vec<Val>, is_set: bool, loc: Loc) -> Found<Val> {
        let added = self.collected(Val::List(items), loc)?;
        let added = self.json(&added)?;
        self.moved(&added)?;
        let empty = if added.is_object() { Value::Object(Map::new()) } else { Value::Array(Vec::new()) };
        match (self.at_or(place, &empty), added) {
            (Some(Value::Object(members)), Value::Object(added)) => members.extend(added),
            (Some(Value::Array(items)), Value::Array(added)) if is_set => {
                for item in added {
                    if !items.contains(&item) {
                        items.push(item);
                    }
                }
                items.sort_by_key(Value::to_string);
            }
            (Some(Value::Array(items)), Value::Array(added)) => items.extend(added),
            (Some(Value::Object(_)), Value::Array(added)) if added.is_empty() => {}
            _ => return Err(Stop::Beyond(loc)),
        }
        self.tidy(place).map(|()| Val::Unit).ok_or(Stop::Beyond(loc))
    }

    fn remove(&mut self, place: &Place, key: &Val, swaps: bool, loc: Loc) -> Found<Val> {
        let key = self.json(key)?;
        let removed = match (self.at_or(place, &Value::Object(Map::new())), &key) {
            (Some(Value::Object(members)), Value::String(key)) => members.remove(key),
            // An index: Rust's sets, which also have `remove`, have no `swap_remove`.
            (Some(Value::Array(items)), Value::Number(at)) if swaps => {
                let at = at.as_u64().and_then(|at| usize::try_from(at).ok());
                let at = at.filter(|at| *at < items.len()).ok_or(Stop::Beyond(loc))?;
                Some(items.swap_remove(at))
            }
            // Either an index of a list or an item of a set of numbers.
            (Some(Value::Array(_)), Value::Number(_)) => return Err(Stop::Beyond(loc)),
            (Some(Value::Array(items)), key) => {
                let at = items.iter().position(|item| item == key);
                at.map(|at| if swaps { items.swap_remove(at) } else { items.remove(at) })
            }
            _ => return Err(Stop::Beyond(loc)),
        };
        self.tidy(place).ok_or(Stop::Beyond(loc))?;
        Ok(removed.map_or(Val::None, Val::Json))
    }
}
