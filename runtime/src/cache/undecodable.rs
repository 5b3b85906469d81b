//! Objects that could not be decoded.

use std::collections::BTreeMap;

use super::ObjectKey;

/// The reason why the store lacks the current state of an object that exists on the server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Undecodable {
    /// The decoder's message.
    pub message: String,
    /// The resource version that could not be decoded, if it could be read.
    pub resource_version: Option<String>,
}

/// The keys whose present state could not be decoded.
#[derive(Default)]
pub(super) struct UndecodableKeys(BTreeMap<ObjectKey, Undecodable>);

impl UndecodableKeys {
    pub(super) fn insert(&mut self, key: ObjectKey, why: Undecodable) {
        self.0.insert(key, why);
    }

    pub(super) fn remove(&mut self, key: &ObjectKey) {
        self.0.remove(key);
    }

    /// Removes the keys for which `keep` is false.
    pub(super) fn retain(&mut self, keep: &dyn Fn(&ObjectKey) -> bool) {
        self.0.retain(|key, _| keep(key));
    }

    pub(super) fn to_vec(&self) -> Vec<(ObjectKey, Undecodable)> {
        self.0.iter().map(|(key, why)| (key.clone(), why.clone())).collect()
    }
}
