//! Resolves the paths of types over the modules of the input crates, as rustc does for the type
//! namespace: definitions, child modules, `use` with renames, globs and re-exports, `self`, `super`,
//! `crate`, dependencies and the prelude.
//!
//! It knows nothing of schemas: a path into a crate that is not read ends as its text.

mod values;

use std::cell::{OnceCell, RefCell};
use std::collections::{HashMap, HashSet, VecDeque};

use kubesmith_core::grammar::closest;
use kubesmith_core::names;

use crate::facts::ModuleFacts;
use crate::known;
use crate::load::{Crates, Dependency, ModuleId};
use crate::syntax::{ImplItem, Name, PathExpr, TypeItem, Visibility};

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

/// What a path leads to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// A type of the input crates.
    Item(ItemId),
    /// A module of the input crates.
    Module(usize, ModuleId),
    /// A path into a crate that is not read; the first part is that crate's library name.
    External(String),
}

/// Why a path leads nowhere.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unresolved {
    /// The part that was not found.
    pub name: String,
    /// What may have been meant or done.
    pub hint: Option<String>,
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

/// Resolves paths in the crates of a run.
#[derive(Debug)]
pub struct Resolver<'a> {
    crates: &'a Crates,
    names: Vec<Vec<Names<'a>>>,
    public: RefCell<HashMap<usize, HashMap<ItemId, String>>>,
    /// `impl` blocks of each type; looked for when one is asked for.
    impls: OnceCell<HashMap<ItemId, Vec<Impl<'a>>>>,
}

/// An `impl` block and the module that it stands in.
type Impl<'a> = (usize, ModuleId, &'a ImplItem);

/// A name in a module.
type Key = (usize, ModuleId, String);

/// What a search has seen: circles of `use` declarations end, and what several of them lead to is
/// searched once.
#[derive(Debug, Default)]
struct Visited {
    /// Names on the way.
    open: HashSet<Key>,
    /// Results; as a circle may have cut them short, they hold until the outermost search ends.
    done: HashMap<Key, Option<Target>>,
}

impl<'a> Resolver<'a> {
    /// Indexes the crates.
    pub fn new(crates: &'a Crates) -> Self {
        let names =
            crates.list.iter().map(|krate| (0..krate.modules.len()).map(|m| index(krate, m)).collect());
        Self { crates, names: names.collect(), public: RefCell::default(), impls: OnceCell::new() }
    }

