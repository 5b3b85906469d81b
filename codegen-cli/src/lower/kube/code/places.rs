//! Evaluates variables, their parts, and patterns that bind them.

use serde_json::{Map, Value};

use super::{Found, Frame, Machine, Stop, Val, keywords};
use crate::lower::kube::container::size;
use crate::lower::kube::types::SIZE_LIMIT;
use crate::source::Loc;
use crate::syntax::code::Pattern;

/// A variable, or a part of one.
#[derive(Clone, Debug)]
pub(super) struct Place {
    cell: usize,
    path: Vec<Part>,
    /// Whether this is a schema's field with many values, such as its properties, rather than a schema.
    is_collection: bool,
}

/// A step into a value.
#[derive(Clone, Debug)]
pub(super) enum Part {
    Key(String),
    Index(usize),
}

impl Place {
    pub(super) fn of(cell: usize) -> Self {
        Self { cell, path: Vec::new(), is_collection: false }
    }

    pub(super) fn then(mut self, part: Part) -> Self {
        self.path.push(part);
        self.is_collection = false;
        self
    }

    pub(super) fn into_collection(self) -> Self {
        Self { is_collection: true, ..self }
    }

    /// Whether it may be a schema, judged by its path.
    pub(super) fn may_be_schema(&self) -> bool {
        !self.is_collection
    }
}

