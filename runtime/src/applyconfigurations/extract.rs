//! Extracts the fields that a field manager applied from an object.

use std::collections::BTreeSet;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ManagedFieldsEntry;
use kubesmith_apimachinery::fieldpath::{FieldsError, PathElement, Set};
use serde::Serialize;
use serde_json::{Map, Value};

use super::ApplyConfiguration;

/// The reason why nothing could be extracted.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ExtractError {
    /// The object has no `managedFields` at all, so that nothing is known. Every server keeps them; the caches of informers
    /// leave them out. An empty configuration, applied, would take away all that the manager owns.
    #[error(
        "the object has no managedFields, because informers drop them: read the object with a client, or configure the \
         informer to keep them"
    )]
    NoManagedFields,
    /// The object's `managedFields` cannot be read.
    #[error("cannot read the fields that the field manager \"{manager}\" owns: {source}")]
    Fields {
        /// Whose entry it is.
        manager: String,
        /// Its fault.
        #[source]
        source: FieldsError,
    },
    /// The object cannot be written as JSON.
    #[error("cannot serialize the object as JSON: {0}")]
    Object(#[source] serde_json::Error),
    /// The owned fields are no apply configuration: another manager owns a part of a value that is atomic for the
    /// Rust type, such as an enum with fields.
    #[error("the fields that the field manager \"{manager}\" owns are not an apply configuration: {source}")]
    Configuration {
        /// Whose fields they are.
        manager: String,
        /// The deserializer's error.
        #[source]
        source: serde_json::Error,
    },
}

/// The apply configuration that `manager` has applied last, as far as the manager still owns it: client-go's
/// `ExtractInto`. `subresource` is the one that it was applied to, `""` for the object itself.
///
/// The fields are those of the `managedFields` entry with this manager, operation `Apply` and this subresource; items
/// of lists include their keys. If only others have entries, the result has only the object's kind, name and
/// namespace, which are always included. Fields that the manager has written by other means than apply are not found.
///
/// The object has to come from a client: caches of informers omit `managedFields` by default
/// ([`keep_managed_fields`](crate::informer::InformerOptions::keep_managed_fields)). Fields that the object's Rust
/// type does not write, such as zeros that serde skips, are not found, as in Go.
///
/// # Errors
/// `managedFields` that are missing or cannot be read, and fields that do not fit the configuration's type.
pub fn extract<C>(object: &C::Object, manager: &str, subresource: &str) -> Result<C, ExtractError>
where
    C: ApplyConfiguration<Object: Serialize>,
{
    let value = extract_value(object, manager, subresource)?;
    serde_json::from_value(value)
        .map_err(|source| ExtractError::Configuration { manager: manager.to_owned(), source })
}

/// As [`extract`], as JSON: the body of the manager's apply patch. It works for any kind, generated or not.
///
/// # Errors
/// `managedFields` that are missing or cannot be read.
pub fn extract_value<K>(object: &K, manager: &str, subresource: &str) -> Result<Value, ExtractError>
where
    K: kube::Resource<DynamicType = ()> + Serialize,
{
    let meta = object.meta();
    let entries = meta.managed_fields.as_deref().unwrap_or_default();
    if entries.is_empty() {
        return Err(ExtractError::NoManagedFields);
    }
    let mut own = Set::default();
    let mut others = Vec::new();
    let mut is_found = false;
    for entry in entries {
        let set = fields(entry)?;
        if !is_found && is_applied(entry, manager, subresource) {
            (own, is_found) = (set, true);
        } else {
            others.push(set);
        }
    }
    let whole = serde_json::to_value(object).map_err(ExtractError::Object)?;
    let others: Vec<&Set> = others.iter().collect();
    let mut value = match below(&whole, &own, &others) {
        Value::Object(value) => value,
        _ => Map::new(),
    };
    value.insert("apiVersion".to_owned(), K::api_version(&()).into());
    value.insert("kind".to_owned(), K::kind(&()).into());
    identify(&mut value, meta.name.as_deref(), meta.namespace.as_deref());
    Ok(Value::Object(value))
}

