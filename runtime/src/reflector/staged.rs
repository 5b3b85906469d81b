//! The objects of a list until it is complete.

use std::sync::Arc;

use hashbrown::HashMap;

use super::object::{Decoded, Object, is_same_state};
use crate::object::ObjectKey;

/// The objects of a list, with their keys.
pub(crate) type Listed = Vec<(ObjectKey, Arc<dyn Object>)>;

/// The objects of an incomplete list.
pub(super) struct Staged {
    objects: Listed,
    /// Each with the number of objects that arrived before it.
    undecodable: Vec<(ObjectKey, usize)>,
    /// The start of the current page.
    page: (usize, usize),
}

impl Staged {
    pub(super) fn new() -> Self {
        Self { objects: Vec::new(), undecodable: Vec::new(), page: (0, 0) }
    }

    pub(super) fn clear(&mut self) {
        self.objects.clear();
        self.undecodable.clear();
        self.page = (0, 0);
    }

    /// Begins the next page, or the same page again.
    pub(super) fn begin_page(&mut self, again: bool) {
        if again {
            self.objects.truncate(self.page.0);
            self.undecodable.truncate(self.page.1);
        }
        self.page = (self.objects.len(), self.undecodable.len());
    }

    /// Records an object that does not decode. The last decoded state of the key remains staged.
    pub(super) fn add_undecodable(&mut self, key: ObjectKey) {
        self.undecodable.push((key, self.objects.len()));
    }

    /// Removes an object that was deleted while the list arrived.
    pub(super) fn remove(&mut self, deleted: &ObjectKey) {
        let mut places = Vec::new();
        let mut place = 0;
        self.objects.retain(|(key, _)| {
            let is_deleted = key == deleted;
            if is_deleted {
                places.push(place);
            }
            place += 1;
            !is_deleted
        });
        self.undecodable.retain(|(key, _)| key != deleted);
        for (_, before) in &mut self.undecodable {
            *before -= places.iter().filter(|place| *place < before).count();
        }
    }

    /// Returns the objects, and the keys whose last state does not decode.
    pub(super) fn take(&mut self) -> (Listed, Vec<ObjectKey>) {
        let Self { objects, undecodable, .. } = std::mem::replace(self, Self::new());
        if undecodable.is_empty() {
            return (objects, Vec::new());
        }
        let mut last: HashMap<ObjectKey, usize> = undecodable.into_iter().collect();
        for (place, (key, _)) in objects.iter().enumerate() {
            if last.get(key).is_some_and(|before| place >= *before) {
                last.remove(key);
            }
        }
        let mut keys: Vec<ObjectKey> = last.into_keys().collect();
        keys.sort();
        (objects, keys)
    }

    /// Adds an object. If the cache has the same state of it, the cached object is used instead.
    pub(super) fn add(&mut self, decoded: Decoded, known: Option<Arc<dyn Object>>) {
        let Decoded { key, object, .. } = decoded;
        let known = known.filter(|known| is_same_state(&**known, &*object));
        self.objects.push((key, known.unwrap_or(object)));
    }
}
