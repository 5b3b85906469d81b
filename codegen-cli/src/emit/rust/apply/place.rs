//! Decides the place and name of each type's apply configuration.

use std::collections::{BTreeMap, BTreeSet};

use heck::{ToSnakeCase, ToUpperCamelCase};

use super::super::names;
use super::{Key, builtin};
use crate::ir::Ir;

/// Modules of group and version, and the name there without `ApplyConfiguration`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) group: String,
    pub(super) version: String,
    pub(super) name: String,
}

impl Place {
    /// The place of the apply configuration of a Kubernetes type.
    pub(super) fn of_built_in(name: &str) -> Self {
        let (group, version, name) = builtin::place(name);
        Self { group, version, name }
    }

    /// The name of its apply configuration.
    pub(super) fn configuration(&self) -> String {
        format!("{}ApplyConfiguration", self.name)
    }

    /// Whether the types have the same group and version.
    pub(super) fn is_beside(&self, other: &Self) -> bool {
        (&self.group, &self.version) == (&other.group, &other.version)
    }
}

/// The use of types by kinds.
#[derive(Default)]
pub(super) struct Uses {
    /// Modules of group and version of each kind, and its root type.
    kinds: Vec<(String, String, Key)>,
    /// The kinds that use a type, in order.
    of: BTreeMap<Key, BTreeSet<usize>>,
}

impl Uses {
    /// Adds a kind with the modules of its group and version, and returns its number.
    pub(super) fn kind(&mut self, (group, version): (String, String), root: &Key) -> usize {
        self.kinds.push((group, version, root.clone()));
        self.kinds.len() - 1
    }

    /// Records that a kind uses a type; returns whether this is new.
    pub(super) fn add(&mut self, kind: usize, key: &Key) -> bool {
        self.of.entry(key.clone()).or_default().insert(kind)
    }

    /// The place of each type. Kinds come first and keep their names, then the others in the order of their
    /// paths.
    pub(super) fn places(&self, ir: &Ir) -> BTreeMap<Key, Place> {
        let roots: BTreeSet<&Key> = self.kinds.iter().map(|(_, _, root)| root).collect();
        let keys = self.of.keys().map(|key| (key, !roots.contains(key), path_of(ir, key)));
        let mut keys: Vec<(&Key, bool, String)> = keys.collect();
        keys.sort_by(|(_, a, a_path), (_, b, b_path)| (a, a_path).cmp(&(b, b_path)));
        let mut taken = BTreeSet::new();
        let mut places = BTreeMap::new();
        for (key, _, path) in keys {
            let (group, version, candidates) = match key {
                Key::Named(_) => {
                    let (group, version) = self.nearest(ir, key, &path);
                    (group, version, names_of(&path))
                }
                Key::BuiltIn(name) => {
                    let (group, version, name) = builtin::place(name);
                    (group, version, vec![format!("K8s{name}"), name])
                }
            };
            let name = free(&mut taken, &group, &version, candidates);
            places.insert(key.clone(), Place { group, version, name });
        }
        places
    }

    /// Group and version of the kind whose module is nearest to the type's; among several, the first.
    fn nearest(&self, ir: &Ir, key: &Key, path: &str) -> (String, String) {
        let using = self.of.get(key).into_iter().flatten().map(|at| &self.kinds[*at]);
        let mut best: Option<(usize, &(String, String, Key))> = None;
        for kind in using {
            let root = path_of(ir, &kind.2);
            let shared = root.split("::").zip(path.split("::")).take_while(|(a, b)| a == b).count();
            if best.is_none_or(|(most, _)| shared > most) {
                best = Some((shared, kind));
            }
        }
        best.map(|(_, (group, version, _))| (group.clone(), version.clone())).unwrap_or_default()
    }
}

/// The path by which types are sorted.
fn path_of(ir: &Ir, key: &Key) -> String {
    match key {
        Key::Named(id) => ir.types[id.0 as usize].path.clone(),
        Key::BuiltIn(name) => name.clone(),
    }
}

/// The possible names of the type, the best last: its name, alone or after the names of the modules around
/// it.
fn names_of(path: &str) -> Vec<String> {
    let (plain, arguments) = path.split_once('<').unwrap_or((path, ""));
    let arguments: String = arguments
        .split(|c: char| !c.is_ascii_alphanumeric() && c != '_' && c != ':')
        .filter_map(|argument| argument.rsplit("::").next())
        .map(camel)
        .collect();
    let mut name = arguments;
    let mut out = Vec::new();
    for segment in plain.rsplit("::") {
        name = camel(segment) + &name;
        out.push(names::type_part(&name));
    }
    out.reverse();
    out
}

/// A part of a type's name from the name of a type or of a module.
fn camel(name: &str) -> String {
    if name.starts_with(|c: char| c.is_ascii_uppercase()) && !name.contains('_') {
        return name.chars().filter(char::is_ascii_alphanumeric).collect();
    }
    name.to_upper_camel_case().chars().filter(char::is_ascii_alphanumeric).collect()
}

/// The last free name of the list, or the longest with a number. Names do not differ in case alone.
fn free(
    taken: &mut BTreeSet<(String, String, String)>,
    group: &str,
    version: &str,
    mut candidates: Vec<String>,
) -> String {
    let mut take = |name: &str| taken.insert((group.to_owned(), version.to_owned(), name.to_snake_case()));
    let longest = candidates.first().cloned().unwrap_or_default();
    while let Some(name) = candidates.pop() {
        if take(&name) {
            return name;
        }
    }
    let mut number = 2;
    loop {
        let name = format!("{longest}{number}");
        if take(&name) {
            return name;
        }
        number += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn type_name_gains_module_names_until_unique() {
        assert_eq!(names_of("api::v1::Port"), ["ApiV1Port", "V1Port", "Port"]);
        assert_eq!(names_of("api::Pair<api::v1::Port, {String}>").last().unwrap(), "PairPortString");
        let mut taken = BTreeSet::new();
        let mut name = |path: &str| free(&mut taken, "shop", "v1", names_of(path));
        assert_eq!(name("api::v1::Port"), "Port");
        assert_eq!(name("api::net::Port"), "NetPort");
        assert_eq!(name("api::net::Port"), "ApiNetPort");
        assert_eq!(name("api::net::Port"), "ApiNetPort2");
        assert_eq!(name("api::v1::PORT"), "V1PORT");
    }
}
