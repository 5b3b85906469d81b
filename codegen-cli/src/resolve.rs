//! Resolves the paths of types over the modules of the input crates, as rustc does for the type
//! namespace: definitions, child modules, `use` with renames, globs and re-exports, `self`, `super`,
//! `crate`, dependencies and the prelude.
//!
//! It is independent of schemas: a path into an unread crate stays a text.

mod hints;
mod macros;
mod missing;
mod public;
mod values;

use std::cell::{Cell, OnceCell, RefCell};
use std::collections::{BTreeSet, HashMap, HashSet};

use kubesmith_core::names;

use self::public::Public;
use crate::known;
use crate::load::{Crates, Dependency, ModuleId};
use crate::macros::crate_index;
use crate::syntax::facts::ModuleFacts;
use crate::syntax::{ImplItem, Name, PathExpr, TypeItem, ValueItem, Visibility};

pub use macros::{Found, Macros, Scope};
pub use values::Value;

/// A type definition: crate, module, position in [`crate::load::Module::types`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ItemId {
    /// Index of the crate.
    pub krate: usize,
    /// The module.
    pub module: ModuleId,
    /// Position in the module.
    pub item: usize,
}

/// The target of a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// A type with source.
    Item(ItemId),
    /// A module with source.
    Module(usize, ModuleId),
    /// A path into std or another known crate; the first part is the crate's library name.
    External(String),
    /// A path into an unread crate, by its index in [`Crates::foreign`].
    Unread(usize, String),
}

/// The reason why a path has no target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unresolved {
    /// The missing part.
    pub name: String,
    /// Advice.
    pub hint: Option<String>,
}

/// The missing part of a path, and the module that was searched.
#[derive(Debug)]
struct Missing {
    name: String,
    at: Option<(usize, ModuleId)>,
}

/// Names of a module, by position.
#[derive(Debug, Default)]
struct Names<'a> {
    types: HashMap<&'a str, usize>,
    children: HashMap<&'a str, ModuleId>,
    bindings: HashMap<&'a str, usize>,
    globs: Vec<usize>,
    values: HashMap<&'a str, usize>,
}

/// Methods by their names, each with its crate and module.
type SchemaMethods<'a> = HashMap<&'a str, Vec<(usize, ModuleId, &'a ValueItem)>>;

/// Resolves paths in the crates of a run.
#[derive(Debug)]
pub struct Resolver<'a> {
    crates: &'a Crates,
    names: Vec<Vec<Names<'a>>>,
    public: RefCell<HashMap<usize, Public>>,
    /// `impl` blocks of each type, collected on first use.
    impls: OnceCell<HashMap<ItemId, Vec<Impl<'a>>>>,
    /// Methods of schemas, by their names.
    schema_methods: OnceCell<SchemaMethods<'a>>,
    /// The modules of globs, by position in their module.
    globs: RefCell<HashMap<(Place, usize), Option<Place>>>,
    /// Crates to read, by their indices in [`Crates::foreign`].
    wanted: RefCell<BTreeSet<usize>>,
    /// Whether a requested definition has errors in its attributes.
    broken: Cell<bool>,
}

/// An `impl` block and its module.
type Impl<'a> = (usize, ModuleId, &'a ImplItem);

/// A module.
type Place = (usize, ModuleId);

/// A name in a module, and the module whose glob imports it.
type Key = (usize, ModuleId, String, Option<Place>);

/// The visited names of a search: cycles of `use` declarations end, and shared targets are searched once.
#[derive(Debug, Default)]
struct Visited {
    /// The names being resolved.
    open: HashSet<Key>,
    /// Results of the outermost search, since a cycle may have cut them short.
    done: HashMap<Key, Option<Target>>,
    /// Unread crates that may have the name, because of glob imports.
    globs: BTreeSet<usize>,
}

