//! Resolves paths of macros: names from `use` declarations, and exported macros.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::{Place, Resolver, Target, Visited};
use crate::load::{Crates, ModuleId};
use crate::syntax::{MacroDefinition, PathExpr, Step};

/// A macro and its crate.
pub type Found<'a> = (usize, &'a Arc<MacroDefinition>);

/// Macros that are known by name.
pub type Scope<'a> = HashMap<&'a str, Found<'a>>;

/// The searched names of modules. Each is searched once: modules that import each other by globs are cycles, and
/// the number of paths through them grows exponentially.
type Searched = HashSet<(Place, String)>;

/// The macros of the crates of a run.
#[derive(Debug)]
pub struct Macros<'a> {
    /// The names in scope at the end of each module.
    scopes: Vec<Vec<Scope<'a>>>,
    /// `#[macro_export]`, by crate.
    exports: Vec<Scope<'a>>,
}

impl<'a> Macros<'a> {
    /// The exported macros of the crates.
    pub fn new(crates: &'a Crates) -> Self {
        let scopes = crates.list.iter().map(|krate| vec![Scope::new(); krate.modules.len()]).collect();
        let exports = crates.list.iter().enumerate().map(|(at, krate)| {
            let steps = krate.modules.iter().flat_map(|module| &module.steps);
            let exported = steps.filter_map(|step| match step {
                Step::Definition(definition) if definition.is_exported => Some(definition),
                _ => None,
            });
            exported.map(|definition| (definition.name.text.as_str(), (at, definition))).collect()
        });
        Self { scopes, exports: exports.collect() }
    }

    /// The macros that a crate exports.
    pub fn exports(&self, krate: usize) -> Scope<'a> {
        self.exports[krate].clone()
    }

    /// Sets the macros in scope at the end of a module.
    pub fn set_scope(&mut self, krate: usize, module: ModuleId, scope: Scope<'a>) {
        self.scopes[krate][module] = scope;
    }
}

impl<'a> Resolver<'a> {
    /// The macro at a path in a module. An unread crate is added to the wanted ones.
    pub fn macro_of(
        &self,
        macros: &Macros<'a>,
        krate: usize,
        module: ModuleId,
        path: &PathExpr,
    ) -> Option<Found<'a>> {
        self.macro_path(macros, (krate, module), path.global, &path.segments, &mut Searched::new())
    }

    fn macro_path(
        &self,
        macros: &Macros<'a>,
        place: Place,
        global: bool,
        segments: &[String],
        searched: &mut Searched,
    ) -> Option<Found<'a>> {
        let (last, rest) = segments.split_last()?;
        if rest.is_empty() {
            return self.macro_in(macros, place, last, searched).filter(|_| !global);
        }
        match self.path(place.0, place.1, global, rest, &mut Visited::default()).ok()? {
            Target::Module(krate, module) => self.macro_in(macros, (krate, module), last, searched),
            Target::Unread(at, _) => {
                self.wanted.borrow_mut().insert(at);
                None
            }
            Target::Item(_) | Target::External(_) => None,
        }
    }

    /// A macro by its name in a module.
    fn macro_in(
        &self,
        macros: &Macros<'a>,
        (krate, module): Place,
        name: &str,
        searched: &mut Searched,
    ) -> Option<Found<'a>> {
        if let Some(found) = macros.exports[krate].get(name).filter(|_| module == 0) {
            return Some(*found);
        }
        if !searched.insert(((krate, module), name.to_string())) {
            return None;
        }
        let names = &self.names[krate][module];
        let uses = &self.crates.list[krate].modules[module].uses;
        if let Some(item) = names.bindings.get(name).map(|&at| &uses[at]) {
            // `pub(crate) use name;` after a definition.
            return match &item.segments[..] {
                [own] if !item.global => macros.scopes[krate][module].get(own.as_str()).copied(),
                segments => self.macro_path(macros, (krate, module), item.global, segments, searched),
            };
        }
        names.globs.iter().find_map(|&at| {
            let module = self.glob_target((krate, module), at)?;
            self.macro_in(macros, module, name, searched)
        })
    }

    /// The module of a glob import.
    fn glob_target(&self, place: Place, at: usize) -> Option<Place> {
        if let Some(known) = self.globs.borrow().get(&(place, at)) {
            return *known;
        }
        let item = &self.crates.list[place.0].modules[place.1].uses[at];
        let found = match self.path(place.0, place.1, item.global, &item.segments, &mut Visited::default()) {
            Ok(Target::Module(krate, module)) => Some((krate, module)),
            _ => None,
        };
        self.globs.borrow_mut().insert((place, at), found);
        found
    }
}
