//! Walks along objects: comparing, merging, listing fields, removing fields.
//!
//! All of them follow the schema where there is one and the values elsewhere, at most [`MAX_DEPTH`] deep; deeper values
//! are atomic.

use std::collections::{BTreeMap, BTreeSet};

use kubesmith_apiextensions::structural::ListType;
use kubesmith_apiextensions::structural::validate::same;
use kubesmith_apimachinery::fieldpath::{PathElement, Set, path_text};
use serde_json::{Map, Value};

use super::Scope;
use super::types::{Atom, Ty};

/// The depth limit of walks.
pub(crate) const MAX_DEPTH: usize = 128;

/// The differences between two objects.
#[derive(Clone, Debug, Default)]
pub(crate) struct Comparison {
    pub(crate) removed: Set,
    pub(crate) modified: Set,
    pub(crate) added: Set,
}

impl Comparison {
    /// Compares two objects, but not their managed fields, which nobody owns.
    pub(crate) fn between(ty: Ty<'_>, old: &Value, new: &Value) -> Self {
        let mut walk = Compare { path: Vec::new(), found: Self::default() };
        walk.node(ty, Some(old), Some(new));
        walk.found
    }

    pub(super) fn within(self, scope: &Scope) -> Self {
        Self {
            removed: scope.of(&self.removed),
            modified: scope.of(&self.modified),
            added: scope.of(&self.added),
        }
    }
}

struct Compare {
    path: Vec<PathElement>,
    found: Comparison,
}

fn no_entries(value: Option<&Value>) -> bool {
    match value {
        Some(Value::Object(map)) => map.is_empty(),
        Some(Value::Array(items)) => items.is_empty(),
        _ => true,
    }
}

/// Reports whether a place is owned as a whole.
fn is_leaf(atom: Atom, depth: usize, left: Option<&Value>, right: Option<&Value>) -> bool {
    let whole = matches!(atom, Atom::Scalar | Atom::Map { atomic: true } | Atom::List(ListType::Atomic));
    whole || depth >= MAX_DEPTH || (no_entries(left) && no_entries(right))
}

impl Compare {
    fn node(&mut self, ty: Ty<'_>, left: Option<&Value>, right: Option<&Value>) {
        let atom_left = ty.atom(left);
        let atom_right = ty.atom(right);
        let leaf = match (left, right) {
            (_, None) => self.as_atom(ty, atom_left, left, right),
            (None, _) => self.as_atom(ty, atom_right, left, right),
            _ if atom_left == atom_right => self.as_atom(ty, atom_right, left, right),
            _ => {
                self.as_atom(ty, atom_left, left, right);
                self.as_atom(ty, atom_right, left, right)
            }
        };
        match (left, right) {
            (None, _) if !leaf => self.found.added.insert(&self.path),
            (_, None) if !leaf => self.found.removed.insert(&self.path),
            _ => {}
        }
    }

    /// Compares the place as the category `atom`; returns true if it was compared as a whole.
    fn as_atom(&mut self, ty: Ty<'_>, atom: Atom, left: Option<&Value>, right: Option<&Value>) -> bool {
        let (fitting_left, fitting_right) = match atom {
            Atom::Scalar => (left, right),
            Atom::Map { .. } => (left.filter(|v| v.is_object()), right.filter(|v| v.is_object())),
            Atom::List(_) => (left.filter(|v| v.is_array()), right.filter(|v| v.is_array())),
        };
        if is_leaf(atom, self.path.len(), fitting_left, fitting_right) {
            match (left, right) {
                (None, _) => self.found.added.insert(&self.path),
                (_, None) => self.found.removed.insert(&self.path),
                (Some(l), Some(r)) if !same(l, r) => self.found.modified.insert(&self.path),
                _ => {}
            }
            return true;
        }
        match atom {
            Atom::Map { .. } => self.maps(ty, fitting_left, fitting_right),
            _ => self.lists(ty, fitting_left, fitting_right),
        }
        false
    }

    fn below(&mut self, element: PathElement, ty: Ty<'_>, left: Option<&Value>, right: Option<&Value>) {
        self.path.push(element);
        self.node(ty, left, right);
        self.path.pop();
    }

    fn is_metadata(&self) -> bool {
        matches!(self.path.as_slice(), [PathElement::Field(name)] if name == "metadata")
    }

