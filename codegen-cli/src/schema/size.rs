//! Computes the size of schemas before they are built: a schema repeats a type at every use.

use kubesmith_core::diag::Code;

use super::build::Builder;
use crate::diag::Diagnostic;
use crate::ir::{Resource, Shape, TypeId, TypeRef};
use kubesmith_apiextensions::schema::Schema;

/// The most schemas in that of a resource: a Pod's specification has 1500.
const NODE_LIMIT: u64 = 100_000;

impl Builder<'_> {
    /// The message for a resource whose schema is too large.
    pub(super) fn too_large(&mut self, resource: &Resource) -> Option<Diagnostic> {
        let size = self.size(resource.root);
        if size <= NODE_LIMIT {
            return None;
        }
        // At this value the count has saturated.
        let shown = if size == u64::MAX { "endlessly many".to_string() } else { size.to_string() };
        let message =
            format!("the schema of {} would have {shown} parts, of at most {NODE_LIMIT}", resource.kind);
        let span = &resource.span;
        let diagnostic = Diagnostic::error(Code::SCHEMA_TOO_LARGE, self.sources.loc(span), message)
            .note(format!("a schema repeats a type wherever it is used: {}", self.largest(resource.root)))
            .help(
                "leave a part open with `#[schema(schemaless, preserve_unknown_fields)]` and \
                 `#[validation(type = \"object\")]` on a field",
            );
        Some(diagnostic)
    }

    /// The innermost type that is too large by itself, with its size.
    fn largest(&mut self, root: TypeId) -> String {
        let ir = self.ir;
        let mut at = root;
        while let Shape::Struct(fields) = &ir.types[at.0 as usize].shape {
            let held = fields.iter().filter_map(|field| named(&field.ty));
            // Of equal types, the first.
            let Some(next) = held.rev().max_by_key(|id| self.size(*id)) else { break };
            if self.size(next) <= NODE_LIMIT {
                break;
            }
            at = next;
        }
        let name = ir.types[at.0 as usize].path.rsplit("::").next().unwrap_or_default();
        format!("`{name}` alone has {} parts", self.size(at))
    }

    fn size(&mut self, id: TypeId) -> u64 {
        if let Some(known) = self.sizes.get(&id) {
            return *known;
        }
        let ir = self.ir;
        let sum = |sizes: &mut dyn Iterator<Item = u64>| sizes.fold(1_u64, u64::saturating_add);
        let size = match &ir.types[id.0 as usize].shape {
            Shape::Struct(fields) => sum(&mut fields.iter().map(|field| self.size_of(&field.ty))),
            Shape::Newtype(element) => self.size_of(&element.ty),
            Shape::Tuple(elements) => sum(&mut elements.iter().map(|element| self.size_of(&element.ty))),
            Shape::Unit => 1,
            // Its parts were counted when it was made.
            Shape::Given(_) => 1,
            Shape::Enum(variants) => {
                let contents = variants.variants.iter().filter_map(|variant| variant.content.as_ref());
                sum(&mut contents.map(|content| self.size_of(&content.ty)))
            }
        };
        self.sizes.insert(id, size);
        size
    }

    fn size_of_known(&mut self, path: &str) -> u64 {
        if let Some(known) = self.known_sizes.get(path) {
            return *known;
        }
        let size = count(self.known(path));
        self.known_sizes.insert(path.to_string(), size);
        size
    }

    fn size_of(&mut self, ty: &TypeRef) -> u64 {
        match ty {
            TypeRef::Named(id) => self.size(*id),
            TypeRef::Known(path) => self.size_of_known(path),
            TypeRef::List(inner) | TypeRef::Array(inner, _) | TypeRef::Map(inner) => {
                self.size_of(inner).saturating_add(1)
            }
            TypeRef::Nullable(inner) => self.size_of(inner),
            TypeRef::Tuple(items) => items.iter().map(|item| self.size_of(item)).fold(1, u64::saturating_add),
            TypeRef::Unit | TypeRef::Opaque => 1,
        }
    }
}

fn count(mut schema: Schema) -> u64 {
    let mut out = 0;
    schema.walk_mut(&mut |_| out += 1);
    out
}

/// The named type in a reference, directly or in lists and maps.
fn named(ty: &TypeRef) -> Option<TypeId> {
    match ty {
        TypeRef::Named(id) => Some(*id),
        TypeRef::List(inner) | TypeRef::Array(inner, _) | TypeRef::Map(inner) | TypeRef::Nullable(inner) => {
            named(inner)
        }
        _ => None,
    }
}
