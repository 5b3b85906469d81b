//! The built-in kinds, as far as clients notice.
//!
//! Their types are in [`crate::types`]. Defaults and checks are the part of kube-apiserver's that clients notice.

mod admission;
pub(crate) mod app_armor;
pub(crate) mod autoscaling;
pub(crate) mod certificates;
mod check;
mod defaults;
mod events;
pub(crate) mod initial;
mod kinds;
pub(crate) mod parts;
pub(crate) mod printers;
pub(crate) mod selectable;
pub(crate) mod warnings;

use serde_json::Value;

pub(crate) use check::{
    SYSTEM_PRIORITIES, address_fields, domain_prefixed_path, drop_deallocated, is_extended, parse_address,
};
pub(crate) use defaults::{
    TEMPLATE_GENERATION, count_template_generation, quality_of_service, shares_labels,
};
pub(crate) use kinds::all;
pub(crate) use printers::is_default_storage_class;

use crate::groups;
use crate::names::NameRule;
use crate::stage::Stage;
use crate::status::Cause;
use crate::types::decode::Settle;
use crate::types::{self, Type};

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
    pub(crate) generation: Generation,
    /// Whether objects are reviews, which are not stored.
    pub(crate) review: bool,
    /// Whether objects are computed on reads, and not stored.
    pub(crate) computed: bool,
    /// Whether `PUT` creates a missing object.
    pub(crate) create_on_update: bool,
    /// Whether `PUT` may omit the version that it replaces.
    pub(crate) unconditional_update: bool,
    /// Whether a delete returns the object instead of a `Status`.
    pub(crate) returns_deleted: bool,
    pub(crate) name_rule: NameRule,
    /// Fields of selectors beside name and namespace; a kind without any has no field conversion of its own.
    pub(crate) selectable: &'static [&'static str],
    pub(crate) default: fn(&mut Value, Stage),
    /// Sets fields of a new object, after defaults and field ownership.
    pub(crate) prepare: fn(&mut Value),
    /// The warning in every response about a deprecated version.
    pub(crate) deprecated: Option<&'static str>,
    /// Checks a new object, or one that replaces another.
    pub(crate) check: fn(&Value, Option<&Value>) -> Vec<Cause>,
    /// Checks an object whose status replaces another's.
    pub(crate) check_status: fn(&Value, &Value) -> Vec<Cause>,
    /// Conversion from and to the stored version, for resources that share another one's collection.
    pub(crate) conversion: Option<Conversion>,
}

/// The rule for `metadata.generation` of a kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Generation {
    /// It is absent.
    Absent,
    /// It is 1 and never changes.
    First,
    /// It counts changes; new objects have none.
    Changes,
    /// It starts at 1 and counts changes.
    Counted,
}

/// The conversion of a kind to its stored version.
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
    /// The type of its objects; `None` for kinds that are not in the table.
    pub(crate) fn message(&self) -> Option<&'static Type> {
        types::of_kind(&self.api_version(), self.kind)
    }

    /// Returns the cause for which a new object, or a new status, is refused in this namespace, if there is one.
    pub(crate) fn refused_in(&self, namespace: &Value, object: &Value, old: Option<&Value>) -> Option<Cause> {
        check::admin_access(self.kind, object, old, namespace)
    }

    /// Reports whether both are versions of one resource.
    pub(crate) fn shares_objects_with(&self, other: &BuiltIn) -> bool {
        self.kind == other.kind && self.collection() == other.collection()
    }

    /// The store's collection.
    pub(crate) fn collection(&self) -> String {
        match self.conversion {
            Some(conversion) => conversion.collection.to_owned(),
            None if self.group.is_empty() => self.plural.to_owned(),
            None => format!("{}.{}", self.plural, self.group),
        }
    }

    /// The path of the replicas, if it has a scale.
    pub(crate) fn replicas(&self) -> Option<&'static str> {
        self.scale.then_some(".spec.replicas")
    }

    pub(crate) fn api_version(&self) -> String {
        groups::api_version(self.group, self.version)
    }
}

/// Normalizes an object to its type by `settle`; returns the paths of unknown members.
///
/// # Errors
/// Returns the first value of the wrong type.
pub(crate) fn settle(kind: &BuiltIn, value: &mut Value, settle: Settle) -> Result<Vec<String>, String> {
    match types::message_of_kind(&kind.api_version(), kind.kind) {
        Some(message) => settle(value, message),
        None => Ok(Vec::new()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn built_in_kinds_have_messages_in_the_type_table() {
        for kind in all() {
            assert!(types::message_of_kind(&kind.api_version(), kind.kind).is_some(), "{kind:?}");
        }
    }
}