/// Adds name and namespace, which every configuration has.
fn identify(value: &mut Map<String, Value>, name: Option<&str>, namespace: Option<&str>) {
    let metadata = value.entry("metadata").or_insert_with(|| Value::Object(Map::new()));
    if let Value::Object(metadata) = metadata {
        for (field, text) in [("name", name), ("namespace", namespace)] {
            if let Some(text) = text {
                metadata.insert(field.to_owned(), text.into());
            }
        }
    }
}

fn is_applied(entry: &ManagedFieldsEntry, manager: &str, subresource: &str) -> bool {
    entry.manager.as_deref() == Some(manager)
        && entry.operation.as_deref() == Some("Apply")
        && entry.subresource.as_deref().unwrap_or_default() == subresource
}

fn fields(entry: &ManagedFieldsEntry) -> Result<Set, ExtractError> {
    let Some(fields) = &entry.fields_v1 else { return Ok(Set::default()) };
    Set::from_fields_v1(&fields.0)
        .map_err(|source| ExtractError::Fields { manager: entry.manager.clone().unwrap_or_default(), source })
}

/// The fields of a value that a set names; `others` is what everybody else owns in it.
pub(super) fn below(value: &Value, own: &Set, others: &[&Set]) -> Value {
    match value {
        Value::Object(fields) => {
            let owned = fields.iter().filter_map(|(name, value)| {
                let element = PathElement::Field(name.clone());
                let others: Vec<&Set> = others.iter().filter_map(|set| set.get(&element)).collect();
                Some((name.clone(), owned(value, own.get(&element)?, &others)))
            });
            Value::Object(owned.collect())
        }
        Value::Array(items) => {
            let (own, others) = (Items::of(own), others.iter().map(|set| Items::of(set)));
            let others: Vec<Items<'_>> = others.collect();
            let owned = items.iter().enumerate().filter_map(|(at, item)| {
                let (element, own) = own.find(at, item)?;
                let others: Vec<&Set> =
                    others.iter().filter_map(|items| items.find(at, item)).map(|(_, set)| set).collect();
                Some(with_keys(owned(item, own, &others), &element, item))
            });
            Value::Array(owned.collect())
        }
        value => value.clone(),
    }
}

/// The items of a list that a set owns.
struct Items<'s> {
    set: &'s Set,
    /// The names of key fields. A list has one group of them, unless its schema changed.
    keys: BTreeSet<Vec<String>>,
}

impl<'s> Items<'s> {
    fn of(set: &'s Set) -> Self {
        let keys = set.elements().filter_map(PathElement::key_fields);
        Self { set, keys: keys.map(|fields| fields.into_iter().map(|(name, _)| name).collect()).collect() }
    }

    /// Returns the set's path element of an item, and the set below it.
    fn find(&self, at: usize, item: &Value) -> Option<(PathElement, &'s Set)> {
        let by_key = self.keys.iter().filter_map(|names| {
            let field = |name: &String| Some((name.clone(), item.get(name)?.clone()));
            names.iter().map(field).collect::<Option<Map<_, _>>>().map(PathElement::key)
        });
        let mut elements = by_key.chain([PathElement::value(item), PathElement::Index(at)]);
        elements.find_map(|element| self.set.get(&element).map(|below| (element, below)))
    }
}

/// Returns a member of the set: the members below it, if there are any; else the whole value, which is a scalar,
/// atomic or empty. It was empty when it was applied if another manager owns parts of it, since parts of atomic
/// values have no owner.
fn owned(value: &Value, own: &Set, others: &[&Set]) -> Value {
    let is_shared = others.iter().any(|set| !set.is_empty());
    if own.is_empty() && !is_shared { value.clone() } else { below(value, own, others) }
}

/// The item of a list with the key fields, without which it could not be applied.
fn with_keys(mut owned: Value, element: &PathElement, item: &Value) -> Value {
    if let (Some(key), Value::Object(fields)) = (element.key_fields(), &mut owned) {
        for (name, _) in key {
            if let Some(value) = item.get(&name) {
                fields.entry(name).or_insert_with(|| value.clone());
            }
        }
    }
    owned
}