impl Machine<'_, '_, '_> {
    /// The value at a place.
    pub(super) fn at(&self, place: &Place) -> Option<&Value> {
        place.path.iter().try_fold(self.memory.cells.get(place.cell)?, |value, part| match part {
            Part::Key(key) => value.get(key),
            Part::Index(at) => value.get(at),
        })
    }

    /// The value at a place; creates missing objects on the path, and the value from `default`. `None`: the
    /// path leads through another value.
    pub(super) fn at_or(&mut self, place: &Place, default: &Value) -> Option<&mut Value> {
        let mut value = self.memory.cells.get_mut(place.cell)?;
        let last = place.path.len();
        for (at, part) in place.path.iter().enumerate() {
            let missing = if at + 1 == last { default.clone() } else { Value::Object(Map::new()) };
            value = match part {
                Part::Key(_) if !may_hold(value) => return None,
                Part::Key(key) => super::super::pieces::object(value).entry(key.clone()).or_insert(missing),
                Part::Index(at) => value.get_mut(*at)?,
            };
        }
        Some(value)
    }

    /// Sets or removes the value at a place; `None`: the place cannot have a value.
    pub(super) fn set(&mut self, place: &Place, value: Option<Value>) -> Option<()> {
        let Some((last, parents)) = place.path.split_last() else {
            *self.memory.cells.get_mut(place.cell)? = value.unwrap_or_default();
            return Some(());
        };
        let parent = Place { cell: place.cell, path: parents.to_vec(), is_collection: false };
        let parent = self.at_or(&parent, &Value::Object(Map::new()))?;
        match (last, value) {
            (Part::Key(_), _) if !may_hold(parent) => return None,
            (Part::Key(key), value) => {
                let members = super::super::pieces::object(parent);
                match value.filter(|value| !keywords::is_left_out(key, value)) {
                    Some(value) => members.insert(key.clone(), value),
                    None => members.remove(key),
                };
            }
            (Part::Index(at), value) => *parent.get_mut(*at)? = value?,
        }
        Some(())
    }

    /// Removes a keyword that schemars leaves out when empty.
    pub(super) fn tidy(&mut self, place: &Place) -> Option<()> {
        if let Some(Part::Key(key)) = place.path.last()
            && self.at(place).is_some_and(|value| keywords::is_left_out(key, value))
        {
            self.set(place, None)?;
        }
        Some(())
    }

    /// The place of a value; a value without a place gets one.
    pub(super) fn place(&mut self, value: Val, loc: Loc) -> Found<Place> {
        match value {
            Val::Place(place) => Ok(place),
            Val::Named(path, _) => Err(Stop::Beyond(path.loc)),
            Val::None | Val::Unit | Val::Closure(..) => Err(Stop::Beyond(loc)),
            // A variable holds pairs by value, so a change of this copy would be lost.
            Val::List(items) if has_pairs(&items) => Err(Stop::Beyond(loc)),
            value => self.stored(&value),
        }
    }

    /// Whether the value is absent.
    pub(super) fn is_none(&self, value: &Val) -> bool {
        match value {
            Val::None => true,
            Val::Place(place) => self.at(place).is_none(),
            _ => false,
        }
    }

    /// The items of a list; the items of a variable are places in it.
    pub(super) fn items(&self, list: Val, loc: Loc) -> Found<Vec<Val>> {
        match list {
            Val::List(items) => Ok(items),
            Val::Json(Value::Array(items)) => Ok(items.into_iter().map(Val::Json).collect()),
            Val::Json(Value::Object(members)) => {
                let pair = |(key, value)| Val::Tuple(vec![Val::Json(Value::String(key)), Val::Json(value)]);
                Ok(members.into_iter().map(pair).collect())
            }
            Val::Place(place) => match self.at(&place) {
                Some(Value::Array(items)) => {
                    let item = |at| Val::Place(place.clone().then(Part::Index(at)));
                    Ok((0..items.len()).map(item).collect())
                }
                Some(Value::Object(members)) => {
                    let pair = |key: &String| {
                        let value = Val::Place(place.clone().then(Part::Key(key.clone())));
                        Val::Tuple(vec![Val::Json(Value::String(key.clone())), value])
                    };
                    Ok(members.keys().map(pair).collect())
                }
                _ => Err(Stop::Beyond(loc)),
            },
            _ => Err(Stop::Beyond(loc)),
        }
    }

    /// Binds the variables of a pattern; `false`: the value does not match, and no variable is bound.
    pub(super) fn bind(&mut self, frame: &mut Frame, pattern: &Pattern, value: Val) -> Found<bool> {
        let outer = frame.names.len();
        let fits = self.bind_parts(frame, pattern, value)?;
        if !fits {
            frame.names.truncate(outer);
        }
        Ok(fits)
    }

    fn bind_parts(&mut self, frame: &mut Frame, pattern: &Pattern, value: Val) -> Found<bool> {
        match pattern {
            Pattern::Any => Ok(true),
            Pattern::Name(name) => {
                let bound = match value {
                    Val::List(items) if has_pairs(&items) => Val::List(items),
                    value @ (Val::Json(_) | Val::List(_)) => Val::Place(self.stored(&value)?),
                    value => value,
                };
                frame.names.push((name.clone(), self.memory.variables.len()));
                self.memory.variables.push(bound);
                Ok(true)
            }
            Pattern::Tuple(patterns) => {
                let Val::Tuple(items) = value else { return Ok(false) };
                if items.len() != patterns.len() {
                    return Ok(false);
                }
                for (pattern, item) in patterns.iter().zip(items) {
                    if !self.bind(frame, pattern, item)? {
                        return Ok(false);
                    }
                }
                Ok(true)
            }
            Pattern::Variant(name, inner) => {
                let Some(matches) = self.is_variant(&value, name) else { return Err(Stop::Here) };
                match (matches, &inner[..]) {
                    (true, [inner]) => self.bind(frame, inner, value),
                    (matches, _) => Ok(matches),
                }
            }
            Pattern::Value(expected) => {
                let expected = self.constant(&frame.env, expected)?;
                Ok(self.json(&expected)? == self.json(&value)?)
            }
            Pattern::Unknown => Err(Stop::Here),
        }
    }

    /// Counts the size of a value that moves to another place.
    pub(super) fn moved(&mut self, value: &Value) -> Found<()> {
        let size = size(value);
        if size > SIZE_LIMIT { Err(Stop::TooLarge) } else { self.count(size) }
    }

    /// Counts copied parts.
    pub(super) fn count(&mut self, parts: usize) -> Found<()> {
        self.dialect.moves = self.dialect.moves.checked_sub(parts).ok_or(Stop::TooLarge)?;
        Ok(())
    }

    /// A copy of a variable's value.
    pub(super) fn variable(&mut self, frame: &Frame, name: &str) -> Found<Option<Val>> {
        let Some(found) = frame.variable(name).and_then(|at| self.memory.variables.get(at)) else {
            return Ok(None);
        };
        let (copy, parts) = (found.clone(), parts(found));
        if parts > SIZE_LIMIT { Err(Stop::TooLarge) } else { self.count(parts).map(|()| Some(copy)) }
    }

    fn stored(&mut self, value: &Val) -> Found<Place> {
        let value = self.json(value)?;
        self.moved(&value)?;
        self.memory.cells.push(value);
        Ok(Place::of(self.memory.cells.len() - 1))
    }

    /// Whether the value is this variant of `Option`, `Result`, `Value`, `Schema` or `SingleOrVec`; `None`:
    /// unknown.
    fn is_variant(&self, value: &Val, name: &str) -> Option<bool> {
        let is_none = self.is_none(value);
        match name {
            "Some" | "Ok" => return Some(!is_none),
            "None" => return Some(is_none),
            "Err" => return Some(false),
            _ => {}
        }
        let value = self.json(value).ok()?;
        Some(match name {
            "Object" => value.is_object(),
            "Array" | "Vec" => value.is_array(),
            "Single" => !value.is_array(),
            "String" => value.is_string(),
            "Bool" => value.is_boolean(),
            "Number" => value.is_number(),
            "Null" => value.is_null(),
            _ => return None,
        })
    }
}

/// Whether a value may have members: an unset one, `true`, or an object.
fn may_hold(value: &Value) -> bool {
    matches!(value, Value::Object(_) | Value::Null | Value::Bool(_))
}

fn parts(value: &Val) -> usize {
    match value {
        Val::Json(value) => size(value),
        Val::List(items) | Val::Tuple(items) => 1 + items.iter().map(parts).sum::<usize>(),
        _ => 1,
    }
}

fn has_pairs(items: &[Val]) -> bool {
    items.iter().any(|item| matches!(item, Val::Tuple(_)))
}
