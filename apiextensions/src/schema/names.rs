//! Lists of names.

use std::ops::Deref;

use serde::Serialize;

/// The names of required fields, each once. A schema that was read keeps its author's order, in which API servers report
/// missing fields; names that code adds stand in the order of the alphabet.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(transparent)]
pub struct Names(Vec<String>);

impl Names {
    /// Reports whether the list has the name.
    #[must_use]
    pub fn contains(&self, name: &str) -> bool {
        self.0.iter().any(|known| known == name)
    }

    /// Adds a name.
    pub fn insert(&mut self, name: impl Into<String>) {
        let name = name.into();
        if !self.contains(&name) {
            let at = self.0.partition_point(|known| *known < name);
            self.0.insert(at, name);
        }
    }

    /// Removes a name.
    pub fn remove(&mut self, name: &str) {
        self.0.retain(|known| known != name);
    }

    /// Removes the names for which `keep` is false.
    pub fn retain(&mut self, keep: impl FnMut(&String) -> bool) {
        self.0.retain(keep);
    }

    /// Removes all names.
    pub fn clear(&mut self) {
        self.0.clear();
    }

    /// Puts the names into the order of the alphabet.
    pub fn sort(&mut self) {
        self.0.sort();
    }

    /// Takes names in the order given, the first of equal ones.
    pub(super) fn in_order(names: Vec<String>) -> Self {
        let mut out = Self::default();
        for name in names {
            if !out.contains(&name) {
                out.0.push(name);
            }
        }
        out
    }
}

impl Deref for Names {
    type Target = [String];

    fn deref(&self) -> &[String] {
        &self.0
    }
}

impl Extend<String> for Names {
    fn extend<I: IntoIterator<Item = String>>(&mut self, names: I) {
        names.into_iter().for_each(|name| self.insert(name));
    }
}

impl FromIterator<String> for Names {
    fn from_iter<I: IntoIterator<Item = String>>(names: I) -> Self {
        let mut out = Self::default();
        out.extend(names);
        out
    }
}

impl<const N: usize> From<[String; N]> for Names {
    fn from(names: [String; N]) -> Self {
        names.into_iter().collect()
    }
}

impl IntoIterator for Names {
    type Item = String;
    type IntoIter = std::vec::IntoIter<String>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

impl<'a> IntoIterator for &'a Names {
    type Item = &'a String;
    type IntoIter = std::slice::Iter<'a, String>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.iter()
    }
}
