//! Plans functions that convert between the versions of a kind, before any code is written.
//!
//! Fields match by their names in JSON and by their types. The hub is the version with that attribute, or
//! else the stored one.

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

/// The kinds with conversions: of several versions, one of which is the hub, with nameable types only.
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

/// The conversion of a value to another type.
#[derive(Clone, Copy)]
enum ValueConversion {
    /// A clone, as the types are equal.
    Clone,
    /// The type inside, at any depth of containers, has a function.
    Each(Pair),
}

/// The conversion of a pair.
enum Body {
    /// Field by field.
    Struct {
        fields: Vec<(String, Source)>,
        /// Fields of the input without use, by their names in JSON.
        lost: Vec<String>,
    },
    /// Variant by variant.
    Enum(Vec<Arm>),
    /// It must be written by hand, for this reason.
    Manual(String),
}

/// A variant: its names in the input and in the output, and the conversion of its content.
struct Arm {
    from: String,
    to: String,
    content: Content,
}

/// The contents of a variant.
enum Content {
    Nothing,
    /// Values without names.
    Values(Vec<ValueConversion>),
    Fields(Vec<Made>),
}

/// A field of the output, and its source in the input; without a source it is `None`.
type Made = (String, Option<(String, ValueConversion)>);

/// The source of a field.
enum Source {
    /// A field of the input.
    Field(String, ValueConversion),
    /// None, as the field is optional.
    Default,
    /// A required method that returns this type, and the reason.
    Method(String, String),
}

/// The pairs of a kind, and their names.
struct Pairs<'i> {
    ir: &'i Ir,
    options: &'i RustOptions,
    nameable: BTreeSet<&'i str>,
    by_path: BTreeMap<&'i str, TypeId>,
    /// Distinct names for the types of versions.
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

    /// Adds a pair, and those that it uses.
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

    /// Names a type for the names of functions: `v1_widget_spec`.
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
