//! Resolves paths of values: constants, functions, variants, and the items of `impl` blocks.

use std::collections::HashMap;

use super::{Impl, ItemId, Resolver, Target, Visited};
use crate::load::ModuleId;
use crate::syntax::code::{SCHEMARS, SCHEMAS};
use crate::syntax::{ImplItem, PathExpr, TypeKind, ValueItem};

/// The longest chain of `use` declarations.
const USE_LIMIT: usize = 64;

/// The target of a value's path.
#[derive(Clone, Debug)]
pub enum Value<'a> {
    /// A constant or function, in this module of this crate.
    Item(usize, ModuleId, &'a ValueItem),
    /// A variant of an enum, by its name in Rust.
    Variant(ItemId, String),
    /// A type's own name: the constructor of a tuple or unit struct.
    Constructor(ItemId),
    /// A path into an unread crate.
    External(String),
}

impl<'a> Resolver<'a> {
    /// Resolves the path of a value in `module`.
    pub fn value(&self, krate: usize, module: ModuleId, path: &PathExpr) -> Option<Value<'a>> {
        self.value_path(krate, module, path.global, &path.segments, 0)
    }

    fn value_path(
        &self,
        krate: usize,
        module: ModuleId,
        global: bool,
        segments: &[String],
        depth: usize,
    ) -> Option<Value<'a>> {
        let (last, rest) = segments.split_last()?;
        if rest.is_empty() && !global {
            let found = self.value_in(krate, module, last, depth);
            return found.or_else(|| Some(Value::External(last.clone())));
        }
        match self.path(krate, module, global, rest, &mut Visited::default()).ok()? {
            Target::Module(krate, module) => self.value_in(krate, module, last, depth),
            Target::Item(id) => self.associated(id, last),
            Target::External(path) => Some(Value::External(format!("{path}::{last}"))),
            Target::Unread(at, path) => {
                self.wanted.borrow_mut().insert(at);
                Some(Value::External(format!("{path}::{last}")))
            }
        }
    }

    /// A value by its name in a module.
    pub(super) fn value_in(
        &self,
        krate: usize,
        module: ModuleId,
        name: &str,
        depth: usize,
    ) -> Option<Value<'a>> {
        let names = &self.names[krate][module];
        let m = &self.crates.list[krate].modules[module];
        if let Some(&at) = names.values.get(name) {
            return Some(Value::Item(krate, module, &m.values[at]));
        }
        if let Some(&item) = names.types.get(name) {
            return Some(Value::Constructor(ItemId { krate, module, item }));
        }
        if depth >= USE_LIMIT {
            return None;
        }
        if let Some(item) = names.bindings.get(name).map(|&at| &m.uses[at]) {
            return self.value_path(krate, module, item.global, &item.segments, depth + 1);
        }
        names.globs.iter().map(|&at| &m.uses[at]).find_map(|item| {
            match self.path(krate, module, item.global, &item.segments, &mut Visited::default()).ok()? {
                Target::Module(k, m) if (k, m) != (krate, module) => self.value_in(k, m, name, depth + 1),
                Target::Item(id) => self.associated(id, name),
                _ => None,
            }
        })
    }

    /// A variant, or an item of an `impl` block of the type.
    fn associated(&self, id: ItemId, name: &str) -> Option<Value<'a>> {
        if let TypeKind::Enum(variants) = &self.item(id).kind
            && variants.iter().any(|variant| variant.name.text == name)
        {
            return Some(Value::Variant(id, name.to_string()));
        }
        let mut found = self.impls(id).iter().filter_map(|(krate, module, block)| {
            let found = block.values.iter().find(|value| value.name.text == name)?;
            Some((block.of_trait.is_none(), Value::Item(*krate, *module, found)))
        });
        let (is_inherent, first) = found.next()?;
        // The arguments decide between several traits.
        let another = found.find(|(inherent, _)| *inherent || !is_inherent);
        match another {
            Some((true, inherent)) if !is_inherent => Some(inherent),
            Some(_) => None,
            None => Some(first),
        }
    }

    /// The `impl` blocks for a type of this name that a macro makes.
    pub fn impls_of_name(&self, krate: usize, name: &str) -> Vec<(ModuleId, &'a ImplItem)> {
        let modules = self.crates.list[krate].modules.iter().enumerate();
        let blocks = modules.flat_map(|(at, module)| module.impls.iter().map(move |block| (at, block)));
        blocks.filter(|(_, block)| block.ty.segments.last().is_some_and(|last| last == name)).collect()
    }

    /// A method of schemas by the user, preferably from this crate.
    pub fn schema_method(&self, krate: usize, name: &str) -> Option<(usize, ModuleId, &'a ValueItem)> {
        let found = self.schema_methods.get_or_init(|| self.find_schema_methods()).get(name)?;
        found.iter().find(|(at, ..)| *at == krate).or(found.first()).copied()
    }

    fn find_schema_methods(&self) -> HashMap<&'a str, Vec<(usize, ModuleId, &'a ValueItem)>> {
        let mut out: HashMap<&str, Vec<_>> = HashMap::new();
        // The methods of schemars itself are known and not run.
        let crates = self.crates.list.iter().enumerate();
        for (krate, c) in crates.filter(|(_, krate)| krate.lib != SCHEMARS) {
            for (module, m) in c.modules.iter().enumerate() {
                let is_schema = |name: &String| SCHEMAS.contains(&name.as_str());
                for block in m.impls.iter().filter(|block| block.ty.segments.last().is_some_and(is_schema)) {
                    for value in &block.values {
                        out.entry(&value.name.text).or_default().push((krate, module, value));
                    }
                }
            }
        }
        out
    }

    /// The `impl` blocks of a type in its crate.
    pub fn impls(&self, id: ItemId) -> &[Impl<'a>] {
        let all = self.impls.get_or_init(|| self.find_impls());
        all.get(&id).map_or(&[], Vec::as_slice)
    }

    fn find_impls(&self) -> HashMap<ItemId, Vec<Impl<'a>>> {
        let mut out: HashMap<ItemId, Vec<Impl<'a>>> = HashMap::new();
        for (krate, c) in self.crates.list.iter().enumerate() {
            for (module, m) in c.modules.iter().enumerate() {
                for block in &m.impls {
                    let ty = &block.ty;
                    let found = self.path(krate, module, ty.global, &ty.segments, &mut Visited::default());
                    if let Ok(Target::Item(id)) = found {
                        out.entry(id).or_default().push((krate, module, block));
                    }
                }
            }
        }
        out
    }
}
