//! Sets of fields, and their JSON form `fieldsV1`.

use std::collections::{BTreeMap, BTreeSet};

use kubesmith_apimachinery::golang;
use serde_json::{Map, Value};

/// One step of a path into an object.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Element {
    /// A field of a structure or an entry of a map.
    Field(String),
    /// The item of a list map with these key fields (canonical JSON).
    Key(String),
    /// The item of a set (canonical JSON).
    Value(String),
    /// An item by its place.
    Index(usize),
}

impl Element {
    /// The item of a set.
    #[must_use]
    pub fn value(value: &Value) -> Self {
        Self::Value(golang::json(value))
    }

    /// The item of a list map.
    #[must_use]
    pub fn key(fields: Map<String, Value>) -> Self {
        Self::Key(golang::json(&Value::Object(fields)))
    }

    fn encode(&self) -> String {
        match self {
            Self::Field(name) => format!("f:{name}"),
            Self::Key(key) => format!("k:{key}"),
            Self::Value(value) => format!("v:{value}"),
            Self::Index(index) => format!("i:{index}"),
        }
    }

    fn decode(text: &str) -> Option<Self> {
        let (kind, rest) = text.split_once(':')?;
        Some(match kind {
            "f" => Self::Field(rest.to_owned()),
            "k" => Self::key(serde_json::from_str(rest).ok()?),
            "v" => Self::value(&serde_json::from_str(rest).ok()?),
            "i" => Self::Index(rest.parse().ok()?),
            _ => return None,
        })
    }
}

impl std::fmt::Display for Element {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let shown = |value: &Value| match value {
            Value::String(s) => golang::quote(s),
            other => golang::json(other),
        };
        match self {
            Self::Field(name) => write!(f, ".{name}"),
            Self::Key(key) => {
                let map: Map<String, Value> = serde_json::from_str(key).unwrap_or_default();
                let parts: Vec<String> = map.iter().map(|(k, v)| format!("{k}={}", shown(v))).collect();
                write!(f, "[{}]", parts.join(","))
            }
            Self::Value(value) => {
                let value: Value = serde_json::from_str(value).unwrap_or_default();
                write!(f, "[={}]", shown(&value))
            }
            Self::Index(index) => write!(f, "[{index}]"),
        }
    }
}

/// A set of paths. A path may be a member and have members below it at the same time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Set {
    members: BTreeSet<Element>,
    children: BTreeMap<Element, Set>,
}

/// Sets nested deeper than this are not decoded.
const MAX_DEPTH: usize = 200;

impl Set {
    /// Adds a path; the empty path is no member of any set.
    pub fn insert(&mut self, path: &[Element]) {
        let Some((last, parents)) = path.split_last() else { return };
        let mut node = self;
        for parent in parents {
            node = node.children.entry(parent.clone()).or_default();
        }
        node.members.insert(last.clone());
    }

    /// Whether this very path is a member.
    #[must_use]
    pub fn has(&self, path: &[Element]) -> bool {
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

    /// Whether the element itself is a member at the top.
    pub(crate) fn has_element(&self, element: &Element) -> bool {
        self.members.contains(element)
    }

    /// What is below an element, if anything is.
    pub(crate) fn below(&self, element: &Element) -> Option<&Set> {
        self.children.get(element).filter(|set| !set.is_empty())
    }

    pub(crate) fn children(&self) -> impl Iterator<Item = (&Element, &Set)> {
        self.children.iter()
    }

    pub(crate) fn with_member(mut self, element: Element) -> Self {
        self.members.insert(element);
        self
    }

    pub(crate) fn members_only(&self) -> Self {
        Self { members: self.members.clone(), children: BTreeMap::new() }
    }

    pub(crate) fn set_child(&mut self, element: Element, child: Set) {
        self.children.insert(element, child);
    }

    /// Whether there is no member anywhere.
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
    pub fn paths(&self) -> Vec<Vec<Element>> {
        let mut paths = Vec::new();
        self.collect_paths(&mut Vec::new(), &mut paths);
        paths
    }

    fn collect_paths(&self, prefix: &mut Vec<Element>, paths: &mut Vec<Vec<Element>>) {
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

    /// Reads the JSON of `fieldsV1`; None if it is none.
    #[must_use]
    pub fn from_fields_v1(fields: &Value) -> Option<Set> {
        Self::decode(fields, 0).map(|(set, _)| set)
    }

    /// The set, and whether the node itself is a member.
    fn decode(fields: &Value, depth: usize) -> Option<(Set, bool)> {
        let map = fields.as_object().filter(|_| depth < MAX_DEPTH)?;
        let mut set = Set::default();
        for (key, below) in map.iter().filter(|(key, _)| *key != ".") {
            let element = Element::decode(key)?;
            let (child, member) = Self::decode(below, depth + 1)?;
            if member {
                set.members.insert(element.clone());
            }
            if !child.is_empty() {
                set.children.insert(element, child);
            }
        }
        Some((set, map.is_empty() || map.contains_key(".")))
    }
}

/// A path as conflicts show it: `.spec.ports[name="web"].port`.
#[must_use]
pub fn path_text(path: &[Element]) -> String {
    path.iter().map(Element::to_string).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    #[test]
    fn fields_v1_round_trips() {
        let fields = json!({"f:spec": {".": {}, "f:size": {}, "f:ports": {"k:{\"name\":\"web\"}": {".": {}, "f:port": {}}},
            "f:tags": {"v:\"x\"": {}}, "f:l": {"i:3": {}}}});
        let set = Set::from_fields_v1(&fields).unwrap();
        assert_eq!(set.to_fields_v1(), fields);
        let texts: Vec<String> = set.paths().iter().map(|p| path_text(p)).collect();
        assert!(texts.contains(&".spec.ports[name=\"web\"].port".to_owned()), "{texts:?}");
        assert!(texts.contains(&".spec.tags[=\"x\"]".to_owned()));
        for bad in [json!({"x": {}}), json!({"k:{": {}}), json!([]), json!({"f:a": 1})] {
            assert_eq!(Set::from_fields_v1(&bad), None);
        }
    }

    fn sets() -> impl Strategy<Value = Set> {
        prop::collection::vec(prop::collection::vec("[abc]", 1..4), 0..8).prop_map(|paths| {
            let mut set = Set::default();
            for path in paths {
                set.insert(&path.into_iter().map(Element::Field).collect::<Vec<_>>());
            }
            set
        })
    }

    proptest! {
        #[test]
        fn sets_obey_the_laws_of_sets(a in sets(), b in sets()) {
            prop_assert_eq!(a.union(&b).paths().len() + a.intersection(&b).paths().len(), a.paths().len() + b.paths().len());
            prop_assert!(a.difference(&b).intersection(&b).is_empty());
            prop_assert_eq!(a.difference(&b).union(&a.intersection(&b)).to_fields_v1(), a.to_fields_v1());
            prop_assert_eq!(Set::from_fields_v1(&a.to_fields_v1()).unwrap(), a);
        }
    }
}
