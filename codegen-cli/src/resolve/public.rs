//! Finds paths of types that are valid outside their crates.

use std::collections::{HashMap, HashSet, VecDeque};

use super::{ItemId, Resolver, Target, Visited};
use crate::syntax::{TypeItem, Visibility};

/// The public items of a crate, including those of `pub use`, by their shortest paths.
#[derive(Debug, Default)]
pub(super) struct Public {
    types: HashMap<ItemId, String>,
    /// The root types from kube-rs's `CustomResource`, by the types with the attribute.
    roots: HashMap<ItemId, String>,
}

impl Resolver<'_> {
    /// A path of the definition that is valid outside its crate.
    pub fn public_path(&self, id: ItemId) -> Option<String> {
        if self.item(id).visibility == Visibility::Public && self.is_public_module(id.krate, id.module) {
            return Some(self.definition_path(id));
        }
        self.reexported(id.krate, id)
    }

    /// A public path through this crate to the definition, possibly of another crate.
    pub fn path_from(&self, krate: usize, id: ItemId) -> Option<String> {
        if id.krate == krate { self.public_path(id) } else { self.reexported(krate, id) }
    }

    /// A path, valid outside its crate, of the root type that kube-rs's `CustomResource` makes from the
    /// definition. It is beside the definition and equally visible.
    pub fn public_root_path(&self, id: ItemId) -> Option<String> {
        let item = self.item(id);
        let root = item.custom_resource.as_deref()?;
        if item.visibility == Visibility::Public && self.is_public_module(id.krate, id.module) {
            return Some(format!("{}::{}", self.module_path(id.krate, id.module), root.root.text));
        }
        self.public(id.krate, |public| public.roots.get(&id).cloned())
    }

    fn reexported(&self, krate: usize, id: ItemId) -> Option<String> {
        self.public(krate, |public| public.types.get(&id).cloned())
    }

    fn public<T>(&self, krate: usize, read: impl FnOnce(&Public) -> T) -> T {
        let mut public = self.public.borrow_mut();
        read(public.entry(krate).or_insert_with(|| self.reexports(krate)))
    }

    fn reexports(&self, krate: usize) -> Public {
        let modules = &self.crates.list[krate].modules;
        let mut out = Public::default();
        let mut seen = HashSet::new();
        let mut queue = VecDeque::from([(krate, 0, modules[0].name.clone())]);
        while let Some((k, m, path)) = queue.pop_front() {
            if !seen.insert((k, m)) {
                continue;
            }
            let module = &self.crates.list[k].modules[m];
            for (item, definition) in module.types.iter().enumerate() {
                if definition.visibility == Visibility::Public {
                    let id = ItemId { krate: k, module: m, item };
                    out.types.entry(id).or_insert_with(|| format!("{path}::{}", definition.name.text));
                    if let Some(root) = &definition.custom_resource {
                        out.roots.entry(id).or_insert_with(|| format!("{path}::{}", root.root.text));
                    }
                }
            }
            for item in module.uses.iter().filter(|item| item.visibility == Visibility::Public) {
                let target = self.path(k, m, item.global, &item.segments, &mut Visited::default());
                match (target, &item.binding) {
                    (Ok(Target::Item(id)), Some(name)) => {
                        out.types.entry(id).or_insert_with(|| format!("{path}::{name}"));
                        if let Some(spec) = self.spec_of_root(id) {
                            out.roots.entry(spec).or_insert_with(|| format!("{path}::{name}"));
                        }
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

    /// The definition from which kube-rs's `CustomResource` makes this root type.
    fn spec_of_root(&self, id: ItemId) -> Option<ItemId> {
        let types = &self.crates.list[id.krate].modules[id.module].types;
        let name = &types[id.item].name.text;
        let is_spec = |it: &TypeItem| it.custom_resource.as_ref().is_some_and(|it| it.root.text == *name);
        Some(ItemId { item: types.iter().position(is_spec)?, ..id })
    }
}
