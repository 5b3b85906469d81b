//! The members of a namespace or of one value of an index.

use std::sync::{Arc, OnceLock};

use super::{Listing, ObjectKey};

/// Objects in no particular order, whose places their owners remember, and a sorted listing that is made when
/// somebody asks and dropped at the next change.
pub(super) struct Bucket<K> {
    members: Vec<Member<K>>,
    sorted: OnceLock<Listing<K>>,
}

struct Member<K> {
    key: ObjectKey,
    object: Arc<K>,
}

impl<K> Bucket<K> {
    pub(super) fn new() -> Self {
        Self { members: Vec::new(), sorted: OnceLock::new() }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.members.is_empty()
    }

    /// Adds a member and answers its place.
    pub(super) fn push(&mut self, key: ObjectKey, object: Arc<K>) -> u32 {
        self.sorted.take();
        self.members.push(Member { key, object });
        place(self.members.len() - 1)
    }

    /// Exchanges the object at `place`.
    pub(super) fn set(&mut self, place: u32, object: Arc<K>) {
        self.sorted.take();
        if let Some(member) = self.members.get_mut(place as usize) {
            member.object = object;
        }
    }

    /// Removes the member at `place`; if another member moves there, answers its key.
    pub(super) fn remove(&mut self, place: u32) -> Option<ObjectKey> {
        self.sorted.take();
        if (place as usize) < self.members.len() {
            self.members.swap_remove(place as usize);
        }
        self.members.get(place as usize).map(|moved| moved.key.clone())
    }

    pub(super) fn list(&self) -> Listing<K> {
        let sorted = || self.in_order().map(|member| Arc::clone(&member.object)).collect();
        self.sorted.get_or_init(sorted).clone()
    }

    pub(super) fn keys(&self) -> Vec<ObjectKey> {
        self.in_order().map(|member| member.key.clone()).collect()
    }

    fn in_order(&self) -> impl Iterator<Item = &Member<K>> {
        let keys = self.members.iter().map(|member| &member.key).collect();
        order(keys).into_iter().filter_map(|place| self.members.get(place as usize))
    }
}

/// The places of the keys in their order. It knows nothing of objects, so that it is compiled once for all kinds.
fn order(keys: Vec<&ObjectKey>) -> Vec<u32> {
    let mut places: Vec<(&ObjectKey, u32)> = keys.into_iter().zip(0..).collect();
    // The server lists in order, so what is left to sort are the later arrivals.
    places.sort();
    places.into_iter().map(|(_, place)| place).collect()
}

/// More than 2^32 members do not fit in memory: each takes at least 32 bytes here alone and far more as an
/// object.
fn place(index: usize) -> u32 {
    u32::try_from(index).unwrap_or(u32::MAX)
}
