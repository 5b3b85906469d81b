//! Selects the kinds that clients apply: those with an apply verb, and those that methods apply.

use std::collections::BTreeSet;

use heck::ToSnakeCase;

use super::super::{RustOptions, plan};
use super::{Key, builtin, modules};
use crate::ir::{Group, Ir, Resource, Scope, Shape, TypeId, TypeRef, Verb, Version};
use crate::known;

/// The facts of a kind, beside the fields, that its file needs.
#[derive(Clone)]
pub(super) struct Kind {
    pub(super) api_version: String,
    pub(super) kind: String,
    pub(super) object: String,
    pub(super) module: String,
    /// Its scope; `None` for an object that is only sent to a subresource, whose request has the name.
    pub(super) scope: Option<Scope>,
}

/// Modules of group and version.
type Modules = (String, String);

/// The kinds with their places: first those with clients, in order.
pub(super) fn all(ir: &Ir, options: &RustOptions) -> Vec<(Key, Modules, Kind)> {
    let inputs: BTreeSet<&str> = inputs(ir).collect();
    let mut out = Vec::new();
    for (group, version, resource) in resources(ir) {
        if is_applied(resource) || inputs.contains(resource.code.type_path.as_str()) {
            let kind = Kind::of(group, version, resource, options);
            out.push((key_of(ir, resource.root), modules(&group.module, &version.name), kind));
        }
    }
    for path in inputs {
        if let Some(key @ Key::BuiltIn(name)) = &key_of_path(ir, path)
            && out.iter().all(|(other, ..)| other != key)
            && let Some(kind) = Kind::of_subresource(path, options)
        {
            let (group, version, _) = builtin::place(name);
            out.push((key.clone(), (group, version), kind));
        }
    }
    out
}

impl Kind {
    fn of(group: &Group, version: &Version, resource: &Resource, options: &RustOptions) -> Self {
        Self {
            api_version: plan::api_version(group, version),
            kind: resource.kind.clone(),
            object: plan::object_path(&resource.code.type_path, &options.package),
            module: resource.code.module.clone(),
            scope: Some(resource.scope),
        }
    }

    fn of_subresource(path: &str, options: &RustOptions) -> Option<Self> {
        let (api_version, kind) = known::kinds::sent(path)?;
        Some(Self {
            api_version,
            kind: kind.to_owned(),
            object: plan::object_path(path, &options.package),
            module: kind.to_snake_case(),
            scope: None,
        })
    }
}

/// The type of a kind: a kind of Kubernetes is behind an alias in the arena.
pub(super) fn key_of(ir: &Ir, root: TypeId) -> Key {
    let held = match ir.types.get(root.0 as usize).map(|definition| &definition.shape) {
        Some(Shape::Newtype(element)) => Some(&element.ty),
        _ => None,
    };
    match held {
        Some(TypeRef::Known(path)) => {
            known::openapi_name(path).map_or(Key::Named(root), |name| Key::BuiltIn(name.to_owned()))
        }
        _ => Key::Named(root),
    }
}

/// The type of the kind with this path.
pub(super) fn key_of_path(ir: &Ir, path: &str) -> Option<Key> {
    let own = resources(ir).find(|(_, _, resource)| resource.code.type_path == path);
    let built_in = || known::openapi_name(path).map(|name| Key::BuiltIn(name.to_owned()));
    own.map(|(_, _, resource)| key_of(ir, resource.root)).or_else(built_in)
}

fn resources(ir: &Ir) -> impl Iterator<Item = (&Group, &Version, &Resource)> {
    let versions =
        ir.groups.iter().flat_map(|group| group.versions.iter().map(move |version| (group, version)));
    versions
        .flat_map(|(group, version)| version.resources.iter().map(move |resource| (group, version, resource)))
}

/// Paths of the types that methods apply.
fn inputs(ir: &Ir) -> impl Iterator<Item = &str> {
    let clients = resources(ir).filter_map(|(_, _, resource)| resource.client.as_ref());
    let applied = clients.flat_map(|tags| &tags.methods).filter(|method| method.verb == Verb::Apply);
    applied.filter_map(|method| method.input.as_deref())
}

/// Whether the kind's client has an apply verb.
fn is_applied(resource: &Resource) -> bool {
    let verbs = resource.client.as_ref().map_or(&[][..], |tags| &tags.verbs);
    verbs.contains(&Verb::Apply) || verbs.contains(&Verb::ApplyStatus)
}
