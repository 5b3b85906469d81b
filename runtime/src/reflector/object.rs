//! Objects of any kind.
//!
//! The path from the server to the caches and handlers is compiled once, for [`dyn Object`](Object), not for
//! every kind. Caches and handlers restore the types.

use std::any::Any;
use std::sync::Arc;

use crate::object::{Cached, ObjectKey};

/// An object in its cached form.
pub(crate) trait Object: Any + Send + Sync {
    /// `metadata.resourceVersion`.
    fn version(&self) -> Option<&str>;

    /// `metadata.uid`.
    fn uid(&self) -> Option<&str>;
}

impl<K: Cached> Object for K {
    fn version(&self) -> Option<&str> {
        self.object_version()
    }

    fn uid(&self) -> Option<&str> {
        self.object_uid()
    }
}

impl std::fmt::Debug for dyn Object {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Object").field("uid", &self.uid()).field("version", &self.version()).finish()
    }
}

/// Reports whether both are the same state of the same object. A server that restarted may reuse versions, but not
/// uids.
pub(crate) fn is_same_state(old: &dyn Object, new: &dyn Object) -> bool {
    old.version().is_some() && old.version() == new.version() && old.uid() == new.uid()
}

/// Restores the object's type; `None` if it has another one, which never happens within one informer.
pub(crate) fn typed<K: Cached>(object: Arc<dyn Object>) -> Option<Arc<K>> {
    let object: Arc<dyn Any + Send + Sync> = object;
    object.downcast().ok()
}

/// An object that arrived, with its key.
#[derive(Clone, Debug)]
pub(crate) struct Decoded {
    pub(crate) key: ObjectKey,
    pub(crate) object: Arc<dyn Object>,
    /// The version as sent, in case a transform changed it.
    pub(crate) arrived: Option<String>,
    /// Whether the object is of another shard: the server has ignored the shard selector.
    pub(crate) is_foreign: bool,
}

impl Decoded {
    /// Returns the version as sent.
    pub(crate) fn version(&self) -> Option<&str> {
        self.arrived.as_deref().or_else(|| self.object.version())
    }
}
