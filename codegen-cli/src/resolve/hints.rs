//! Advice for a path without a target.

use std::collections::BTreeSet;

use kubesmith_core::names::closest;

use super::{Missing, Place, Resolver, Unresolved, Visited};
use crate::known;
use crate::load::ModuleId;
use crate::syntax::PathExpr;

impl Resolver<'_> {
    pub(super) fn explain(
        &self,
        krate: usize,
        module: ModuleId,
        path: &PathExpr,
        missing: Missing,
        globs: &BTreeSet<usize>,
    ) -> Unresolved {
        let Missing { name, at } = missing;
        let hint = if let Some(hint) = self.unread(globs) {
            hint
        } else if path.segments.first() != Some(&name) {
            self.inner(&name, at)
        } else if name == "Self" {
            "items of `Self` are not looked up: write the type out".to_string()
        } else if let Some(hint) = self.lost((krate, module), &name) {
            hint
        } else if let Some(import) = self.import(krate, &name) {
            format!("import it: `use {import};`")
        } else if path.segments.len() > 1 {
            self.first_of_several(krate, module, &name)
        } else {
            self.alone((krate, module), &name)
        };
        Unresolved { name, hint: Some(hint) }
    }

    /// An unreadable crate that may have the name, because of a glob import.
    fn unread(&self, globs: &BTreeSet<usize>) -> Option<String> {
        globs.iter().find_map(|at| {
            let foreign = &self.crates.foreign[*at];
            let unread = foreign.unread.as_ref()?;
            Some(format!(
                "the crate `{}`, of which everything is imported, could not be read ({}): {}",
                foreign.package, unread.reason, unread.help
            ))
        })
    }

    /// The path of a type with this name in an input or a known crate.
    fn import(&self, krate: usize, name: &str) -> Option<String> {
        let mut items = self.items().filter(|(id, _)| self.crates.list[id.krate].is_input);
        let elsewhere = items.find(|(_, item)| item.name.text == name).map(|(id, _)| {
            let full = self.definition_path(id);
            let (lib, inner) = full.split_once("::").unwrap_or((&full, ""));
            if id.krate == krate { format!("crate::{inner}") } else { format!("{lib}::{inner}") }
        });
        elsewhere.or_else(|| known::by_name(name).map(str::to_string))
    }

    fn first_of_several(&self, krate: usize, module: ModuleId, name: &str) -> String {
        let krate_ = &self.crates.list[krate];
        if let Some(key) = krate_.optional.get(name) {
            return format!("the dependency `{key}` is optional: turn it on with `--features`");
        }
        let known = krate_.externs.keys().map(String::as_str);
        let children = self.names[krate][module].children.keys().copied();
        near(name, known.chain(children).collect()).unwrap_or_else(|| {
            let package = package(name);
            format!("add the package `{package}` to the [dependencies] of Cargo.toml, or import the module")
        })
    }

    fn alone(&self, place: Place, name: &str) -> String {
        let mut candidates = self.names_of(place);
        for known in known::prelude() {
            candidates.push(known);
        }
        let hint = self.lost(place, name).or_else(|| near(name, candidates)).or_else(|| self.unseen(place));
        hint.unwrap_or_else(|| {
            format!("define `{name}`, or import it; types that procedural macros make are not seen")
        })
    }

    /// The hint for a later part of a path.
    fn inner(&self, name: &str, at: Option<Place>) -> String {
        let Some(place) = at else {
            return "a type cannot stand inside a type: write the path of a module".to_string();
        };
        let near = || near(name, self.names_of(place));
        let hint = self.lost(place, name).or_else(near).or_else(|| self.unseen(place));
        hint.unwrap_or_else(|| format!("`{}` has nothing of this name", self.module_path(place.0, place.1)))
    }

    fn names_of(&self, (krate, module): Place) -> Vec<&str> {
        let names = &self.names[krate][module];
        names.types.keys().chain(names.bindings.keys()).chain(names.children.keys()).copied().collect()
    }

    /// The hint for a declared name whose target is missing.
    fn lost(&self, place: Place, name: &str) -> Option<String> {
        let (krate, module) = place;
        let at = *self.names[krate][module].bindings.get(name)?;
        let used = &self.crates.list[krate].modules[module].uses[at];
        let hint = format!("`use {}` leads nowhere", used.segments.join("::"));
        let found = self.path(krate, module, used.global, &used.segments, &mut Visited::default());
        let inner = match found {
            Err(Missing { name, .. }) if used.segments.len() > 1 && used.segments[0] == name => {
                Some(self.first_of_several(krate, module, &name))
            }
            Err(Missing { at, .. }) => at.and_then(|place| self.unseen(place)),
            _ => None,
        };
        let reason = self.problem(krate).or(inner);
        Some(match reason {
            Some(reason) => format!("{hint}: {reason}"),
            None => hint,
        })
    }

    /// The hint for items that cannot be seen in a module, or in its crate.
    fn unseen(&self, (krate, module): Place) -> Option<String> {
        if let Some(found) = self.crates.list[krate].modules[module].calls().next() {
            return Some(format!(
                "`{}!` is not expanded, and may define it: write the type out, or say what its JSON \
                 is with `#[schema(schemaless)]` and `#[validation(type = \"...\")]` on the field",
                found.name.text
            ));
        }
        self.problem(krate)
    }

    /// The error in a dependency.
    fn problem(&self, krate: usize) -> Option<String> {
        let krate = &self.crates.list[krate];
        let problem = krate.problems.first()?;
        Some(format!("not all of the crate `{}` could be read: {}", krate.package, problem.message))
    }
}

fn near(name: &str, mut candidates: Vec<&str>) -> Option<String> {
    candidates.sort_unstable();
    candidates.retain(|candidate| *candidate != name);
    closest(name, candidates).map(|near| format!("did you mean `{near}`?"))
}

/// The package of a crate by its name in code. Names with underscores are ambiguous; those of Kubernetes' packages have dashes.
fn package(name: &str) -> String {
    let is_dashed = ["k8s_", "kube_", "kubesmith_"].iter().any(|start| name.starts_with(start));
    if is_dashed { name.replace('_', "-") } else { name.to_owned() }
}
