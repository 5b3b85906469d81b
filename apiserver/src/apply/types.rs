//! The merge rules of each part of an object.
//!
//! A [`Typed`] is a schema that marks every list and map as atomic or owned by its parts. For custom resources it comes
//! from the structural schema; for built-in kinds see [`super::builtin`].

use std::sync::{Arc, LazyLock};

use kubesmith_apiextensions::structural::{Additional, ListType, MapType, Schema};
use kubesmith_apimachinery::fieldpath::PathElement;
use serde_json::{Map, Value, json};

use super::builtin;

/// The merge rules of one kind of object.
#[derive(Clone, Debug)]
pub struct Typed {
    pub(crate) schema: Schema,
    /// An empty object of the kind: Go structures always have their inner structures.
    pub(crate) blank: Value,
    /// Whether every member is a declared field, although the schema names only those with rules of their own.
    pub(crate) closed: bool,
    /// Whether objects may have fields that the schema does not name.
    pub(crate) keeps_unknown: bool,
}

static OBJECT_META: LazyLock<Schema> = LazyLock::new(|| builtin::parse(&builtin::object_meta()));

impl Typed {
    /// The rules of a custom resource: those of its schema, and those of metadata.
    #[must_use]
    pub fn custom(schema: &Schema) -> Self {
        let mut schema = schema.clone();
        add_metadata(&mut schema, true);
        Self { schema, blank: json!({}), closed: false, keeps_unknown: false }
    }

    /// The rules of a built-in kind; kinds that are not in the table merge maps field by field and lists as a whole.
    #[must_use]
    pub fn builtin(group: &str, version: &str, kind: &str) -> Self {
        let mut schema = builtin::parse(&builtin::schema(group, version, kind));
        add_metadata(&mut schema, true);
        Self { schema, blank: builtin::blank(group, version, kind), closed: true, keeps_unknown: true }
    }

    /// Returns these rules for a resource that keeps unknown fields everywhere.
    #[must_use]
    pub fn keeping_unknown_fields(self, keeps_unknown: bool) -> Self {
        Self { keeps_unknown, ..self }
    }
}

/// Embedded resources get the rules of metadata as the root does.
fn add_metadata(schema: &mut Schema, is_root: bool) {
    if is_root || schema.embedded_resource {
        schema.properties.insert("metadata".to_owned(), OBJECT_META.clone().into());
        for name in ["apiVersion", "kind"] {
            schema.properties.insert(name.to_owned(), Schema::of_type("string").into());
        }
    }
    for (_, property) in schema.properties.iter_mut().filter(|(name, _)| *name != "metadata") {
        add_metadata(Arc::make_mut(property), false);
    }
    if let Some(items) = &mut schema.items {
        add_metadata(items, false);
    }
    if let Some(Additional::Schema(all)) = &mut schema.additional_properties {
        add_metadata(all, false);
    }
}

/// The rules of one place: a schema, or `None` where the value decides (maps merge, lists are atomic).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ty<'a> {
    schema: Option<&'a Schema>,
    closed: bool,
}

/// The merge category of a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Atom {
    Scalar,
    Map { atomic: bool },
    List(ListType),
}

impl<'a> Ty<'a> {
    /// The rules of a whole object.
    pub(crate) fn of(typed: &'a Typed) -> Self {
        Self { schema: Some(&typed.schema), closed: typed.closed }
    }

    fn at(self, schema: Option<&'a Schema>) -> Self {
        Self { schema, closed: self.closed }
    }

    /// Returns the category of the place; without a schema, the value decides.
    pub(crate) fn atom(self, value: Option<&Value>) -> Atom {
        let declared = self.schema.map_or("", |s| if s.int_or_string { "" } else { s.type_name() });
        let atomic = self.schema.is_some_and(|s| s.effective_map_type() == MapType::Atomic);
        match (declared, value) {
            ("object", Some(Value::Object(_) | Value::Null) | None) => Atom::Map { atomic },
            ("array", Some(Value::Array(_) | Value::Null) | None) => {
                Atom::List(self.schema.map_or(ListType::Atomic, Schema::effective_list_type))
            }
            // Null without a declared type counts as a map, so it does not replace one.
            (_, Some(Value::Object(_))) | ("", Some(Value::Null)) => Atom::Map { atomic },
            (_, Some(Value::Array(_))) => Atom::List(ListType::Atomic),
            _ => Atom::Scalar,
        }
    }

    /// The rules of a field, and whether the schema names that very field.
    pub(crate) fn field(self, name: &str) -> (Ty<'a>, bool) {
        let Some(schema) = self.schema else { return (self, self.closed) };
        match (schema.properties.get(name).map(Arc::as_ref), schema.additional_schema()) {
            (Some(property), _) => (self.at(Some(property)), true),
            (None, Some(additional)) => (self.at(Some(additional)), false),
            (None, None) => (self.at(None), self.closed),
        }
    }

    pub(crate) fn schema(self) -> Option<&'a Schema> {
        self.schema
    }

    /// Reports whether the items of a list are identified by key or value.
    pub(crate) fn is_associative(self) -> bool {
        self.schema.is_some_and(|s| s.effective_list_type() != ListType::Atomic)
    }

    /// The rules of the items of a list.
    pub(crate) fn item(self) -> Ty<'a> {
        self.at(self.schema.and_then(|s| s.items.as_deref()))
    }

    /// The path element of an item of a set or list map.
    ///
    /// # Errors
    /// Returns the fault of the item.
    pub(crate) fn element(self, item: &Value) -> Result<PathElement, String> {
        match self.schema.map(Schema::effective_list_type) {
            Some(ListType::Map) => self.key(item),
            Some(ListType::Set) => value_of(item),
            _ => Err("invalid indexing of non-associative list".to_owned()),
        }
    }

    fn key(self, item: &Value) -> Result<PathElement, String> {
        let keys = self.schema.map(|s| s.list_map_keys.as_slice()).unwrap_or_default();
        let default = |name: &str| self.item().field(name).0.schema.and_then(|s| s.default.clone());
        key_of(keys, default, item)
    }
}

/// The path element of an item of a set.
///
/// # Errors
/// Returns the fault of the item.
pub(super) fn value_of(item: &Value) -> Result<PathElement, String> {
    match item {
        Value::Object(_) => Err("associative list without keys has an element that's a map type".to_owned()),
        Value::Array(_) => Err("not supported: associative list with lists as elements".to_owned()),
        Value::Null => Err("associative list without keys has an element that's an explicit null".to_owned()),
        scalar => Ok(PathElement::value(scalar)),
    }
}

/// Returns the path element of an item of a list map with these keys, some of which may have defaults.
///
/// # Errors
/// As for [`value_of`].
pub(super) fn key_of(
    keys: &[String],
    default: impl Fn(&str) -> Option<Value>,
    item: &Value,
) -> Result<PathElement, String> {
    let map = match item {
        Value::Object(map) => map,
        Value::Null => return Err("associative list with keys may not have a null element".to_owned()),
        _ => return Err("associative list with keys may not have non-map elements".to_owned()),
    };
    let fields: Map<String, Value> = keys
        .iter()
        .filter_map(|name| Some((name.clone(), map.get(name).cloned().or_else(|| default(name))?)))
        .collect();
    if fields.is_empty() && !keys.is_empty() {
        let keys: Vec<String> = keys.iter().map(|k| kubesmith_apimachinery::golang::quote(k)).collect();
        return Err(format!(
            "associative list with keys has an element that omits all key fields [{}] (and doesn't have default values for any key fields)",
            keys.join(" ")
        ));
    }
    Ok(PathElement::key(fields))
}
