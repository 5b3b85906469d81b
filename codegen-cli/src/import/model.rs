//! The model of the Rust code to write.

use std::collections::{BTreeMap, BTreeSet};

use super::attributes::Key;
use super::keys::Annotations;

/// A module: a version of a group, or types that versions share.
#[derive(Debug, Default)]
pub(super) struct Module {
    pub(super) group: String,
    pub(super) version: String,
    /// The Go package of the shared types; `None`: a version.
    pub(super) shared: Option<String>,
    /// Constants without a type.
    pub(super) constants: Vec<Constant>,
    pub(super) types: Vec<Type>,
    /// The names of the types of resources, with the numbers of their definitions.
    pub(super) roots: BTreeMap<String, usize>,
}

impl Module {
    /// The names of the types that it imports.
    pub(super) fn imported(&self) -> BTreeSet<String> {
        self.paths().into_iter().map(|path| last(path).to_string()).collect()
    }

    /// The paths of the types that it uses. Those of serde_json are excluded: they are written in full, as
    /// a type of ours may have their names.
    pub(super) fn paths(&self) -> BTreeSet<&str> {
        let mut out = Vec::new();
        for ty in &self.types {
            match &ty.body {
                Body::Struct { fields, open, .. } => {
                    fields.iter().for_each(|field| field.ty.known(&mut out));
                    out.extend(open.as_ref().map(|_| BTREE_MAP));
                }
                Body::OneOf(choices) => choices.iter().for_each(|choice| choice.ty.known(&mut out)),
                Body::Newtype { ty, .. } => ty.known(&mut out),
                Body::Texts(_) => {}
            }
        }
        out.into_iter().filter(|path| *path != VALUE && *path != MAP).collect()
    }

    /// Whether a path is imported: no type of the module, and no other path, has its name.
    pub(super) fn imports(&self, path: &str) -> bool {
        let name = last(path);
        let is_other = |other: &&str| *other != path && last(other) == name;
        !self.types.iter().any(|ty| ty.name == name) && !self.paths().iter().any(is_other)
    }
}

/// The last part of a path.
pub(super) fn last(path: &str) -> &str {
    path.rsplit("::").next().unwrap_or(path)
}

/// A constant text.
#[derive(Debug)]
pub(super) struct Constant {
    pub(super) name: String,
    pub(super) value: String,
    pub(super) docs: Vec<String>,
}

/// A type definition.
#[derive(Debug)]
pub(super) struct Type {
    pub(super) name: String,
    pub(super) annotations: Annotations,
    /// Attributes of a resource, in the order in which they are written: name and keys.
    pub(super) resource: Vec<(&'static str, Vec<Key>)>,
    pub(super) body: Body,
    /// Constants of the type.
    pub(super) constants: Vec<Constant>,
    /// Whether the type can have `Default`.
    pub(super) has_default: bool,
}

/// The parts of a type.
#[derive(Debug)]
pub(super) enum Body {
    /// Fields; with `open`, also a map of all others; with `choice`, also the fields of an enum.
    Struct { fields: Vec<Field>, open: Option<String>, choice: Option<Flattened> },
    /// Texts.
    Texts(Vec<Text>),
    /// The inner type; with `is_schemaless`, only attributes describe the JSON.
    #[cfg_attr(not(feature = "go"), allow(dead_code, reason = "only Go's types are such"))]
    Newtype { ty: Ty, is_schemaless: bool },
    /// Exactly one of these members: identifier, name, lines of documentation, type.
    OneOf(Vec<Choice>),
}

/// A field whose members are flattened into the struct.
#[derive(Debug)]
pub(super) struct Flattened {
    pub(super) ident: String,
    /// Its type, by its index.
    pub(super) ty: usize,
}

/// A variant that is a text.
#[derive(Debug)]
pub(super) struct Text {
    pub(super) ident: String,
    pub(super) value: String,
    /// Lines of documentation; empty: the value.
    pub(super) docs: Vec<String>,
}

/// A variant with content.
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
    /// Whether its fields are flattened into the enclosing object.
    pub(super) is_flat: bool,
    /// Whether null differs from the default.
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
    /// One of another module, by its path.
    #[cfg_attr(not(feature = "go"), allow(dead_code, reason = "only Go has modules of its own"))]
    Other(String),
    List(Box<Ty>),
    Map(Box<Ty>),
    Option(Box<Ty>),
}

/// Maps.
pub(super) const BTREE_MAP: &str = "std::collections::BTreeMap";
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
            Ty::Other(path) => out.push(path),
            Ty::List(inner) | Ty::Option(inner) => inner.known(out),
            Ty::Map(inner) => {
                out.push(BTREE_MAP);
                inner.known(out);
            }
            Ty::Plain(_) | Ty::Own(_) => {}
        }
    }
}
