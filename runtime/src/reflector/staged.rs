//! A list that is arriving.

use std::sync::Arc;

use super::Cached;
use crate::cache::{ObjectKey, Store};

/// Objects of a list that is not complete.
pub(super) struct Staged<K> {
    pub(super) objects: Vec<(ObjectKey, Arc<K>)>,
    pub(super) undecodable: Vec<ObjectKey>,
    /// Where the present page began.
    page: (usize, usize),
}

impl<K> Staged<K> {
    pub(super) fn new() -> Self {
        Self { objects: Vec::new(), undecodable: Vec::new(), page: (0, 0) }
    }

    pub(super) fn clear(&mut self) {
        self.objects.clear();
        self.undecodable.clear();
        self.page = (0, 0);
    }

    /// A page follows, or the same page again.
    pub(super) fn begin_page(&mut self, again: bool) {
        if again {
            self.objects.truncate(self.page.0);
            self.undecodable.truncate(self.page.1);
        }
        self.page = (self.objects.len(), self.undecodable.len());
    }
}

impl<K: Cached> Staged<K> {
    /// Adds an object; in the place of one that `known` has in the same state, that one.
    pub(super) fn add(&mut self, key: ObjectKey, object: K, known: Option<&Store<K>>) {
        let known = known.and_then(|store| store.get_by_key(&key));
        let object = match known {
            Some(known) if same(&*known, &object) => known,
            _ => Arc::new(object),
        };
        self.objects.push((key, object));
    }

    /// Removes an object that was deleted while the list was arriving.
    pub(super) fn remove(&mut self, deleted: &ObjectKey) {
        self.objects.retain(|(key, _)| key != deleted);
    }
}

/// Whether a list brought a state that is known.
fn same<K: Cached>(known: &K, listed: &K) -> bool {
    known.object_version().is_some()
        && known.object_version() == listed.object_version()
        && known.object_uid() == listed.object_uid()
}
