//! Emits apply configurations: selects their types, places and fields.
//!
//! Every struct in a kind with an apply verb, or in the input of an applying method, gets one:
//! `applyconfigurations/<group>/<version>.rs`. A user's type is placed with the kind that uses it
//! ([`place`]), a built-in type in its group and version of Kubernetes. Those of `meta/v1` are in the runtime
//! ([`shared`]), so that packages share them. [`forms`] decides the forms of fields, from the representation
//! and the definitions of built-in types ([`builtin`]).
//!
//! Enums are set as a whole, because a server's patch cannot change the variant and keep the rest: as the
//! user's own type, if the package can name it, else as JSON. Newtypes have the form of their content,
//! flattened structs add their fields to the outer struct.

mod builtin;
mod fields;
mod files;
mod forms;
mod kinds;
mod place;
mod setters;
mod shared;

use std::collections::{BTreeMap, BTreeSet};

use crate::ir::{Ir, TypeId};

use super::{RustOptions, names};
use fields::Field;
use kinds::Kind;
use place::Place;

pub use shared::shared_configurations;

/// A type with an apply configuration.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Key {
    /// A type with source.
    Named(TypeId),
    /// A type of Kubernetes, by its name in OpenAPI: `io.k8s.api.core.v1.PodSpec`.
    BuiltIn(String),
}

/// The form of a field.
#[derive(Clone, Debug, PartialEq)]
enum Form {
    /// A value that is set as a whole: its type in Rust, and whether `Into` converts other types to it.
    Whole { path: String, converts: bool },
    /// A struct, by its apply configuration.
    Struct(Key),
    /// A list.
    List(Box<Form>),
    /// A map with strings as keys.
    Map(Box<Form>),
    /// The form, or null.
    Nullable(Box<Form>),
}

/// The source of an apply configuration.
struct Type {
    place: Place,
    fields: Vec<Field>,
    /// First paragraph of its documentation.
    summary: String,
}

/// The apply configurations of a package.
pub(super) struct ApplyTypes {
    types: BTreeMap<Key, Type>,
    /// The kinds among them.
    kinds: BTreeMap<Key, Kind>,
    /// Path of the module, from inside the package.
    root: String,
    /// The place of the generated code.
    home: Home,
    /// Whether they refer to types in the runtime.
    uses_shared: bool,
}

/// The place of the generated code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Home {
    /// In a client package.
    Package,
    /// In the runtime.
    Runtime,
}

impl Home {
    /// The runtime's path.
    fn runtime(self) -> &'static str {
        match self {
            Home::Package => RUNTIME,
            Home::Runtime => "crate",
        }
    }

    /// The runtime's module of apply configurations.
    fn module(self) -> String {
        format!("{}::applyconfigurations", self.runtime())
    }
}

/// The runtime's path in a client package.
const RUNTIME: &str = "::kubesmith_runtime";

/// The crate that the runtime re-exports, and the path in it, of a type.
fn re_exported(path: &str) -> Option<(&str, &str)> {
    let path = path.strip_prefix(RUNTIME)?.strip_prefix("::")?;
    path.split_once("::").map(|(krate, _)| (krate, path))
}

impl ApplyTypes {
    pub(super) fn new(ir: &Ir, options: &RustOptions) -> Self {
        let root = format!("{}::applyconfigurations", super::plan::root_path(&options.package));
        let mut out = Self::empty(root, Home::Package);
        if !(options.parts.client && options.parts.apply) {
            return out;
        }
        let reader = forms::Reader { ir, package: &options.package, nameable: ir.nameable() };
        let mut uses = place::Uses::default();
        let kinds = kinds::all(ir, options);
        out.kinds.extend(kinds.iter().map(|(key, _, kind)| (key.clone(), kind.clone())));
        for (key, place, _) in kinds {
            let at = uses.kind(place, &key);
            out.walk(&reader, &mut uses, at, key);
        }
        let mut places = uses.places(ir);
        for (key, ty) in &mut out.types {
            if let Some(place) = places.remove(key) {
                ty.place = place;
            }
        }
        out.close_cycles();
        out
    }

    fn empty(root: String, home: Home) -> Self {
        Self { types: BTreeMap::new(), kinds: BTreeMap::new(), root, home, uses_shared: false }
    }

    /// Adds the type and all types in it.
    fn walk(&mut self, reader: &forms::Reader<'_>, uses: &mut place::Uses, kind: usize, start: Key) {
        let mut open = vec![start];
        while let Some(key) = open.pop() {
            if shared::is_shared(&key) {
                self.uses_shared = true;
                continue;
            }
            if !uses.add(kind, &key) {
                continue;
            }
            if !self.types.contains_key(&key) {
                let ty = self.read(reader, &key);
                self.types.insert(key.clone(), ty);
            }
            // In reverse, so that the first is visited first.
            let ty = &self.types[&key];
            open.extend(ty.fields.iter().rev().filter_map(|field| field.form.key()).cloned());
        }
    }

    fn read(&self, reader: &forms::Reader<'_>, key: &Key) -> Type {
        let (fields, summary) = match key {
            Key::Named(id) => {
                let definition = &reader.ir.types[id.0 as usize];
                (reader.fields(*id), definition.description.clone().unwrap_or_default())
            }
            Key::BuiltIn(name) => builtin::fields(name),
        };
        self.of_fields(key, fields, summary)
    }