impl<'a> Resolver<'a> {
    /// Indexes the crates.
    pub fn new(crates: &'a Crates) -> Self {
        let names =
            crates.list.iter().map(|krate| (0..krate.modules.len()).map(|m| index(krate, m)).collect());
        Self {
            crates,
            names: names.collect(),
            public: RefCell::default(),
            impls: OnceCell::new(),
            schema_methods: OnceCell::new(),
            globs: RefCell::default(),
            wanted: RefCell::default(),
            broken: Cell::new(false),
        }
    }

    /// The definition.
    pub fn item(&self, id: ItemId) -> &'a TypeItem {
        let item = &self.crates.list[id.krate].modules[id.module].types[id.item];
        self.broken.set(self.broken.get() || item.is_broken);
        item
    }

    /// Whether [`Resolver::item`] returned a definition with errors in its attributes.
    pub fn is_broken(&self) -> bool {
        self.broken.get()
    }

    /// Every definition, crate by crate, in source order.
    pub fn items(&self) -> impl Iterator<Item = (ItemId, &'a TypeItem)> + use<'a> {
        self.crates.list.iter().enumerate().flat_map(|(krate, c)| {
            c.modules.iter().enumerate().flat_map(move |(module, m)| {
                m.types.iter().enumerate().map(move |(item, t)| (ItemId { krate, module, item }, t))
            })
        })
    }

    /// The path of a definition from its crate's root, even if it is private.
    pub fn definition_path(&self, id: ItemId) -> String {
        format!("{}::{}", self.module_path(id.krate, id.module), self.item(id).name.text)
    }

    /// Facts from the module of a definition and its enclosing modules; the nearest wins. If the group is set
    /// without a version, a module between them that is named like a version sets it.
    pub fn module_facts(&self, id: ItemId) -> ModuleFacts {
        let modules = &self.crates.list[id.krate].modules;
        let mut facts = ModuleFacts::default();
        let mut named: Option<&str> = None;
        let mut at = Some(id.module);
        while let Some(module) = at.map(|at| &modules[at]) {
            if facts.group.is_none() && names::Version::conventional(&module.name).is_some() {
                named = named.or(Some(&module.name));
            }
            facts = facts.or(&module.facts);
            at = module.parent;
        }
        if let (None, Some(group), Some(name)) = (&facts.version, &facts.group, named) {
            facts.version = Some(Name { text: name.to_string(), loc: group.loc });
        }
        facts
    }

    /// Whether fields of definitions in a module are required by default.
    pub fn requires_fields(&self, krate: usize, module: ModuleId) -> bool {
        let modules = &self.crates.list[krate].modules;
        let around = std::iter::successors(Some(module), |at| modules[*at].parent);
        around.into_iter().find_map(|at| modules[at].facts.presence).unwrap_or(true)
    }

    fn module_path(&self, krate: usize, module: ModuleId) -> String {
        let m = &self.crates.list[krate].modules[module];
        match m.parent {
            Some(parent) => format!("{}::{}", self.module_path(krate, parent), m.name),
            None => m.name.clone(),
        }
    }

    fn is_public_module(&self, krate: usize, module: ModuleId) -> bool {
        let m = &self.crates.list[krate].modules[module];
        m.visibility == Visibility::Public
            && m.parent.is_none_or(|parent| self.is_public_module(krate, parent))
    }

    /// Resolves the path of a type in `module`.
    ///
    /// # Errors
    /// Returns an error if a part of the path is not found.
    pub fn resolve(&self, krate: usize, module: ModuleId, path: &PathExpr) -> Result<Target, Unresolved> {
        let mut visited = Visited::default();
        let found = self.path(krate, module, path.global, &path.segments, &mut visited);
        if let Ok(Target::External(path)) = &found
            && let Some(name) = known::primitive(path)
        {
            return Ok(Target::External(name.to_string()));
        }
        match &found {
            Ok(Target::Unread(crate_, _)) => {
                self.wanted.borrow_mut().insert(*crate_);
            }
            Ok(_) => {}
            Err(_) => self.wanted.borrow_mut().extend(&visited.globs),
        }
        found.map_err(|missing| self.explain(krate, module, path, missing, &visited.globs))
    }

    /// The crates to read for unresolved paths.
    pub fn wanted(&self) -> BTreeSet<usize> {
        self.wanted.borrow().clone()
    }

    fn path(
        &self,
        krate: usize,
        module: ModuleId,
        global: bool,
        segments: &[String],
        visited: &mut Visited,
    ) -> Result<Target, Missing> {
        let Some((first, rest)) = segments.split_first() else { return Ok(Target::Module(krate, module)) };
        let missing = |name: &String, at| Missing { name: name.clone(), at };
        let mut target = self
            .first(krate, module, global, first, visited)
            .ok_or_else(|| missing(first, Some((krate, module))))?;
        for segment in rest {
            target = match target {
                Target::Module(krate, module) if segment == "super" => {
                    let parent = self.crates.list[krate].modules[module].parent;
                    Target::Module(krate, parent.ok_or_else(|| missing(segment, None))?)
                }
                Target::Module(krate, module) => self
                    .member(krate, module, segment, visited)
                    .ok_or_else(|| missing(segment, Some((krate, module))))?,
                Target::External(path) => Target::External(known::normalize(&format!("{path}::{segment}"))),
                Target::Unread(at, path) => Target::Unread(at, format!("{path}::{segment}")),
                Target::Item(_) => return Err(missing(segment, None)),
            };
        }
        Ok(target)
    }

    fn first(
        &self,
        krate: usize,
        module: ModuleId,
        global: bool,
        name: &str,
        visited: &mut Visited,
    ) -> Option<Target> {
        if !global {
            match name {
                "crate" => return Some(Target::Module(krate, 0)),
                "self" => return Some(Target::Module(krate, module)),
                "super" => {
                    return self.crates.list[krate].modules[module].parent.map(|p| Target::Module(krate, p));
                }
                _ => {}
            }
            if let Some(made) = crate_index(name) {
                return Some(Target::Module(made, 0));
            }
            if let Some(target) = self.member(krate, module, name, visited) {
                return Some(target);
            }
        }
        self.external(krate, name)
            .or_else(|| (!global && known::is_prelude(name)).then(|| Target::External(name.to_string())))
    }

    /// A crate in the extern prelude.
    fn external(&self, krate: usize, name: &str) -> Option<Target> {
        self.dependency(krate, name).or_else(|| self.renamed(krate, name))
    }

    /// A dependency, or a part of std.
    fn dependency(&self, krate: usize, name: &str) -> Option<Target> {
        match self.crates.list[krate].externs.get(name) {
            Some(Dependency::Crate(index)) => Some(Target::Module(*index, 0)),
            Some(Dependency::Foreign(index)) => {
                let lib = &self.crates.foreign[*index].lib;
                let is_known = known::is_known_crate(lib);
                Some(if is_known {
                    Target::External(lib.clone())
                } else {
                    Target::Unread(*index, lib.clone())
                })
            }
            None => matches!(name, "std" | "core" | "alloc").then(|| Target::External(name.to_string())),
        }
    }

    /// A crate that `extern crate` renames at the root, for the whole crate.
    fn renamed(&self, krate: usize, name: &str) -> Option<Target> {
        let at = *self.names[krate][0].bindings.get(name)?;
        let item = &self.crates.list[krate].modules[0].uses[at];
        match &item.segments[..] {
            [own] if own == "crate" => Some(Target::Module(krate, 0)),
            [other] if item.global => self.dependency(krate, other),
            _ => None,
        }
    }

    /// A name inside a module.
    fn member(&self, krate: usize, module: ModuleId, name: &str, visited: &mut Visited) -> Option<Target> {
        self.member_for(None, (krate, module), name, visited)
    }

    /// A name inside a module, if it is visible to the module `by`, which imports it by a glob.
    fn member_for(
        &self,
        by: Option<Place>,
        place: Place,
        name: &str,
        visited: &mut Visited,
    ) -> Option<Target> {
        let (krate, module) = place;
        let names = &self.names[krate][module];
        let types = &self.crates.list[krate].modules[module].types;
        if let Some(&item) = names.types.get(name)
            && self.sees(by, place, types[item].visibility)
        {
            return Some(Target::Item(ItemId { krate, module, item }));
        }
        let key = (krate, module, name.to_string(), by);
        if let Some(known) = visited.done.get(&key) {
            return known.clone();
        }
        if !visited.open.insert(key.clone()) {
            return self.child(by, place, name);
        }
        let found = self.imported(by, place, name, visited);
        visited.open.remove(&key);
        if visited.open.is_empty() {
            visited.done.clear();
        } else {
            visited.done.insert(key, found.clone());
        }
        found
    }

    /// The target of `use` declarations: explicit names come before child modules, globs after them.
    fn imported(&self, by: Option<Place>, place: Place, name: &str, visited: &mut Visited) -> Option<Target> {
        let (krate, module) = place;
        let names = &self.names[krate][module];
        let uses = &self.crates.list[krate].modules[module].uses;
        if let Some(&at) = names.bindings.get(name)
            && self.sees(by, place, uses[at].visibility)
            && let Ok(target) = self.path(krate, module, uses[at].global, &uses[at].segments, visited)
        {
            return Some(target);
        }
        if let Some(child) = self.child(by, place, name) {
            return Some(child);
        }
        let globs = names.globs.iter().filter(|&&at| self.sees(by, place, uses[at].visibility));
        for &at in globs {
            let found = match self.path(krate, module, uses[at].global, &uses[at].segments, visited) {
                Ok(Target::Module(k, m)) => self.member_for(by.or(Some(place)), (k, m), name, visited),
                Ok(Target::External(path)) => {
                    let path = known::normalize(&format!("{path}::{name}"));
                    (known::is_known(&path) || known::was_ever_known(&path)).then_some(Target::External(path))
                }
                Ok(Target::Unread(at, _)) => {
                    visited.globs.insert(at);
                    None
                }
                Ok(Target::Item(_)) | Err(_) => None,
            };
            if found.is_some() {
                return found;
            }
        }
        None
    }

    fn child(&self, by: Option<Place>, (krate, module): Place, name: &str) -> Option<Target> {
        let child = *self.names[krate][module].children.get(name)?;
        let visibility = self.crates.list[krate].modules[child].visibility;
        self.sees(by, (krate, module), visibility).then_some(Target::Module(krate, child))
    }

    /// Whether a module sees a declaration of another module. Explicit paths are not checked, as rustc does
    /// that.
    fn sees(&self, by: Option<Place>, (krate, module): Place, visibility: Visibility) -> bool {
        let Some((by_crate, by_module)) = by else { return true };
        match visibility {
            Visibility::Public => true,
            Visibility::Restricted => by_crate == krate,
            Visibility::Private => {
                let modules = &self.crates.list[by_crate].modules;
                by_crate == krate
                    && std::iter::successors(Some(by_module), |at| modules[*at].parent).any(|at| at == module)
            }
        }
    }
}

fn index(krate: &crate::load::Crate, module: ModuleId) -> Names<'_> {
    let m = &krate.modules[module];
    let mut names = Names::default();
    for (at, item) in m.types.iter().enumerate() {
        names.types.entry(item.name.text.as_str()).or_insert(at);
    }
    for &child in &m.children {
        names.children.entry(krate.modules[child].name.as_str()).or_insert(child);
    }
    for (at, item) in m.values.iter().enumerate() {
        names.values.entry(item.name.text.as_str()).or_insert(at);
    }
    for (at, item) in m.uses.iter().enumerate() {
        match &item.binding {
            Some(binding) => {
                names.bindings.entry(binding.as_str()).or_insert(at);
            }
            None => names.globs.push(at),
        }
    }
    names
}