    fn maps(&mut self, ty: Ty<'_>, left: Option<&Value>, right: Option<&Value>) {
        let left = left.and_then(Value::as_object);
        let right = right.and_then(Value::as_object);
        let names: BTreeSet<&String> = left.into_iter().chain(right).flat_map(Map::keys).collect();
        let managed = self.is_metadata().then_some("managedFields");
        for name in names.into_iter().filter(|name| Some(name.as_str()) != managed) {
            let (l, r) = (left.and_then(|m| m.get(name)), right.and_then(|m| m.get(name)));
            self.below(PathElement::Field(name.clone()), ty.field(name).0, l, r);
        }
    }

    fn lists(&mut self, ty: Ty<'_>, left: Option<&Value>, right: Option<&Value>) {
        let left = by_element(ty, left);
        let right = by_element(ty, right);
        let elements: BTreeSet<&PathElement> = left.keys().chain(right.keys()).collect();
        let none = Vec::new();
        for element in elements {
            let l = left.get(element).unwrap_or(&none);
            let r = right.get(element).unwrap_or(&none);
            self.items(ty, element, l, r);
        }
    }

    /// Items that occur more than once are compared as a whole.
    fn items(&mut self, ty: Ty<'_>, element: &PathElement, left: &[&Value], right: &[&Value]) {
        let mut path = self.path.clone();
        path.push(element.clone());
        match (left.len(), right.len()) {
            (0 | 1, 0 | 1) => {
                self.below(element.clone(), ty.item(), left.first().copied(), right.first().copied());
            }
            (2.., 2..) => {
                if left != right {
                    self.found.modified.insert(&path);
                }
            }
            (2.., _) => {
                if let Some(item) = right.first() {
                    self.below(element.clone(), ty.item(), None, Some(item));
                }
                self.found.removed.insert(&path);
            }
            _ => {
                if let Some(item) = left.first() {
                    self.below(element.clone(), ty.item(), Some(item), None);
                }
                self.found.added.insert(&path);
            }
        }
    }
}

/// Groups the items of a list by their path elements; items without one are left out.
fn by_element<'v>(ty: Ty<'_>, list: Option<&'v Value>) -> BTreeMap<PathElement, Vec<&'v Value>> {
    let mut found: BTreeMap<PathElement, Vec<&Value>> = BTreeMap::new();
    for item in list.and_then(Value::as_array).into_iter().flatten() {
        if let Ok(element) = ty.element(item) {
            found.entry(element).or_default().push(item);
        }
    }
    found
}

/// The fields that an applied configuration names.
pub(crate) fn fields_of(ty: Ty<'_>, value: &Value) -> Set {
    let mut set = Set::default();
    list_fields(ty, value, &mut Vec::new(), &mut set);
    set
}

fn list_fields(ty: Ty<'_>, value: &Value, path: &mut Vec<PathElement>, set: &mut Set) {
    let atom = ty.atom(Some(value));
    let whole = matches!(atom, Atom::Scalar | Atom::Map { atomic: true } | Atom::List(ListType::Atomic));
    if whole || path.len() >= MAX_DEPTH {
        set.insert(path);
        return;
    }
    match value {
        Value::Object(map) => {
            for (name, value) in map {
                let (field, named) = ty.field(name);
                path.push(PathElement::Field(name.clone()));
                list_fields(field, value, path, set);
                if !named || value.is_null() || value.as_object().is_some_and(Map::is_empty) {
                    set.insert(path);
                }
                path.pop();
            }
        }
        Value::Array(_) => {
            for (element, items) in by_element(ty, Some(value)) {
                path.push(element);
                if let [item] = items.as_slice() {
                    list_fields(ty.item(), item, path, set);
                }
                set.insert(path);
                path.pop();
            }
        }
        _ => {}
    }
}

/// Adds the parents that the schema names as fields: owning `a.b` means owning `a` if `a` is a field of a structure.
pub(crate) fn with_named_parents(ty: Ty<'_>, set: &Set) -> Set {
    let mut result = set.members_only();
    for (element, child) in set.children() {
        let below = match element {
            PathElement::Field(name) => {
                let (field, named) = ty.field(name);
                if named {
                    result = result.with_member(element.clone());
                }
                field
            }
            _ => ty.item(),
        };
        result.set_child(element.clone(), with_named_parents(below, child));
    }
    result
}

