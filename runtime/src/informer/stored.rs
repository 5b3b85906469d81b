//! The boundary between the informer's untyped task and its typed cache and handlers.

use std::marker::PhantomData;
use std::sync::Arc;

use super::{Deleted, ResourceEventHandler};
use crate::cache::{Change, ObjectKey, StoreWriter, Undecodable};
use crate::object::Cached;
use crate::reflector::{Listed, Object, typed};

/// The writing side of a store, without the type of its objects.
pub(super) trait Stored: Send {
    /// As [`StoreWriter::insert`].
    fn insert(&mut self, key: &ObjectKey, object: Arc<dyn Object>) -> Option<Arc<dyn Object>>;

    /// As [`StoreWriter::remove`].
    fn remove(&mut self, key: &ObjectKey) -> Option<Arc<dyn Object>>;

    /// As [`StoreWriter::replace_within`].
    fn replace_within(
        &mut self,
        namespace: Option<&str>,
        objects: Listed,
        undecodable: &[ObjectKey],
    ) -> Vec<Change<dyn Object>>;

    /// Returns the store's content.
    fn entries(&self) -> Listed;

    /// As [`StoreWriter::set_resource_version`].
    fn set_resource_version(&mut self, version: &str);

    /// As [`StoreWriter::mark_undecodable`].
    fn mark_undecodable(&mut self, key: ObjectKey, why: Undecodable);
}

// Loops instead of iterators: this code is compiled for each kind, and iterator adapters compile to many more
// functions.
impl<K: Cached> Stored for StoreWriter<K> {
    fn insert(&mut self, key: &ObjectKey, object: Arc<dyn Object>) -> Option<Arc<dyn Object>> {
        Some(Self::insert(self, key, typed(object)?)?)
    }

    fn remove(&mut self, key: &ObjectKey) -> Option<Arc<dyn Object>> {
        Some(Self::remove(self, key)?)
    }

    fn replace_within(
        &mut self,
        namespace: Option<&str>,
        objects: Listed,
        undecodable: &[ObjectKey],
    ) -> Vec<Change<dyn Object>> {
        let mut own = Vec::with_capacity(objects.len());
        for (key, object) in objects {
            if let Some(object) = typed(object) {
                own.push((key, object));
            }
        }
        let mut changes = Vec::with_capacity(own.len());
        for change in Self::replace_within(self, namespace, own, undecodable).changes {
            changes.push(untyped(change));
        }
        changes
    }

    fn entries(&self) -> Listed {
        let mut entries: Listed = Vec::new();
        for (key, object) in self.reader().entries() {
            entries.push((key, object));
        }
        entries
    }

    fn set_resource_version(&mut self, version: &str) {
        Self::set_resource_version(self, version);
    }

    fn mark_undecodable(&mut self, key: ObjectKey, why: Undecodable) {
        Self::mark_undecodable(self, key, why);
    }
}

fn untyped<K: Cached>(change: Change<K>) -> Change<dyn Object> {
    match change {
        Change::Added { key, new } => Change::Added { key, new },
        Change::Updated { key, old, new } => Change::Updated { key, old, new },
        Change::Deleted { key, last } => Change::Deleted { key, last },
    }
}

/// Calls a handler with objects of its type.
pub(super) struct TypedHandler<K, H> {
    handler: H,
    kind: PhantomData<fn(K)>,
}

impl<K: Cached, H: ResourceEventHandler<K>> TypedHandler<K, H> {
    pub(super) fn of(handler: H) -> Arc<dyn ResourceEventHandler<dyn Object>> {
        Arc::new(Self { handler, kind: PhantomData })
    }
}

impl<K: Cached, H: ResourceEventHandler<K>> ResourceEventHandler<dyn Object> for TypedHandler<K, H> {
    fn on_add(&self, object: Arc<dyn Object>, is_in_initial_list: bool) {
        if let Some(object) = typed(object) {
            self.handler.on_add(object, is_in_initial_list);
        }
    }

    fn on_update(&self, old: Arc<dyn Object>, new: Arc<dyn Object>) {
        if let (Some(old), Some(new)) = (typed(old), typed(new)) {
            self.handler.on_update(old, new);
        }
    }

    fn on_delete(&self, deleted: Deleted<dyn Object>) {
        let deleted = match deleted {
            Deleted::Final { key, object } => typed(object).map(|object| Deleted::Final { key, object }),
            Deleted::FinalStateUnknown { key, last } => {
                typed(last).map(|last| Deleted::FinalStateUnknown { key, last })
            }
        };
        if let Some(deleted) = deleted {
            self.handler.on_delete(deleted);
        }
    }
}
