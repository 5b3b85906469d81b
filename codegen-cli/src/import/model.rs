//! The Rust that is to be written.

use std::collections::{BTreeMap, BTreeSet};

use super::attributes::Key;
use super::keys::Annotations;

/// A module: a version of a group.
#[derive(Debug, Default)]
pub(super) struct Module {
    pub(super) group: String,
    pub(super) version: String,
    pub(super) types: Vec<Type>,
    /// The names of the types of resources, with the numbers of their definitions.
    pub(super) roots: BTreeMap<String, usize>,
}

impl Module {
    /// The names of the types that it imports.
    pub(super) fn imported(&self) -> BTreeSet<String> {
        let mut out = Vec::new();
        for ty in &self.types {
            match &ty.body {
                Body::Struct { fields, .. } => fields.iter().for_each(|field| field.ty.known(&mut out)),
                Body::OneOf(choices) => choices.iter().for_each(|choice| choice.ty.known(&mut out)),
                Body::Texts(_) => {}
            }
        }
        out.retain(|path| *path != VALUE && *path != MAP);
        out.into_iter().map(|path| path.rsplit("::").next().unwrap_or(path).to_string()).collect()
    }
}

/// A type definition.
#[derive(Debug)]
pub(super) struct Type {
    pub(super) name: String,
    pub(super) annotations: Annotations,
    /// Attributes of a resource, in the order in which they are written: name and keys.
    pub(super) resource: Vec<(&'static str, Vec<Key>)>,
    pub(super) body: Body,
    /// Whether the type can have `Default`.
    pub(super) has_default: bool,
}

/// What a type consists of.
#[derive(Debug)]
pub(super) enum Body {
    /// Fields; with `open`, and a map of all others; with `choice`, and those of an enum.
    Struct { fields: Vec<Field>, open: Option<String>, choice: Option<Flattened> },
    /// Texts: identifier and value.
    Texts(Vec<(String, String)>),
    /// Exactly one of these members: identifier, name, lines of documentation, type.
    OneOf(Vec<Choice>),
}

/// A field whose members stand beside the others.
#[derive(Debug)]
pub(super) struct Flattened {
    pub(super) ident: String,
    /// Its type, by its index.
    pub(super) ty: usize,
}

/// A variant that holds something.
#[derive(Debug)]
pub(super) struct Choice {
    pub(super) ident: String,
    pub(super) name: String,
    pub(super) docs: Vec<String>,
    pub(super) ty: Ty,
}

/// A field.
#[derive(Debug)]
pub(super) struct Field {
    pub(super) name: String,
    pub(super) ident: String,
    pub(super) annotations: Annotations,
    pub(super) ty: Ty,
    pub(super) is_optional: bool,
    /// Whether null is something else than the default.
    pub(super) is_defaulted_null: bool,
}

impl Field {
    /// Whether null is written: the field must be there and may be null, or absence would become its default.
    pub(super) fn is_null_written(&self) -> bool {
        let is_required = self.annotations.schema.contains(&Key::Plain("required".to_string()));
        self.is_optional && (is_required || self.is_defaulted_null)
    }
}

/// A Rust type in use.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Ty {
    /// One that is in scope everywhere: `String`.
    Plain(&'static str),
    /// One that is imported, by its path.
    Known(&'static str),
    /// One of the module, by its index.
    Own(usize),
    List(Box<Ty>),
    Map(Box<Ty>),
    Option(Box<Ty>),
}

/// Any JSON.
pub(super) const VALUE: &str = "serde_json::Value";
/// An object of any JSON.
pub(super) const MAP: &str = "serde_json::Map";
/// Metadata.
pub(super) const OBJECT_META: &str = "k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta";

impl Ty {
    /// The type that is optional.
    pub(super) fn bare(&self) -> &Ty {
        match self {
            Ty::Option(inner) => inner.bare(),
            other => other,
        }
    }

    /// The paths that it names.
    pub(super) fn known<'a>(&'a self, out: &mut Vec<&'a str>) {
        match self {
            Ty::Known(path) => out.push(path),
            Ty::List(inner) | Ty::Option(inner) => inner.known(out),
            Ty::Map(inner) => {
                out.push("std::collections::BTreeMap");
                inner.known(out);
            }
            Ty::Plain(_) | Ty::Own(_) => {}
        }
    }
}
