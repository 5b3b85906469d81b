//! Fields that managers own in other versions of an object than the one that is written.
//!
//! Ownership is kept in the version in which a manager wrote. What a write changes for it is found out by comparing the
//! objects in that version; see [`Versions`].

use std::collections::BTreeMap;

use serde_json::Value;

use super::Scope;
use super::types::{Ty, Typed};
use super::walk::Comparison;

/// Where the versions of an object come from.
///
/// Conversions may take a call over the network, which this module does not make: it says what it needs, and is asked again
/// when that is there.
pub trait Versions {
    /// The merge rules of an `apiVersion`; `None` if there is no such version any more.
    fn typed(&self, api_version: &str) -> Option<&Typed>;

    /// The object in another `apiVersion`.
    ///
    /// # Errors
    /// The conversion that is not there yet.
    fn convert(&self, object: Value, to: &str) -> Result<Value, Unconverted>;
}

/// A conversion that is needed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the object is needed as {to}")]
pub struct Unconverted {
    /// The object.
    pub object: Box<Value>,
    /// The `apiVersion` that it is needed in.
    pub to: String,
}

/// An object that looks the same in all versions.
pub(super) struct Same<'a>(pub(super) &'a Typed);

impl Versions for Same<'_> {
    fn typed(&self, _: &str) -> Option<&Typed> {
        Some(self.0)
    }

    fn convert(&self, object: Value, _: &str) -> Result<Value, Unconverted> {
        Ok(object)
    }
}

/// The object in an `apiVersion`, which may be its own.
pub(super) fn converted(versions: &dyn Versions, object: &Value, to: &str) -> Result<Value, Unconverted> {
    let object = object.clone();
    if object["apiVersion"].as_str() == Some(to) { Ok(object) } else { versions.convert(object, to) }
}

/// What a write changes, in every version that somebody owns fields in.
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

    /// The changes as `api_version` shows them; `None` if there is no such version any more.
    pub(super) fn at(&mut self, api_version: &str) -> Result<Option<&Comparison>, Unconverted> {
        if !self.made.contains_key(api_version) {
            let Some(typed) = self.versions.typed(api_version) else { return Ok(None) };
            let old = converted(self.versions, self.old, api_version)?;
            let new = converted(self.versions, self.new, api_version)?;
            let compared = Comparison::between(Ty::of(typed), &old, &new).within(&self.scope);
            self.made.insert(api_version.to_owned(), compared);
        }
        Ok(self.made.get(api_version))
    }
}
