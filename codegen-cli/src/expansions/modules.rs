//! Resolves paths in the modules of a package that handwritten files can see.

use std::collections::BTreeSet;

use super::index::{Index, Segments};
use crate::source::FileId;

/// The longest chain of `use` declarations.
const STEPS: usize = 16;

/// One file of the package.
#[derive(Debug)]
pub(super) struct Module {
    /// Its path below the package's root.
    pub(super) path: Segments,
    /// Folder of the file, below the source folder.
    pub(super) folder: String,
    /// The file.
    pub(super) file: FileId,
    /// Whether it is handwritten.
    pub(super) by_hand: bool,
    /// Its definitions.
    pub(super) index: Index,
}

impl Module {
    /// Whether it is the module of this file below the source folder.
    pub(super) fn is(&self, file: &str) -> bool {
        file.strip_suffix(".rs").is_some_and(|path| path.split('/').eq(self.path.iter()))
    }
}

/// A type or trait: the module that defines it, and its name.
pub(super) type Id = (Segments, String);

/// Handwritten modules, then generated ones.
#[derive(Debug)]
pub(super) struct Modules<'r> {
    /// Module path of the package in its crate.
    pub(super) root: &'r [String],
    /// The modules.
    pub(super) list: Vec<Module>,
}

impl Modules<'_> {
    /// The files that handwritten modules declare as submodules, by their paths below the source folder.
    pub(super) fn declared(&self) -> BTreeSet<String> {
        let by_hand = self.list.iter().filter(|module| module.by_hand);
        let files = |module: &Module| {
            let folder = module.folder.clone();
            module.index.files.clone().into_iter().map(move |file| format!("{folder}/{file}"))
        };
        by_hand.flat_map(files).collect()
    }

    /// The definition at a path in a module; `None`: outside the package, or not indexed.
    pub(super) fn resolve(&self, from: &Module, path: &[String]) -> Option<Id> {
        self.definition(&self.absolute(&from.path, path, STEPS)?, STEPS)
    }

    fn module(&self, path: &[String]) -> Option<&Module> {
        self.list.iter().find(|module| module.path == path)
    }

    /// The path from the package's root.
    fn absolute(&self, from: &[String], path: &[String], steps: usize) -> Option<Segments> {
        let steps = steps.checked_sub(1)?;
        let (first, rest) = path.split_first()?;
        match first.as_str() {
            "crate" => Some(rest.strip_prefix(self.root)?.to_vec()),
            "self" => Some([from, rest].concat()),
            "super" => {
                let (_, parent) = from.split_last()?;
                match rest.first().is_some_and(|next| next == "super") {
                    true => self.absolute(parent, rest, steps),
                    false => Some([parent, rest].concat()),
                }
            }
            name => {
                let base = self.in_scope(from, name, steps)?;
                Some([base.as_slice(), rest].concat())
            }
        }
    }

    /// The meaning of a name in a module.
    fn in_scope(&self, from: &[String], name: &str, steps: usize) -> Option<Segments> {
        let module = self.module(from)?;
        let own = [from, &[name.to_owned()]].concat();
        let is_child = self.list.iter().any(|other| other.path.starts_with(&own));
        if is_child || module.index.types.iter().any(|known| known.text == name) {
            return Some(own);
        }
        let uses = || module.index.uses.iter().filter(|used| !used.global);
        let bound = uses().find(|used| used.binding.as_deref() == Some(name));
        if let Some(used) = bound {
            return self.absolute(from, &used.segments, steps);
        }
        uses().filter(|used| used.binding.is_none()).find_map(|glob| {
            let target = self.absolute(from, &glob.segments, steps)?;
            self.in_scope(&target, name, steps.checked_sub(1)?)
        })
    }

    /// The definition of a path's last name, behind re-exports.
    fn definition(&self, path: &[String], steps: usize) -> Option<Id> {
        let (name, module) = path.split_last()?;
        let is_own = self.module(module)?.index.types.iter().any(|known| known.text == *name);
        if is_own {
            return Some((module.to_vec(), name.clone()));
        }
        let steps = steps.checked_sub(1)?;
        let behind = self.in_scope(module, name, steps)?;
        self.definition(&behind, steps)
    }
}
