//! The kinds that every cluster has, as far as controllers touch them.
//!
//! What objects are made of stands in [`crate::types`]. Defaults and checks are the part of kube-apiserver's that clients notice.

mod admission;
mod autoscaling;
pub(crate) mod certificates;
mod check;
pub(crate) mod complete;
mod defaults;
mod events;
mod kinds;
pub(crate) mod parts;
pub(crate) mod printers;
pub(crate) mod selectable;
mod services;
pub(crate) mod warnings;

use serde_json::Value;

pub(crate) use defaults::TEMPLATE_GENERATION;
pub(crate) use kinds::{all, has_group};

use crate::names::NameRule;
use crate::registry::{Behaviour, ResourceDef, ScalePaths};
use crate::status::Cause;
use crate::types::{self, Type};

/// What a default may depend on beside the object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stage {
    Create,
    Update,
}

/// Reads a value into a type and writes it back.
pub(crate) type Typed = fn(&Value) -> Result<Value, serde_json::Error>;

/// A built-in kind.
pub(crate) struct BuiltIn {
    pub(crate) group: &'static str,
    pub(crate) version: &'static str,
    pub(crate) kind: &'static str,
    pub(crate) plural: &'static str,
    pub(crate) singular: &'static str,
    pub(crate) short_names: &'static [&'static str],
    pub(crate) categories: &'static [&'static str],
    pub(crate) namespaced: bool,
    pub(crate) status: bool,
    pub(crate) scale: bool,
    /// Whether `metadata.generation` counts changes of the spec.
    pub(crate) generation: bool,
    /// Whether objects are questions that are answered and not stored.
    pub(crate) review: bool,
    /// Whether objects are made when they are read, and not stored.
    pub(crate) computed: bool,
    /// Whether `PUT` makes an object that is not there.
    pub(crate) create_on_update: bool,
    /// Whether `PUT` may leave out the version it replaces.
    pub(crate) unconditional_update: bool,
    /// Whether a delete answers the object instead of a `Status`.
    pub(crate) returns_deleted: bool,
    pub(crate) name_rule: NameRule,
    /// Fields that selectors may name beside name and namespace; a kind without any has no field conversion of its own.
    pub(crate) selectable: &'static [&'static str],
    /// Reads the value into the kind's type and writes it back, for kinds that the table of types does not have.
    pub(crate) typed: Option<Typed>,
    pub(crate) default: fn(&mut Value, Stage),
    /// What kube-apiserver sets on a new object after defaults and the ownership of fields are settled.
    pub(crate) prepare: fn(&mut Value),
    /// The warning in every answer about a deprecated version.
    pub(crate) deprecated: Option<&'static str>,
    /// Checks a new object, or one that replaces another.
    pub(crate) check: fn(&Value, Option<&Value>) -> Vec<Cause>,
    /// Checks an object whose status replaces another's.
    pub(crate) check_status: fn(&Value, &Value) -> Vec<Cause>,
    /// Conversion from and to the stored version, for resources that share another one's collection.
    pub(crate) conversion: Option<Conversion>,
}

/// How a kind maps to the version it is stored as.
#[derive(Clone, Copy)]
pub(crate) struct Conversion {
    pub(crate) stored_as: &'static str,
    pub(crate) collection: &'static str,
    pub(crate) to_stored: fn(Value) -> Value,
    pub(crate) from_stored: fn(Value) -> Value,
}

impl std::fmt::Debug for BuiltIn {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "BuiltIn({}/{} {})", self.group, self.version, self.kind)
    }
}

impl BuiltIn {
    /// What its objects are made of; `None` for kinds that are not in the table.
    pub(crate) fn message(&self) -> Option<&'static Type> {
        types::of_kind(&self.api_version(), self.kind)
    }

    /// Whether both are versions of one resource.
    pub(crate) fn shares_objects_with(&self, other: &BuiltIn) -> bool {
        self.kind == other.kind && self.collection() == other.collection()
    }

    /// The store's collection.
    fn collection(&self) -> String {
        match self.conversion {
            Some(conversion) => conversion.collection.to_owned(),
            None if self.group.is_empty() => self.plural.to_owned(),
            None => format!("{}.{}", self.plural, self.group),
        }
    }

    pub(crate) fn api_version(&self) -> String {
        if self.group.is_empty() {
            self.version.to_owned()
        } else {
            format!("{}/{}", self.group, self.version)
        }
    }

    /// The resource this kind is served as.
    pub(crate) fn def(&'static self) -> ResourceDef {
        let owned = |list: &[&str]| list.iter().map(|s| (*s).to_owned()).collect::<Vec<_>>();
        let api_version = self.api_version();
        ResourceDef {
            group: self.group.to_owned(),
            version: self.version.to_owned(),
            kind: self.kind.to_owned(),
            list_kind: format!("{}List", self.kind),
            plural: self.plural.to_owned(),
            singular: self.singular.to_owned(),
            short_names: owned(self.short_names),
            categories: owned(self.categories),
            namespaced: self.namespaced,
            collection: self.collection(),
            stored_as: self.conversion.map_or(api_version, |c| c.stored_as.to_owned()),
            status: self.status,
            scale: self.scale.then(|| ScalePaths {
                spec: ".spec.replicas".to_owned(),
                status: ".status.replicas".to_owned(),
                selector: None,
            }),
            columns: Vec::new(),
            selectable: owned(self.selectable),
            deprecated: self.deprecated.map(str::to_owned),
            behaviour: Behaviour::BuiltIn(self),
        }
    }
}

/// Brings an object into the form its type gives it; answers the paths of members that the type does not know.
///
/// # Errors
/// A value of the wrong type.
pub(crate) fn settle(kind: &BuiltIn, value: &mut Value) -> Result<Vec<String>, String> {
    if let Some(typed) = kind.typed {
        let read = typed(value).map_err(|e| format!("json: {e}"))?;
        let lost = lost_fields(value, &read);
        *value = read;
        return Ok(lost);
    }
    match kind.message() {
        Some(message) => types::decode::settle(value, message),
        None => Ok(Vec::new()),
    }
}

/// Paths of members that reading into the type lost, in the order of the input.
fn lost_fields(before: &Value, after: &Value) -> Vec<String> {
    let mut out = Vec::new();
    collect_lost(before, after, "", &mut out);
    out
}

fn collect_lost(before: &Value, after: &Value, path: &str, out: &mut Vec<String>) {
    match (before, after) {
        (Value::Object(before), Value::Object(after)) => {
            for (key, value) in before {
                let path = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
                match after.get(key) {
                    Some(kept) => collect_lost(value, kept, &path, out),
                    None if value.is_null() => {}
                    None => out.push(path),
                }
            }
        }
        (Value::Array(before), Value::Array(after)) => {
            for (i, (value, kept)) in before.iter().zip(after).enumerate() {
                collect_lost(value, kept, &format!("{path}[{i}]"), out);
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn every_kind_has_its_types() {
        for kind in all() {
            assert!(kind.message().is_some() || kind.typed.is_some(), "{kind:?}");
        }
    }

    #[test]
    fn fields_that_the_type_does_not_know_are_found() {
        let before = json!({"a": 1, "b": {"c": [{"d": 1, "e": null}]}});
        let after = json!({"b": {"c": [{}]}});
        assert_eq!(lost_fields(&before, &after), ["a", "b.c[0].d"]);
    }
}
