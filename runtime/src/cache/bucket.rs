//! The members of a namespace or of one value of an index.

use std::sync::{Arc, OnceLock};

use super::{Listing, ObjectKey};

/// Objects in no particular order, whose positions the owner remembers. The sorted listing is made on demand and
/// dropped at the next change.
pub(super) struct Bucket<K> {
    members: Vec<Member<K>>,
    sorted: OnceLock<Listing<K>>,
}

struct Member<K> {
    key: ObjectKey,
    object: Arc<K>,
}

/// A removed object, and the key of the member that moved to its position, if one did.
pub(super) struct Removed<K> {
    pub(super) object: Arc<K>,
    pub(super) moved: Option<ObjectKey>,
}

// Loops instead of iterators: this code is compiled for each kind, and iterator adapters compile to many more
// functions.
impl<K> Bucket<K> {
    pub(super) fn new() -> Self {
        Self { members: Vec::new(), sorted: OnceLock::new() }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.members.is_empty()
    }

    /// Adds a member and returns its position.
    pub(super) fn push(&mut self, key: ObjectKey, object: Arc<K>) -> u32 {
        self.sorted.take();
        self.members.push(Member { key, object });
        place(self.members.len() - 1)
    }

    /// Replaces the object at `place` and returns the former one.
    pub(super) fn set(&mut self, place: u32, object: Arc<K>) -> Option<Arc<K>> {
        self.sorted.take();
        let member = self.members.get_mut(place as usize)?;
        Some(std::mem::replace(&mut member.object, object))
    }

    /// Removes the member at `place`.
    pub(super) fn remove(&mut self, place: u32) -> Option<Removed<K>> {
        self.sorted.take();
        let place = place as usize;
        if place >= self.members.len() {
            return None;
        }
        let Member { object, .. } = self.members.swap_remove(place);
        let moved = self.members.get(place).map(|moved| moved.key.clone());
        Some(Removed { object, moved })
    }

    pub(super) fn list(&self) -> Listing<K> {
        self.sorted.get_or_init(|| self.sorted()).clone()
    }

    fn sorted(&self) -> Listing<K> {
        let mut objects = Vec::with_capacity(self.members.len());
        for place in self.order() {
            objects.push(Arc::clone(&self.members[place as usize].object));
        }
        objects.into()
    }

    pub(super) fn keys(&self) -> Vec<ObjectKey> {
        let mut keys = Vec::with_capacity(self.members.len());
        for place in self.order() {
            keys.push(self.members[place as usize].key.clone());
        }
        keys
    }

    /// Appends the members, sorted by key.
    pub(super) fn entries(&self, entries: &mut Vec<(ObjectKey, Arc<K>)>) {
        for place in self.order() {
            let Member { key, object } = &self.members[place as usize];
            entries.push((key.clone(), Arc::clone(object)));
        }
    }

    /// Returns the positions of the members, sorted by key.
    fn order(&self) -> Vec<u32> {
        let mut keys = Vec::with_capacity(self.members.len());
        for member in &self.members {
            keys.push((&member.key, place(keys.len())));
        }
        in_order(keys)
    }
}

fn in_order(mut keys: Vec<(&ObjectKey, u32)>) -> Vec<u32> {
    // The server lists in order, so only later arrivals remain to be sorted.
    keys.sort();
    keys.into_iter().map(|(_, place)| place).collect()
}

/// More than 2^32 members do not fit in memory: each takes at least 32 bytes here and far more as an object.
fn place(index: usize) -> u32 {
    u32::try_from(index).unwrap_or(u32::MAX)
}
