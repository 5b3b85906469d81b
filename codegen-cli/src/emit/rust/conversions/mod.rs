//! Functions that convert between the versions of a kind: what can be derived, decided before anything is written.
//!
//! Fields match by their names in JSON and by their types. The hub is the version that says so, or else the one that is stored.

mod files;
mod matching;

use std::collections::{BTreeMap, BTreeSet};

use heck::ToSnakeCase;

use super::{RustOptions, code};
use crate::ir::{Group, Ir, Resource, Shape, TypeId, Version};

pub(super) use files::files;

/// A kind with more than one version.
struct Kind<'i> {
    group: &'i Group,
    hub: (&'i Version, &'i Resource),
    spokes: Vec<(&'i Version, &'i Resource)>,
}

/// The kinds that are converted: of several versions, one of which is the hub, all types of which code can name.
fn kinds(ir: &Ir) -> Vec<Kind<'_>> {
    let nameable = ir.nameable();
    let mut out = Vec::new();
    for group in &ir.groups {
        let mut by_name: BTreeMap<&str, Vec<(&Version, &Resource)>> = BTreeMap::new();
        for version in &group.versions {
            for resource in &version.resources {
                let Some(definition) = ir.types.get(resource.root.0 as usize) else { continue };
                if code::is_nameable(definition, &nameable) && matches!(definition.shape, Shape::Struct(_)) {
                    by_name.entry(&resource.kind).or_default().push((version, resource));
                }
            }
        }
        for versions in by_name.into_values() {
            let at = |is: fn(&Resource) -> bool| versions.iter().position(|(_, resource)| is(resource));
            let hub = at(|resource| resource.crd.hub).or_else(|| at(|resource| resource.crd.storage));
            let Some(at) = hub else { continue };
            let mut spokes = versions;
            let hub = spokes.remove(at);
            if !spokes.is_empty() {
                out.push(Kind { group, hub, spokes });
            }
        }
    }
    out
}

/// Whether any kind is converted.
pub(super) fn any(ir: &Ir) -> bool {
    !kinds(ir).is_empty()
}

/// A conversion of one type to another.
type Pair = (TypeId, TypeId);

/// How a value becomes one of another type.
#[derive(Clone, Copy)]
enum Way {
    /// It is of the same type.
    Clone,
    /// The type inside, at any depth of containers, has a function.
    Each(Pair),
}

/// How a pair is converted.
enum Body {
    /// Field by field.
    Struct {
        fields: Vec<(String, Source)>,
        /// Fields of the input that nothing takes, by their names in JSON.
        lost: Vec<String>,
    },
    /// Variant by variant.
    Enum(Vec<Arm>),
    /// It has to be written by hand; why.
    Manual(String),
}

/// A variant: its names in the input and in the output, and how what it holds is converted.
struct Arm {
    from: String,
    to: String,
    content: Content,
}

/// The contents of a variant.
enum Content {
    Nothing,
    /// Values without names.
    Values(Vec<Way>),
    Fields(Vec<Made>),
}

/// A field of the output, and the field of the input that it is made of; without one it is `None`.
type Made = (String, Option<(String, Way)>);

/// The source of a field.
enum Source {
    /// A field of the input.
    Field(String, Way),
    /// Nothing: it is optional.
    Default,
    /// A required method, which returns this type; and why.
    Method(String, String),
}

/// The pairs that a kind needs, and what they are called.
struct Pairs<'i> {
    ir: &'i Ir,
    options: &'i RustOptions,
    nameable: BTreeSet<&'i str>,
    by_path: BTreeMap<&'i str, TypeId>,
    /// The names of versions' types are told apart by them.
    labels: BTreeMap<TypeId, String>,
    taken: BTreeSet<String>,
    /// The versions that the types belong to.
    versions: BTreeMap<TypeId, String>,
    bodies: BTreeMap<Pair, Body>,
    order: Vec<Pair>,
}

impl<'i> Pairs<'i> {
    fn new(ir: &'i Ir, options: &'i RustOptions, kind: &Kind<'i>) -> Self {
        let nameable = ir.nameable();
        let mut out = Self {
            ir,
            options,
            nameable,
            by_path: code::by_path(ir),
            labels: BTreeMap::new(),
            taken: BTreeSet::new(),
            versions: BTreeMap::new(),
            bodies: BTreeMap::new(),
            order: Vec::new(),
        };
        for (version, spoke) in &kind.spokes {
            let versions = (version.name.as_str(), kind.hub.0.name.as_str());
            out.add((spoke.root, kind.hub.1.root), versions);
            out.add((kind.hub.1.root, spoke.root), (versions.1, versions.0));
        }
        out
    }

    /// Takes a pair in, and those that it needs.
    fn add(&mut self, root: Pair, versions: (&str, &str)) {
        let mut open = vec![root];
        while let Some(pair) = open.pop() {
            if self.bodies.contains_key(&pair) {
                continue;
            }
            self.label(pair.0, versions.0);
            self.label(pair.1, versions.1);
            let (body, needed) = self.body(pair);
            self.bodies.insert(pair, body);
            self.order.push(pair);
            open.extend(needed.into_iter().rev());
        }
    }

    /// `v1_widget_spec`: what a type is called in the names of functions.
    fn label(&mut self, id: TypeId, version: &str) {
        if self.labels.contains_key(&id) {
            return;
        }
        // A version may have dashes.
        let name = format!("{}_{}", version.to_snake_case(), self.name(id).to_snake_case());
        let label = code::free(&mut self.taken, &name);
        self.labels.insert(id, label);
        self.versions.insert(id, version.to_owned());
    }

    fn name(&self, id: TypeId) -> &'i str {
        code::name(self.ir, id)
    }

    fn path(&self, id: TypeId) -> String {
        code::path(self.ir, id, self.options)
    }

    /// `v1_widget_to_v2_widget`
    fn function(&self, (from, to): Pair) -> String {
        format!("{}_to_{}", self.labels[&from], self.labels[&to])
    }
}
