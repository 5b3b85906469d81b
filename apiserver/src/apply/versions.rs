//! Handles fields that managers own in other versions than the written one.
//!
//! Ownership is kept in the version in which a manager wrote. The objects are compared in that version to find a
//! write's changes for the manager; see [`Versions`].

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde_json::Value;

use super::types::{Ty, Typed};
use super::walk::Comparison;
use super::{Scope, without_managed_fields};

/// The source of an object's versions.
///
/// Conversions may need a call over the network, which this module does not make: it returns the conversion that it
/// needs, and the caller repeats the call with it.
pub trait Versions {
    /// Returns the merge rules of an `apiVersion`; `None` if it is not served.
    fn typed(&self, api_version: &str) -> Option<&Typed>;

    /// Returns the object in another `apiVersion`.
    ///
    /// # Errors
    /// Returns the conversion that is missing, or the fault of the object in that version.
    fn convert(&self, object: Value, to: &str) -> Result<Value, Unconverted>;
}

/// The reason why an object is not there in another version.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unconverted {
    /// A conversion is to be made.
    #[error("the object is needed as {to}")]
    Needed {
        /// The object.
        object: Box<Value>,
        /// The `apiVersion` to convert to.
        to: String,
    },
    /// The object does not fit the schema of the version.
    #[error("{0}")]
    Unfit(String),
}

impl Unconverted {
    /// Adds what was to be done to the fault of an object.
    pub(super) fn within(self, doing: &str) -> Self {
        match self {
            Self::Unfit(fault) => Self::Unfit(format!("{doing}: {fault}")),
            needed @ Self::Needed { .. } => needed,
        }
    }
}

/// An object that is the same in all versions.
pub(super) struct Same<'a>(pub(super) &'a Typed);

impl Versions for Same<'_> {
    fn typed(&self, _: &str) -> Option<&Typed> {
        Some(self.0)
    }

    fn convert(&self, object: Value, _: &str) -> Result<Value, Unconverted> {
        Ok(object)
    }
}

/// The object in an `apiVersion`, which may be its own. A conversion gets it without its managed fields.
pub(super) fn converted<'a>(
    versions: &dyn Versions,
    object: &'a Value,
    to: &str,
) -> Result<Cow<'a, Value>, Unconverted> {
    if object["apiVersion"].as_str() == Some(to) {
        return Ok(Cow::Borrowed(object));
    }
    versions.convert(without_managed_fields(object), to).map(Cow::Owned)
}

/// The changes of a write, in every version in which somebody owns fields.
pub(super) struct Comparisons<'a> {
    versions: &'a dyn Versions,
    old: &'a Value,
    new: &'a Value,
    scope: Scope,
    made: BTreeMap<String, Comparison>,
}

impl<'a> Comparisons<'a> {
    pub(super) fn new(versions: &'a dyn Versions, old: &'a Value, new: &'a Value, scope: Scope) -> Self {
        Self { versions, old, new, scope, made: BTreeMap::new() }
    }

    /// Returns the changes in `api_version`; `None` if it is not served.
    pub(super) fn at(&mut self, api_version: &str) -> Result<Option<&Comparison>, Unconverted> {
        if !self.made.contains_key(api_version) {
            let Some(typed) = self.versions.typed(api_version) else { return Ok(None) };
            // `update` of structured-merge-diff's merge/update.go.
            let old = converted(self.versions, self.old, api_version)
                .map_err(|fault| fault.within("failed to convert old object"))?;
            let new = converted(self.versions, self.new, api_version)
                .map_err(|fault| fault.within("failed to convert new object"))?;
            let compared = Comparison::between(Ty::of(typed), &old, &new).within(&self.scope);
            self.made.insert(api_version.to_owned(), compared);
        }
        Ok(self.made.get(api_version))
    }
}
