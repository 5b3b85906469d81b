//! Sets of paths, and their JSON form.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use super::element::{FieldsError, PathElement};

/// A set of paths. A path may be a member and have members below it at the same time.
///
/// ```
/// use kubesmith_apimachinery::fieldpath::Set;
/// use serde_json::json;
///
/// let fields = json!({"f:spec": {"f:ports": {"k:{\"name\":\"web\"}": {".": {}, "f:port": {}}}}});
/// let set = Set::from_fields_v1(&fields).unwrap();
/// assert_eq!(set.to_fields_v1(), fields);
/// assert!(Set::from_fields_v1(&json!({"k:web": {}})).is_err());
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Set {
    members: BTreeSet<PathElement>,
    children: BTreeMap<PathElement, Set>,
}

/// Sets nested deeper than this are not decoded.
const MAX_DEPTH: usize = 200;

impl Set {
    /// Adds a path; the empty path is no member of any set.
    pub fn insert(&mut self, path: &[PathElement]) {
        let Some((last, parents)) = path.split_last() else { return };
        let mut node = self;
        for parent in parents {
            node = node.children.entry(parent.clone()).or_default();
        }
        node.members.insert(last.clone());
    }

    /// Reports whether this very path is a member.
    #[must_use]
    pub fn has(&self, path: &[PathElement]) -> bool {
        let Some((last, parents)) = path.split_last() else { return false };
        let mut node = self;
        for parent in parents {
            match node.children.get(parent) {
                Some(child) => node = child,
                None => return false,
            }
        }
        node.members.contains(last)
    }

    /// Reports whether the element itself is a member at the top.
    #[must_use]
    pub fn has_element(&self, element: &PathElement) -> bool {
        self.members.contains(element)
    }

    /// Returns the set below an element: empty if the element itself is the last member, `None` if it is not in the set.
    #[must_use]
    pub fn get(&self, element: &PathElement) -> Option<&Set> {
        static NOTHING: Set = Set { members: BTreeSet::new(), children: BTreeMap::new() };
        self.children.get(element).or_else(|| self.members.contains(element).then_some(&NOTHING))
    }

    /// The elements at the top, members and those with members below them.
    pub fn elements(&self) -> impl Iterator<Item = &PathElement> {
        self.members.iter().chain(self.children.keys().filter(|element| !self.members.contains(element)))
    }

    /// Returns the set below an element, if there is one.
    #[must_use]
    pub fn below(&self, element: &PathElement) -> Option<&Set> {
        self.children.get(element).filter(|set| !set.is_empty())
    }

    /// The elements with something below them.
    pub fn children(&self) -> impl Iterator<Item = (&PathElement, &Set)> {
        self.children.iter()
    }

    /// The set with an element at the top as well.
    #[must_use]
    pub fn with_member(mut self, element: PathElement) -> Self {
        self.members.insert(element);
        self
    }

    /// The members at the top alone.
    #[must_use]
    pub fn members_only(&self) -> Self {
        Self { members: self.members.clone(), children: BTreeMap::new() }
    }

    /// Puts a set below an element, in place of what was there.
    pub fn set_child(&mut self, element: PathElement, child: Set) {
        self.children.insert(element, child);
    }

    /// Reports whether the set has no member at any depth.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.members.is_empty() && self.children.values().all(Set::is_empty)
    }

    /// All members of either.
    #[must_use]
    pub fn union(&self, other: &Set) -> Set {
        let mut result = self.clone();
        result.members.extend(other.members.iter().cloned());
        for (element, set) in &other.children {
            let merged = match result.children.get(element) {
                Some(own) => own.union(set),
                None => set.clone(),
            };
            result.children.insert(element.clone(), merged);
        }
        result
    }

    /// The members of both.
    #[must_use]
    pub fn intersection(&self, other: &Set) -> Set {
        let members = self.members.intersection(&other.members).cloned().collect();
        let children = self
            .children
            .iter()
            .filter_map(|(e, set)| Some((e.clone(), set.intersection(other.children.get(e)?))))
            .filter(|(_, set)| !set.is_empty())
            .collect();
        Set { members, children }
    }

    /// The members that the other set does not have.
    #[must_use]
    pub fn difference(&self, other: &Set) -> Set {
        let members = self.members.difference(&other.members).cloned().collect();
        let mut children = BTreeMap::new();
        for (element, set) in &self.children {
            let rest = match other.children.get(element) {
                Some(other) => set.difference(other),
                None => set.clone(),
            };
            if !rest.is_empty() {
                children.insert(element.clone(), rest);
            }
        }
        Set { members, children }
    }

    /// The members that are neither in the other set nor below one of its members.
    #[must_use]
    pub fn recursive_difference(&self, other: &Set) -> Set {
        let members = self.members.difference(&other.members).cloned().collect();
        let mut children = BTreeMap::new();
        for (element, set) in self.children.iter().filter(|(e, _)| !other.members.contains(e)) {
            let rest = match other.children.get(element) {
                Some(other) => set.recursive_difference(other),
                None => set.clone(),
            };
            if !rest.is_empty() {
                children.insert(element.clone(), rest);
            }
        }
        Set { members, children }
    }

    /// All paths, parents before what is below them.
    #[must_use]
    pub fn paths(&self) -> Vec<Vec<PathElement>> {
        let mut paths = Vec::new();
        self.collect_paths(&mut Vec::new(), &mut paths);
        paths
    }

    fn collect_paths(&self, prefix: &mut Vec<PathElement>, paths: &mut Vec<Vec<PathElement>>) {
        for member in &self.members {
            let mut path = prefix.clone();
            path.push(member.clone());
            paths.push(path);
        }
        for (element, child) in &self.children {
            prefix.push(element.clone());
            child.collect_paths(prefix, paths);
            prefix.pop();
        }
    }

    /// The JSON of `fieldsV1`.
    #[must_use]
    pub fn to_fields_v1(&self) -> Value {
        let mut map = Map::new();
        for member in &self.members {
            map.insert(member.encode(), Value::Object(Map::new()));
        }
        for (element, child) in self.children.iter().filter(|(_, child)| !child.is_empty()) {
            let mut below = child.to_fields_v1();
            if let (true, Some(below)) = (self.members.contains(element), below.as_object_mut()) {
                below.insert(".".to_owned(), Value::Object(Map::new()));
            }
            map.insert(element.encode(), below);
        }
        Value::Object(map)
    }

    /// Reads the JSON of `fieldsV1`. Unknown kinds of path elements are left out, as structured-merge-diff does.
    ///
    /// # Errors
    /// Returns the first part that is no `FieldsV1`.
    pub fn from_fields_v1(fields: &Value) -> Result<Self, FieldsError> {
        Self::decode(fields, 0).map(|(set, _)| set)
    }

    /// The set, and whether the node itself is a member.
    fn decode(fields: &Value, depth: usize) -> Result<(Self, bool), FieldsError> {
        let failed = |problem| FieldsError::new(&fields.to_string(), problem);
        let map = fields.as_object().ok_or_else(|| failed("is not an object"))?;
        if depth == MAX_DEPTH {
            return Err(failed("is nested too deep"));
        }
        let mut set = Self::default();
        for (key, below) in map.iter().filter(|(key, _)| *key != ".") {
            let Some(element) = PathElement::decode(key)? else { continue };
            let (child, member) = Self::decode(below, depth + 1)?;
            if member {
                set.members.insert(element.clone());
            }
            if !child.is_empty() {
                set.children.insert(element, child);
            }
        }
        Ok((set, map.is_empty() || map.contains_key(".")))
    }
}

#[cfg(test)]
mod tests;
