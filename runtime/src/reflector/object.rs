//! Objects of any kind.
//!
//! What carries objects from the server to the cache and to handlers is compiled once, for [`dyn Object`](Object), and not for
//! every kind; caches and handlers have the types again.

use std::any::Any;
use std::sync::Arc;

use super::Cached;
use crate::cache::ObjectKey;

/// An object in the form in which it is cached.
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

/// Whether both are one state of one object. A server that has begun anew may give a version twice, but no uid.
pub(crate) fn is_same_state(old: &dyn Object, new: &dyn Object) -> bool {
    old.version().is_some() && old.version() == new.version() && old.uid() == new.uid()
}

/// The object with its type; `None` if it is of another, which what one informer has decoded never is.
pub(crate) fn typed<K: Cached>(object: Arc<dyn Object>) -> Option<Arc<K>> {
    let object: Arc<dyn Any + Send + Sync> = object;
    object.downcast().ok()
}

/// An object that has arrived, and its key.
#[derive(Clone, Debug)]
pub(crate) struct Decoded {
    pub(crate) key: ObjectKey,
    pub(crate) object: Arc<dyn Object>,
    /// The version that has arrived, where a transform may have changed it.
    pub(crate) arrived: Option<String>,
}

impl Decoded {
    /// The version that has arrived.
    pub(crate) fn version(&self) -> Option<&str> {
        self.arrived.as_deref().or_else(|| self.object.version())
    }
}