/// Returns the value without the members of a set; null for a map or list that becomes empty.
pub(crate) fn remove(ty: Ty<'_>, value: &Value, set: &Set) -> Value {
    match (ty.atom(Some(value)), value) {
        (Atom::Map { atomic: false }, Value::Object(map)) if !map.is_empty() => {
            let mut rest = Map::new();
            for (name, value) in map {
                let element = PathElement::Field(name.clone());
                if set.has_element(&element) {
                    continue;
                }
                let kept = match set.below(&element) {
                    Some(below) => remove_below(ty.field(name).0, value, below),
                    None => value.clone(),
                };
                rest.insert(name.clone(), kept);
            }
            if rest.is_empty() { Value::Null } else { Value::Object(rest) }
        }
        (Atom::List(ListType::Set | ListType::Map), Value::Array(items)) if !items.is_empty() => {
            let mut rest = Vec::new();
            for item in items {
                let element = ty.element(item).ok();
                if element.as_ref().is_some_and(|e| set.has_element(e)) {
                    continue;
                }
                let below = element.as_ref().and_then(|e| set.below(e));
                rest.push(below.map_or_else(|| item.clone(), |below| remove_below(ty.item(), item, below)));
            }
            if rest.is_empty() { Value::Null } else { Value::Array(rest) }
        }
        (Atom::Scalar, value) => value.clone(),
        _ => Value::Null,
    }
}

/// As [`remove`] for a part of a value, which stays as an empty one if it becomes empty.
///
/// Source: typed/remove.go of structured-merge-diff 6.3.2.
fn remove_below(ty: Ty<'_>, value: &Value, set: &Set) -> Value {
    match (remove(ty, value, set), value) {
        (Value::Null, Value::Object(_)) => Value::Object(Map::new()),
        (Value::Null, Value::Array(_)) => Value::Array(Vec::new()),
        (rest, _) => rest,
    }
}

/// Lays the right value over the left one.
///
/// # Errors
/// Returns the first item of a list without a unique key, with its path.
pub(crate) fn merge(ty: Ty<'_>, left: &Value, right: &Value) -> Result<Value, String> {
    let merged = Merge { path: Vec::new() }.node(ty, Some(left), Some(right))?;
    Ok(merged.unwrap_or_else(|| Value::Object(Map::new())))
}

struct Merge {
    path: Vec<PathElement>,
}

impl Merge {
    fn node(
        &mut self,
        ty: Ty<'_>,
        left: Option<&Value>,
        right: Option<&Value>,
    ) -> Result<Option<Value>, String> {
        let atom = match right {
            Some(right) => ty.atom(Some(right)),
            None => ty.atom(left),
        };
        let (fitting_left, fitting_right) = match atom {
            Atom::Scalar => (left, right),
            Atom::Map { .. } => (left.filter(|v| v.is_object()), right.filter(|v| v.is_object())),
            Atom::List(_) => (left.filter(|v| v.is_array()), right.filter(|v| v.is_array())),
        };
        if is_leaf(atom, self.path.len(), fitting_left, fitting_right) {
            return Ok(right.or(left).cloned());
        }
        match atom {
            Atom::Map { .. } => self.maps(ty, fitting_left, fitting_right),
            _ => self.lists(ty, fitting_left, fitting_right),
        }
    }

    fn below(
        &mut self,
        element: &PathElement,
        ty: Ty<'_>,
        left: Option<&Value>,
        right: Option<&Value>,
    ) -> Result<Option<Value>, String> {
        self.path.push(element.clone());
        let merged = self.node(ty, left, right);
        self.path.pop();
        merged
    }

    fn maps(
        &mut self,
        ty: Ty<'_>,
        left: Option<&Value>,
        right: Option<&Value>,
    ) -> Result<Option<Value>, String> {
        let left = left.and_then(Value::as_object);
        let right = right.and_then(Value::as_object);
        let names: BTreeSet<&String> = left.into_iter().chain(right).flat_map(Map::keys).collect();
        let mut out = Map::new();
        for name in names {
            let (l, r) = (left.and_then(|m| m.get(name)), right.and_then(|m| m.get(name)));
            if let Some(value) = self.below(&PathElement::Field(name.clone()), ty.field(name).0, l, r)? {
                out.insert(name.clone(), value);
            }
        }
        Ok((!out.is_empty()).then_some(Value::Object(out)))
    }

