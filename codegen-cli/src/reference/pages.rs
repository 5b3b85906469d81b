//! Assigns kinds and types to pages, with their anchors.

use std::collections::{BTreeMap, BTreeSet};

use super::kinds;
use super::names::{Ids, short};
use super::types::Builder;
use super::{Page, Reference};
use crate::ir::{Ir, Resource, Shape, TypeId, TypeRef, Version};
use crate::schema::Schemas;

/// The places of kinds' versions: file and anchor by group, kind and version.
pub(super) type Places<'a> = BTreeMap<(&'a str, &'a str, &'a str), (String, String)>;

/// The facts of a page before its types are described.
struct Head<'a> {
    group: &'a str,
    version: &'a str,
    id: String,
    file: String,
    resources: Vec<&'a Resource>,
}

/// The documentation of the whole representation, without versions that CRDs skip.
pub fn build(ir: &Ir, schemas: &Schemas) -> Reference {
    let mut ids = Ids::default();
    let heads: Vec<Head<'_>> = ir
        .groups
        .iter()
        .flat_map(|group| group.versions.iter().map(|version| (group.name.as_str(), version)))
        .filter_map(|(group, version)| head(group, version, &mut ids))
        .collect();
    let mut places = Places::new();
    for head in &heads {
        for resource in &head.resources {
            let id = ids.take(&format!("{}-{}", head.id, resource.kind));
            places.insert((head.group, &resource.kind, head.version), (format!("{}.md", head.file), id));
        }
    }
    let pages = heads.iter().map(|head| page(ir, schemas, head, &heads, &places, &mut ids));
    Reference { pages: pages.collect() }
}

fn head<'a>(group: &'a str, version: &'a Version, ids: &mut Ids) -> Option<Head<'a>> {
    let resources: Vec<_> = version.resources.iter().filter(|resource| !resource.crd.skipped).collect();
    let name = if group.is_empty() { "core" } else { group };
    (!resources.is_empty()).then(|| Head {
        group,
        version: &version.name,
        id: ids.take(&format!("{name}-{}", version.name).replace('.', "-")),
        file: format!("{name}_{}", version.name),
        resources,
    })
}

fn page(
    ir: &Ir,
    schemas: &Schemas,
    head: &Head<'_>,
    heads: &[Head<'_>],
    places: &Places<'_>,
    ids: &mut Ids,
) -> Page {
    let id_of = |resource: &Resource| {
        let place = places.get(&(head.group, resource.kind.as_str(), head.version));
        place.map(|(_, id)| id.clone()).unwrap_or_default()
    };
    let mut anchors: BTreeMap<TypeId, (String, String)> = BTreeMap::new();
    for resource in &head.resources {
        anchors.insert(resource.root, (id_of(resource), resource.kind.clone()));
    }
    let reached = reached(ir, head.resources.iter().map(|resource| resource.root));
    let mut others: Vec<(String, TypeId)> = reached
        .into_iter()
        .filter(|id| !anchors.contains_key(id))
        .map(|id| (short(&ir.types[id.0 as usize].path), id))
        .collect();
    others.sort_by_key(|(name, id)| (name.clone(), ir.types[id.0 as usize].path.clone(), *id));
    for (name, id) in &others {
        anchors.insert(*id, (ids.take(&format!("{}-{name}", head.id)), name.clone()));
    }
    let api_version = if head.group.is_empty() {
        head.version.to_string()
    } else {
        format!("{}/{}", head.group, head.version)
    };
    let mut builder = Builder::new(ir, schemas, ids, head.id.clone(), anchors);
    let mut types: Vec<_> = others.iter().map(|(_, id)| builder.definition(*id)).collect();
    let mut found = Vec::new();
    for resource in &head.resources {
        let object = builder.root(resource);
        let siblings = heads.iter().filter(|other| other.group == head.group).flat_map(|other| {
            let same = other.resources.iter().filter(|known| known.kind == resource.kind);
            same.map(|known| (other.version, *known))
        });
        let siblings: Vec<_> = siblings.collect();
        let context =
            kinds::Context { group: head.group, version: head.version, siblings: &siblings, places };
        found.push(kinds::kind(resource, object, &context, schemas));
    }
    types.append(&mut builder.nested);
    types.sort_by(|a, b| (&a.name, &a.id).cmp(&(&b.name, &b.id)));
    for described in types.iter_mut().chain(found.iter_mut().map(|kind| &mut kind.object)) {
        described.appears_in = builder.users_of(&described.id);
    }
    Page { id: head.id.clone(), api_version, file: head.file.clone(), kinds: found, types }
}

/// The types that the roots use, including the roots.
fn reached(ir: &Ir, roots: impl Iterator<Item = TypeId>) -> BTreeSet<TypeId> {
    let mut seen = BTreeSet::new();
    let mut open: Vec<TypeId> = roots.collect();
    while let Some(id) = open.pop() {
        if seen.insert(id) {
            each_use(&ir.types[id.0 as usize].shape, &mut |ty| named(ty, &mut open));
        }
    }
    seen
}

fn each_use(shape: &Shape, f: &mut impl FnMut(&TypeRef)) {
    match shape {
        Shape::Struct(fields) => {
            fields.iter().filter(|field| !field.schemaless).for_each(|field| f(&field.ty));
        }
        Shape::Newtype(element) => f(&element.ty),
        Shape::Tuple(elements) => elements.iter().for_each(|element| f(&element.ty)),
        Shape::Enum(variants) => {
            let contents = variants.variants.iter().filter_map(|variant| variant.content.as_ref());
            contents.for_each(|element| f(&element.ty));
        }
        Shape::Unit | Shape::Given(_) => {}
    }
}

fn named(ty: &TypeRef, out: &mut Vec<TypeId>) {
    match ty {
        TypeRef::Named(id) => out.push(*id),
        TypeRef::List(inner) | TypeRef::Array(inner, _) | TypeRef::Map(inner) | TypeRef::Nullable(inner) => {
            named(inner, out);
        }
        TypeRef::Tuple(items) => items.iter().for_each(|item| named(item, out)),
        TypeRef::Known(_) | TypeRef::Unit | TypeRef::Opaque => {}
    }
}
