//! A list that is arriving.

use std::sync::Arc;

use hashbrown::HashMap;

use super::object::{Decoded, Object, is_same_state};
use crate::cache::ObjectKey;

/// After so many objects the heap is asked to grow.
const OBJECTS_PER_STEP: usize = 32;

/// By so much the heap grows, in bytes: below the 128 KiB from which glibc maps memory for itself, or gives it back.
const STEP: usize = 100 << 10;

/// The objects of a list, with their keys.
pub(crate) type Listed = Vec<(ObjectKey, Arc<dyn Object>)>;

/// Objects of a list that is not complete.
pub(super) struct Staged {
    objects: Listed,
    /// Each with the number of objects that had come before it.
    undecodable: Vec<(ObjectKey, usize)>,
    /// Where the present page began.
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

    /// A page follows, or the same page again.
    pub(super) fn begin_page(&mut self, again: bool) {
        if again {
            self.objects.truncate(self.page.0);
            self.undecodable.truncate(self.page.1);
        }
        self.page = (self.objects.len(), self.undecodable.len());
    }

    /// An object that does not decode; what was added of it stays its last known state.
    pub(super) fn add_undecodable(&mut self, key: ObjectKey) {
        self.undecodable.push((key, self.objects.len()));
    }

    /// Removes an object that was deleted while the list was arriving.
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

    /// What has come, and the keys whose last state does not decode.
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

    /// Adds an object; in the place of one that is known in the same state, that one.
    pub(super) fn add(&mut self, decoded: Decoded, known: Option<Arc<dyn Object>>) {
        let Decoded { key, object, .. } = decoded;
        let known = known.filter(|known| is_same_state(&**known, &*object));
        self.objects.push((key, known.unwrap_or(object)));
        if self.objects.len().is_multiple_of(OBJECTS_PER_STEP) {
            grow_heap();
        }
    }
}

/// Takes memory and gives it back. glibc grows the heap of a thread page by page, with a system call for each, a tenth of
/// the time that a list takes; of what it was asked for at once, it makes many small pieces without one.
fn grow_heap() {
    drop(std::hint::black_box(Vec::<u8>::with_capacity(STEP)));
}