    fn elements<'v>(
        &self,
        ty: Ty<'_>,
        list: Option<&'v Value>,
        duplicates: bool,
    ) -> Result<Vec<(PathElement, &'v Value)>, String> {
        let mut found: Vec<(PathElement, &Value)> = Vec::new();
        let mut seen = BTreeSet::new();
        for (i, item) in list.and_then(Value::as_array).into_iter().flatten().enumerate() {
            let path = path_text(&self.path);
            let element = ty.element(item).map_err(|e| format!("{path}: element {i}: {e}"))?;
            if !seen.insert(element.clone()) && !duplicates {
                return Err(format!("{path}: duplicate entries for key {element}"));
            }
            found.push((element, item));
        }
        Ok(found)
    }

    /// Keeps the order of both lists as far as they agree: items of the left list first, shared items in the order of
    /// the right one.
    fn lists(
        &mut self,
        ty: Ty<'_>,
        left: Option<&Value>,
        right: Option<&Value>,
    ) -> Result<Option<Value>, String> {
        let left = self.elements(ty, left, true)?;
        let right = self.elements(ty, right, false)?;
        let out = Interleave::new(&left, &right).order();
        let mut items = Vec::with_capacity(out.len());
        for step in out {
            let (element, l, r) = match step {
                Step::Left(i) => (&left[i].0, Some(left[i].1), None),
                Step::Right(i) => {
                    let element = &right[i].0;
                    let mut own = left.iter().filter(|(e, _)| e == element);
                    let l = match (own.next(), own.next()) {
                        (Some((_, value)), None) => Some(*value),
                        (Some(_), Some(_)) => Some(&Value::Null),
                        _ => None,
                    };
                    (element, l, Some(right[i].1))
                }
            };
            items.extend(self.below(element, ty.item(), l, r)?);
        }
        Ok((!items.is_empty()).then_some(Value::Array(items)))
    }
}

/// The source of the next item of a merged list; items of both lists count as the right one's.
enum Step {
    Left(usize),
    Right(usize),
}

struct Interleave<'a> {
    left: Vec<&'a PathElement>,
    right: Vec<&'a PathElement>,
    in_left: BTreeSet<&'a PathElement>,
    in_right: BTreeSet<&'a PathElement>,
    /// Items of both lists, in the right list's order, last one first.
    shared: Vec<&'a PathElement>,
}

impl<'a> Interleave<'a> {
    fn new(left: &'a [(PathElement, &Value)], right: &'a [(PathElement, &Value)]) -> Self {
        let left: Vec<&PathElement> = left.iter().map(|(e, _)| e).collect();
        let right: Vec<&PathElement> = right.iter().map(|(e, _)| e).collect();
        let in_left: BTreeSet<&PathElement> = left.iter().copied().collect();
        let in_right: BTreeSet<&PathElement> = right.iter().copied().collect();
        let shared = right.iter().rev().copied().filter(|e| in_left.contains(e)).collect();
        Self { left, right, in_left, in_right, shared }
    }

    fn order(mut self) -> Vec<Step> {
        let (mut l, mut r) = (0, 0);
        let mut steps = Vec::new();
        let mut merged: BTreeSet<&PathElement> = BTreeSet::new();
        while l < self.left.len() || r < self.right.len() {
            if l < self.left.len() && r < self.right.len() {
                let element = self.left[l];
                if element == self.right[r] {
                    merged.insert(element);
                    steps.push(Step::Right(r));
                    (l, r) = (l + 1, r + 1);
                    self.shared.pop();
                    continue;
                }
                let next = self.shared.last();
                if self.in_right.contains(element) && next.is_some_and(|next| *next != element) {
                    l += 1;
                    continue;
                }
            }
            if l < self.left.len() {
                let element = self.left[l];
                if !self.in_right.contains(element) {
                    steps.push(Step::Left(l));
                    l += 1;
                    continue;
                }
                if merged.contains(element) {
                    l += 1;
                }
            }
            if r < self.right.len() {
                let element = self.right[r];
                debug_assert!(!merged.contains(element), "the right list has no duplicates");
                merged.insert(element);
                steps.push(Step::Right(r));
                r += 1;
                if self.in_left.contains(element) && self.shared.last() == Some(&element) {
                    self.shared.pop();
                }
            }
        }
        steps
    }
}
