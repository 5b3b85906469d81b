//! Decides the forms of the fields of the users' types.

use std::collections::BTreeSet;

use super::super::{Package, code, plan};
use super::fields::Field;
use super::{Form, Key, builtin};
use crate::ir::{self, Enum, Ir, Shape, Tagging, TypeDef, TypeId, TypeRef};
use crate::known::{self, Simple};
use crate::schema::Schema;

/// Any JSON.
pub(super) const JSON: &str = "::kubesmith_runtime::serde_json::Value";

/// An integer or a string.
const INT_OR_STRING: &str = "::kubesmith_runtime::k8s_openapi::apimachinery::pkg::util::intstr::IntOrString";

/// Reads fields from the representation.
pub(super) struct Reader<'i> {
    pub(super) ir: &'i Ir,
    pub(super) package: &'i Package,
    /// Library names of the crates that the package depends on.
    pub(super) nameable: BTreeSet<&'i str>,
}

impl Reader<'_> {
    /// The fields of a struct, including those of flattened structs.
    pub(super) fn fields(&self, id: TypeId) -> Vec<Field> {
        let mut out = Vec::new();
        match &self.definition(id).shape {
            Shape::Given(schema) => given(schema, &mut out),
            shape => shape.fields().for_each(|field| self.push(field, &mut out)),
        }
        out
    }

    fn definition(&self, id: TypeId) -> &TypeDef {
        &self.ir.types[id.0 as usize]
    }

    fn push(&self, field: &ir::Field, out: &mut Vec<Field>) {
        if field.flatten
            && let TypeRef::Named(id) = &field.ty
            && let Some(id) = self.flat_struct(*id)
        {
            out.extend(self.fields(id));
            return;
        }
        if field.flatten
            && let Form::Struct(Key::BuiltIn(name)) = self.form(&field.ty)
        {
            out.extend(builtin::fields(&name).0);
            return;
        }
        let form = if field.flatten { self.flattened(&field.ty) } else { self.field_form(field) };
        let doc = field.description.as_deref().unwrap_or_default();
        let made = Field::new(&field.name, &field.rust_name, form, doc);
        out.push(Field { flatten: field.flatten, ..made });
    }

    fn field_form(&self, field: &ir::Field) -> Form {
        if field.schemaless || field.ty == TypeRef::Opaque {
            return said(&field.facts);
        }
        let form = self.form(&field.ty);
        let is_nullable = field.facts.nullable && !matches!(form, Form::Nullable(_));
        if is_nullable { Form::Nullable(Box::new(form)) } else { form }
    }

    /// The struct whose fields are flattened into another, behind newtypes.
    fn flat_struct(&self, id: TypeId) -> Option<TypeId> {
        match &self.definition(id).shape {
            Shape::Struct(_) => Some(id),
            Shape::Newtype(element) => match &element.ty {
                TypeRef::Named(id) => self.flat_struct(*id),
                _ => None,
            },
            _ => None,
        }
    }

    /// The form of flattened maps and enums. Other types without source take any further field.
    fn flattened(&self, ty: &TypeRef) -> Form {
        match self.form(ty) {
            Form::Nullable(inner) => *inner,
            form @ Form::Map(_) => form,
            Form::Whole { path, converts } if path.contains("::") && path != JSON => {
                Form::Whole { path, converts }
            }
            _ => Form::Map(Box::new(json())),
        }
    }

    fn form(&self, ty: &TypeRef) -> Form {
        match ty {
            TypeRef::Named(id) => self.named(*id),
            TypeRef::Known(path) => known_form(path),
            TypeRef::List(item) | TypeRef::Array(item, _) => Form::List(Box::new(self.form(item))),
            TypeRef::Map(value) => Form::Map(Box::new(self.form(value))),
            TypeRef::Nullable(inner) => Form::Nullable(Box::new(self.form(inner))),
            TypeRef::Tuple(_) | TypeRef::Unit | TypeRef::Opaque => json(),
        }
    }

    fn named(&self, id: TypeId) -> Form {
        let definition = self.definition(id);
        match &definition.shape {
            Shape::Struct(_) => Form::Struct(Key::Named(id)),
            Shape::Newtype(element) => match &element.ty {
                TypeRef::Opaque => said(&definition.facts),
                ty => self.form(ty),
            },
            Shape::Enum(shape) => self.enumeration(definition, shape),
            Shape::Given(schema) => said(schema),
            Shape::Tuple(_) | Shape::Unit => json(),
        }
    }

    /// The user's own type, if the package can name it, else JSON.
    fn enumeration(&self, definition: &TypeDef, shape: &Enum) -> Form {
        let path = definition.code_path.as_deref();
        match path.filter(|_| code::is_nameable(definition, &self.nameable)) {
            Some(path) => Form::Whole { path: plan::object_path(path, self.package), converts: true },
            None if is_text(shape) => text(),
            None => json(),
        }
    }
}

/// Whether every variant of the enum is a string.
fn is_text(shape: &Enum) -> bool {
    shape.tagging == Tagging::External
        && shape.variants.iter().all(|variant| variant.content.is_none() && !variant.untagged)
}

/// A type of another crate.
fn known_form(path: &str) -> Form {
    if let Some(name) = known::openapi_name(path) {
        return builtin::form(name);
    }
    if path.starts_with("k8s_openapi::") {
        return builtin::whole(&path["k8s_openapi".len()..]);
    }
    let plain = |path: &str| Form::Whole { path: path.to_owned(), converts: false };
    match path {
        "bool" | "i8" | "i16" | "i32" | "i64" | "isize" | "u8" | "u16" | "u32" | "u64" | "usize" | "f32"
        | "f64" => plain(path),
        _ if path.starts_with("std::num::NonZero") => plain(&format!("::{path}")),
        _ => match known::simple(path) {
            Some(Simple::Text) => text(),
            Some(Simple::Integer) => plain("i64"),
            Some(Simple::Number) => plain("f64"),
            Some(Simple::Boolean) => plain("bool"),
            Some(Simple::IntOrText) => int_or_string(),
            None => json(),
        },
    }
}

/// The fields of a root type with an explicit schema, whose Rust types are unknown.
fn given(schema: &Schema, out: &mut Vec<Field>) {
    let metadata = known_form("k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta");
    out.push(Field::new("metadata", "metadata", metadata, "Standard object metadata."));
    for (name, property) in &schema.properties {
        if !matches!(name.as_str(), "apiVersion" | "kind" | "metadata") {
            let doc = property.description.as_deref().unwrap_or_default();
            out.push(Field::new(name, name, said(property), doc));
        }
    }
}

/// The form of a value with a handwritten schema.
fn said(schema: &Schema) -> Form {
    if schema.int_or_string {
        return int_or_string();
    }
    let plain = |path: &str| Form::Whole { path: path.to_owned(), converts: false };
    match schema.type_.as_deref() {
        Some("string") => text(),
        Some("integer") => plain("i64"),
        Some("number") => plain("f64"),
        Some("boolean") => plain("bool"),
        _ => json(),
    }
}

fn text() -> Form {
    Form::Whole { path: "String".to_owned(), converts: true }
}

pub(super) fn json() -> Form {
    Form::Whole { path: JSON.to_owned(), converts: true }
}

fn int_or_string() -> Form {
    Form::Whole { path: INT_OR_STRING.to_owned(), converts: true }
}
