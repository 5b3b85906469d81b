//! Packs objects: those that were written or read last keep their values, the others only their JSON.
//!
//! A value takes about six times the memory of its JSON, and most objects of a large store are only sent: to lists, to
//! watches and to the disk.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::object::Unpacked;
use super::state::{Event, State};

/// The number of last writes whose objects keep their values. Tests pack early.
const RECENT: usize = if cfg!(test) { 2 } else { 1_024 };
/// The number of packed objects that keep their values after they were read; more are packed again. Lists with selectors
/// read all objects of a kind, so it is above the usual number of these.
const MOST_UNPACKED: usize = if cfg!(test) { 4 } else { 50_000 };

/// The objects with values.
#[derive(Debug, Default)]
pub(super) struct Packing {
    /// The last writes, the oldest first.
    recent: VecDeque<Write>,
    pub(super) unpacked: Unpacked,
}

#[derive(Debug)]
struct Write {
    collection: Arc<str>,
    key: Arc<str>,
    rv: u64,
}

impl State {
    /// Packs the objects of an earlier write after a new one.
    pub(super) fn pack_after(&mut self, collection: &Arc<str>, event: &Event) {
        let (collection, key) = (collection.clone(), event.key.clone());
        self.packing.recent.push_back(Write { collection, key, rv: event.rv });
        if self.packing.recent.len() > RECENT
            && let Some(write) = self.packing.recent.pop_front()
        {
            self.pack(&write);
        }
        self.pack_read();
    }

    fn pack(&mut self, write: &Write) {
        let Some(place) = self.collections.get_mut(&write.collection) else { return };
        let unpacked = &self.packing.unpacked;
        place.objects.pack(&write.key, write.rv, unpacked);
        let at = place.after(write.rv.saturating_sub(1));
        if let Some(event) = place.history.get_mut(at).filter(|event| event.rv == write.rv) {
            *event = Arc::new(event.packed(unpacked));
        }
    }

    /// Packs all objects if the values of many were read.
    pub(super) fn pack_read(&mut self) {
        let unpacked = &self.packing.unpacked;
        if unpacked.load(Ordering::Relaxed) <= MOST_UNPACKED {
            return;
        }
        unpacked.store(0, Ordering::Relaxed);
        self.packing.recent.clear();
        for place in self.collections.values_mut() {
            place.objects.pack_all(unpacked);
            for event in &mut place.history {
                *event = Arc::new(event.packed(unpacked));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::Store;
    use super::super::object::Object;

    /// A store with the objects `0` to `9`, each created and changed once.
    fn store() -> Store {
        let store = Store::new(100);
        for i in 0..10 {
            let value = json!({"metadata": {"ownerReferences": [{"uid": i.to_string()}]}, "spec": i});
            let made = store.create("a", &i.to_string(), value).expect("the key is free");
            let mut changed = made.value.clone();
            changed["changed"] = json!(true);
            store.update("a", &i.to_string(), made.rv, changed).expect("the version is current");
        }
        store
    }

    fn with_values(store: &Store) -> usize {
        let state = store.lock();
        state.collections["a"].objects.values().filter(|object| object.has_value()).count()
    }

    #[test]
    fn only_the_last_written_objects_have_values() {
        let store = store();
        assert_eq!(with_values(&store), 1);
        let state = store.lock();
        let events = state.collections["a"].history.iter();
        let objects = events.flat_map(|event| event.previous.iter().chain([&event.object]));
        assert_eq!(objects.filter(|object| object.has_value()).count(), 3);
    }

    #[test]
    fn packed_object_is_read_as_it_was_written() {
        let store = store();
        let object = store.get("a", "3").expect("the object exists");
        assert!(!object.has_value());
        assert_eq!((object.owners(), object.is_terminating()), (&json!([{"uid": "3"}]), false));
        assert!(!object.has_value());
        assert_eq!((&object.value["spec"], &object.value["changed"]), (&json!(3), &json!(true)));
        assert_eq!(*object.value, *Object::new(object.value.clone(), object.rv).value);
        assert_eq!(store.dependents("a", "3").len(), 1);
    }

    #[test]
    fn objects_are_packed_again_when_many_were_read() {
        let store = store();
        let read = |count: usize| {
            let objects = store.list("a", "", None).expect("now is no past version").objects;
            objects.iter().take(count).for_each(|(_, object)| assert!(object.value["spec"].is_number()));
        };
        read(4);
        assert_eq!(with_values(&store), 5);
        read(5);
        assert_eq!(with_values(&store), 6);
        read(0);
        assert_eq!(with_values(&store), 0);
    }
}