    /// The definition.
    pub fn item(&self, id: ItemId) -> &'a TypeItem {
        &self.crates.list[id.krate].modules[id.module].types[id.item]
    }

    /// Every definition, crate by crate, in source order.
    pub fn items(&self) -> impl Iterator<Item = (ItemId, &'a TypeItem)> + use<'a> {
        self.crates.list.iter().enumerate().flat_map(|(krate, c)| {
            c.modules.iter().enumerate().flat_map(move |(module, m)| {
                m.types.iter().enumerate().map(move |(item, t)| (ItemId { krate, module, item }, t))
            })
        })
    }

    /// The path of a definition from its crate's root, whether or not it can be named from outside.
    pub fn definition_path(&self, id: ItemId) -> String {
        format!("{}::{}", self.module_path(id.krate, id.module), self.item(id).name.text)
    }

    /// A path by which the definition can be named from outside of its crate.
    pub fn public_path(&self, id: ItemId) -> Option<String> {
        if self.item(id).visibility == Visibility::Public && self.is_public_module(id.krate, id.module) {
            return Some(self.definition_path(id));
        }
        let mut public = self.public.borrow_mut();
        public.entry(id.krate).or_insert_with(|| self.reexports(id.krate)).get(&id).cloned()
    }

    /// What the module of a definition and those around it say of it, the nearest first. Where the group is said and
    /// the version is not, a module between them that is called like a version says it.
    pub fn module_facts(&self, id: ItemId) -> ModuleFacts {
        let modules = &self.crates.list[id.krate].modules;
        let mut facts = ModuleFacts::default();
        let mut named: Option<&str> = None;
        let mut at = Some(id.module);
        while let Some(module) = at.map(|at| &modules[at]) {
            if facts.group.is_none() && names::Version::parse(&module.name).is_ok() {
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

    /// Whether fields of definitions in a module are required unless something else is said.
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

    /// Resolves the path of a type that is used in `module`.
    ///
    /// # Errors
    /// When a part of the path is not found.
    pub fn resolve(&self, krate: usize, module: ModuleId, path: &PathExpr) -> Result<Target, Unresolved> {
        self.path(krate, module, path.global, &path.segments, &mut Visited::default())
            .map_err(|name| self.explain(krate, module, path, name))
    }

    /// The error is the part that was not found.
    fn path(
        &self,
        krate: usize,
        module: ModuleId,
        global: bool,
        segments: &[String],
        visited: &mut Visited,
    ) -> Result<Target, String> {
        let Some((first, rest)) = segments.split_first() else { return Ok(Target::Module(krate, module)) };
        let mut target = self.first(krate, module, global, first, visited).ok_or_else(|| first.clone())?;
        for segment in rest {
            target = match target {
                Target::Module(krate, module) if segment == "super" => {
                    let parent = self.crates.list[krate].modules[module].parent;
                    Target::Module(krate, parent.ok_or_else(|| segment.clone())?)
                }
                Target::Module(krate, module) => {
                    self.member(krate, module, segment, visited).ok_or_else(|| segment.clone())?
                }
                Target::External(path) => Target::External(known::normalize(&format!("{path}::{segment}"))),
                Target::Item(_) => return Err(segment.clone()),
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
            if let Some(target) = self.member(krate, module, name, visited) {
                return Some(target);
            }
        }
        self.external(krate, name)
            .or_else(|| (!global && known::is_prelude(name)).then(|| Target::External(name.to_string())))
    }

    /// A crate in the extern prelude.
    fn external(&self, krate: usize, name: &str) -> Option<Target> {
        match self.crates.list[krate].externs.get(name) {
            Some(Dependency::Crate(index)) => Some(Target::Module(*index, 0)),
            Some(Dependency::Foreign(index)) => Some(Target::External(self.crates.foreign[*index].clone())),
            None => matches!(name, "std" | "core" | "alloc").then(|| Target::External(name.to_string())),
        }
    }

    /// A name inside a module.
    fn member(&self, krate: usize, module: ModuleId, name: &str, visited: &mut Visited) -> Option<Target> {
        let names = &self.names[krate][module];
        if let Some(&item) = names.types.get(name) {
            return Some(Target::Item(ItemId { krate, module, item }));
        }
        let key = (krate, module, name.to_string());
        if let Some(known) = visited.done.get(&key) {
            return known.clone();
        }
        if !visited.open.insert(key.clone()) {
            return names.children.get(name).map(|&child| Target::Module(krate, child));
        }
        let found = self.imported(krate, module, name, visited);
        visited.open.remove(&key);
        if visited.open.is_empty() {
            visited.done.clear();
        } else {
            visited.done.insert(key, found.clone());
        }
        found
    }

    fn imported(&self, krate: usize, module: ModuleId, name: &str, visited: &mut Visited) -> Option<Target> {
        let names = &self.names[krate][module];
        let uses = &self.crates.list[krate].modules[module].uses;
        if let Some(&at) = names.bindings.get(name)
            && let Ok(target) = self.path(krate, module, uses[at].global, &uses[at].segments, visited)
        {
            return Some(target);
        }
        if let Some(&child) = names.children.get(name) {
            return Some(Target::Module(krate, child));
        }
        names.globs.iter().find_map(|&at| {
            match self.path(krate, module, uses[at].global, &uses[at].segments, visited).ok()? {
                Target::Module(k, m) => self.member(k, m, name, visited),
                Target::External(path) => {
                    let path = known::normalize(&format!("{path}::{name}"));
                    known::is_known(&path).then_some(Target::External(path))
                }
                Target::Item(_) => None,
            }
        })
    }

    /// Every type that can be named from outside through `pub use`, by its shortest path.
    fn reexports(&self, krate: usize) -> HashMap<ItemId, String> {
        let modules = &self.crates.list[krate].modules;
        let mut out = HashMap::new();
        let mut seen = HashSet::new();
        let mut queue = VecDeque::from([(krate, 0, modules[0].name.clone())]);
        while let Some((k, m, path)) = queue.pop_front() {
            if !seen.insert((k, m)) {
                continue;
            }
            let module = &self.crates.list[k].modules[m];
            for (item, definition) in module.types.iter().enumerate() {
                if definition.visibility == Visibility::Public {
                    out.entry(ItemId { krate: k, module: m, item })
                        .or_insert_with(|| format!("{path}::{}", definition.name.text));
                }
            }
            for item in module.uses.iter().filter(|item| item.visibility == Visibility::Public) {
                let target = self.path(k, m, item.global, &item.segments, &mut Visited::default());
                match (target, &item.binding) {
                    (Ok(Target::Item(id)), Some(name)) => {
                        out.entry(id).or_insert_with(|| format!("{path}::{name}"));
                    }
                    (Ok(Target::Module(k, m)), Some(name)) => {
                        queue.push_back((k, m, format!("{path}::{name}")));
                    }
                    (Ok(Target::Module(k, m)), None) => queue.push_back((k, m, path.clone())),
                    _ => {}
                }
            }
            for &child in &module.children {
                let child_module = &self.crates.list[k].modules[child];
                if child_module.visibility == Visibility::Public {
                    queue.push_back((k, child, format!("{path}::{}", child_module.name)));
                }
            }
        }
        out
    }

    /// Says what could be done about a path that leads nowhere.
    fn explain(&self, krate: usize, module: ModuleId, path: &PathExpr, name: String) -> Unresolved {
        let is_first = path.segments.first() == Some(&name);
        let elsewhere = self.items().find(|(_, item)| item.name.text == name).map(|(id, _)| {
            let full = self.definition_path(id);
            let (lib, inner) = full.split_once("::").unwrap_or((&full, ""));
            if id.krate == krate { format!("crate::{inner}") } else { format!("{lib}::{inner}") }
        });
        let import = elsewhere.or_else(|| known::by_name(&name).map(str::to_string));
        let hint = if let Some(import) = import.filter(|_| is_first) {
            Some(format!("import it: `use {import};`"))
        } else if let Some(key) = self.crates.list[krate].optional.get(&name).filter(|_| is_first) {
            Some(format!("the dependency `{key}` is optional: turn it on with `--features`"))
        } else if is_first && path.segments.len() > 1 {
            let known = self.crates.list[krate].externs.keys().map(String::as_str);
            let children = self.names[krate][module].children.keys().copied();
            let mut candidates: Vec<&str> = known.chain(children).collect();
            candidates.sort_unstable();
            closest(&name, candidates).map_or_else(
                || {
                    Some(format!(
                        "add the crate `{name}` to the [dependencies] of Cargo.toml, or import the module"
                    ))
                },
                |near| Some(format!("did you mean `{near}`?")),
            )
        } else {
            let names = &self.names[krate][module];
            let mut candidates: Vec<&str> = Vec::new();
            candidates.extend(names.types.keys().copied());
            candidates.extend(names.bindings.keys().copied());
            for name in known::prelude() {
                candidates.push(name);
            }
            candidates.sort_unstable();
            candidates.retain(|candidate| *candidate != name);
            Some(closest(&name, candidates).map_or_else(
                || format!("define `{name}`, or import it; types that macros define are not seen"),
                |near| format!("did you mean `{near}`?"),
            ))
        };
        Unresolved { name, hint }
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
