//! The mark that a migration leaves on its definition.

use std::collections::BTreeSet;

use kube::api::Patch;
use serde_json::{Value, json};

use crate::cache::ObjectKey;

/// The annotation.
pub(super) const MARK: &str = "kubesmith.dev/migration";

/// The progress of an earlier migration. It is valid as long as the definition's `spec` is the same: objects up to it
/// are stored in the storage version, except those that failed.
///
/// The annotation has the fields separated by spaces, which no name contains.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Mark {
    /// The definition that it is about; a copy of the annotation on another one says nothing.
    pub(super) uid: String,
    pub(super) generation: i64,
    /// `namespace/name`, as lists are ordered by it.
    pub(super) after: String,
    /// The objects before it that could not be rewritten.
    pub(super) failed: BTreeSet<String>,
}

impl Mark {
    pub(super) fn of(definition: &Value) -> Option<Self> {
        let text = definition["metadata"]["annotations"].get(MARK)?.as_str()?;
        let mut parts = text.split(' ');
        let (uid, generation, after) = (parts.next()?, parts.next()?.parse().ok()?, parts.next()?);
        let metadata = &definition["metadata"];
        let is_current = metadata["uid"] == uid && metadata["generation"] == generation;
        let failed = parts.map(str::to_owned).collect();
        is_current.then(|| Self { uid: uid.to_owned(), generation, after: after.to_owned(), failed })
    }

    /// Returns the patch that leaves the mark.
    pub(super) fn patch(&self) -> Patch<Value> {
        let mut text = format!("{} {} {}", self.uid, self.generation, self.after);
        self.failed.iter().for_each(|object| text.extend([" ", object]));
        Patch::Merge(json!({"metadata": {"annotations": {MARK: text}}}))
    }

    /// Reports whether the object is rewritten.
    pub(super) fn covers(&self, object: &ObjectKey) -> bool {
        object.as_str() <= &*self.after && !self.failed.contains(object.as_str())
    }
}