    fn of_fields(&self, key: &Key, mut fields: Vec<Field>, summary: String) -> Type {
        if self.kinds.contains_key(key) {
            let missing = fields::type_meta()
                .into_iter()
                .filter(|own| fields.iter().all(|field| field.json != own.json));
            let missing: Vec<Field> = missing.collect();
            fields.splice(0..0, missing);
        }
        fields::settle_names(&mut fields);
        Type { place: Place::default(), fields, summary }
    }

    /// Boxes fields through which a struct would contain itself.
    fn close_cycles(&mut self) {
        let mut boxed = Vec::new();
        for (key, ty) in &self.types {
            for (at, field) in ty.fields.iter().enumerate() {
                if field.form.held().is_some_and(|held| self.leads_to(held, key)) {
                    boxed.push((key.clone(), at));
                }
            }
        }
        for (key, at) in boxed {
            if let Some(ty) = self.types.get_mut(&key) {
                ty.fields[at].boxed = true;
            }
        }
    }

    /// Whether a value of `from` would contain one of `to` without a heap allocation between them.
    fn leads_to(&self, from: &Key, to: &Key) -> bool {
        let mut seen = BTreeSet::new();
        let mut open = vec![from];
        while let Some(key) = open.pop() {
            if key == to {
                return true;
            }
            if seen.insert(key)
                && let Some(ty) = self.types.get(key)
            {
                open.extend(ty.fields.iter().filter_map(|field| field.form.held()));
            }
        }
        false
    }

    /// The path of a kind's apply configuration, if it has one.
    pub(super) fn path_of_kind(&self, ir: &Ir, root: TypeId) -> Option<String> {
        let key = kinds::key_of(ir, root);
        self.kinds.contains_key(&key).then(|| self.path(&key))
    }

    /// The path of the apply configuration of a method's input, if it has one.
    pub(super) fn path_of_input(&self, ir: &Ir, path: &str) -> Option<String> {
        let key = kinds::key_of_path(ir, path)?;
        self.kinds.contains_key(&key).then(|| self.path(&key))
    }

    fn path(&self, key: &Key) -> String {
        let (root, place) = match (key, self.types.get(key)) {
            (_, Some(Type { place, .. })) => (&self.root, place),
            (Key::BuiltIn(name), None) => (&self.home.module(), &Place::of_built_in(name)),
            (Key::Named(_), None) => return forms::JSON.to_owned(),
        };
        format!("{root}::{}::{}::{}", place.group, place.version, place.configuration())
    }

    /// The name of a type in the file of another; the file has [imports](Self::imports).
    fn name_in(&self, from: &Place, key: &Key) -> String {
        match self.types.get(key) {
            Some(Type { place, .. }) if place.is_beside(from) => place.configuration(),
            _ => {
                let path = self.path(key);
                match path.strip_prefix(&format!("{}::", self.home.module())) {
                    Some(rest) if shared::is_shared(key) => rest.to_owned(),
                    _ => path,
                }
            }
        }
    }

    /// The type of a field in the file of its struct.
    fn rust(&self, from: &Place, form: &Form) -> String {
        let inner = |form: &Form| self.rust(from, form);
        match form {
            Form::Whole { path, .. } => re_exported(path).map_or(path.as_str(), |(_, path)| path).to_owned(),
            Form::Struct(key) => self.name_in(from, key),
            Form::List(item) => format!("Vec<{}>", inner(item)),
            Form::Map(value) => format!("BTreeMap<String, {}>", inner(value)),
            Form::Nullable(form) => format!("Option<{}>", inner(form)),
        }
    }

    /// The imports for a field in the file of its struct.
    fn imports(&self, from: &Place, form: &Form, out: &mut BTreeSet<String>) {
        let module = self.home.module();
        match form {
            Form::Whole { path, .. } => {
                out.extend(re_exported(path).map(|(krate, _)| format!("{RUNTIME}::{krate}")));
            }
            Form::Struct(key) if shared::is_shared(key) && self.name_in(from, key).starts_with("meta::") => {
                out.insert(format!("{module}::meta"));
            }
            Form::Struct(_) => {}
            Form::List(inner) => self.imports(from, inner, out),
            Form::Map(inner) => {
                out.insert("::std::collections::BTreeMap".to_owned());
                self.imports(from, inner, out);
            }
            Form::Nullable(inner) => {
                out.insert(module);
                self.imports(from, inner, out);
            }
        }
    }
}

impl Form {
    /// The struct in the form, at any depth.
    fn key(&self) -> Option<&Key> {
        match self {
            Form::Whole { .. } => None,
            Form::Struct(key) => Some(key),
            Form::List(inner) | Form::Map(inner) | Form::Nullable(inner) => inner.key(),
        }
    }

    /// The struct directly in the value, without a heap allocation.
    fn held(&self) -> Option<&Key> {
        match self {
            Form::Struct(key) => Some(key),
            Form::Nullable(inner) => inner.held(),
            Form::Whole { .. } | Form::List(_) | Form::Map(_) => None,
        }
    }
}

/// The modules of a group and its version, as in clients.
fn modules(group: &str, version: &str) -> (String, String) {
    let group = names::group_module(group);
    let version = names::module(version, &group);
    (group, version)
}
