//! The state of the store: collections of objects, each with its history, under one counter of versions.

use std::collections::{BTreeMap, VecDeque};
use std::ops::Bound;
use std::sync::Arc;

use bytes::Bytes;
use tokio::sync::watch as signal;

use super::WriteError;
use super::journal::{Entry, Queue};
use super::object::{Object, Unpacked};
use super::objects::{IndexedObjects, Objects};
use super::packing::Packing;

/// The change of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Change {
    Added,
    Modified,
    Deleted,
}

/// One entry of a collection's history.
#[derive(Debug)]
pub(crate) struct Event {
    pub(crate) rv: u64,
    pub(crate) key: Arc<str>,
    pub(crate) change: Change,
    /// The state after the change; for a deletion, the last state with the version of the deletion.
    pub(crate) object: Arc<Object>,
    pub(crate) previous: Option<Arc<Object>>,
}

impl Event {
    /// Returns the event with packed objects.
    pub(super) fn packed(&self, unpacked: &Unpacked) -> Self {
        Self {
            rv: self.rv,
            key: self.key.clone(),
            change: self.change,
            object: self.object.packed(unpacked),
            previous: self.previous.as_ref().map(|previous| previous.packed(unpacked)),
        }
    }
}

/// Objects of one resource.
#[derive(Debug)]
pub(super) struct Collection {
    pub(super) name: Arc<str>,
    pub(super) objects: IndexedObjects,
    pub(super) history: VecDeque<Arc<Event>>,
    /// The history up to this version is dropped.
    pub(super) floor: u64,
    /// Watches cannot start before this version; not durable.
    pub(super) since: u64,
    /// Whether writes are refused; watches end when they have read the rest.
    pub(super) closed: bool,
    pub(super) changed: signal::Sender<u64>,
}

impl Collection {
    pub(super) fn new(name: Arc<str>, rv: u64) -> Self {
        Self {
            name,
            objects: IndexedObjects::default(),
            history: VecDeque::new(),
            floor: 0,
            since: 0,
            closed: false,
            changed: signal::Sender::new(rv),
        }
    }

    /// The same without watches.
    fn copy(&self) -> Self {
        Self {
            name: self.name.clone(),
            objects: self.objects.clone(),
            history: self.history.clone(),
            floor: self.floor,
            since: self.since,
            closed: self.closed,
            changed: signal::Sender::new(*self.changed.borrow()),
        }
    }

    /// Returns the index of the first event after `rv`.
    pub(super) fn after(&self, rv: u64) -> usize {
        self.history.partition_point(|event| event.rv <= rv)
    }

    /// Returns the key of an object that is at the expected version and may be written.
    pub(super) fn expect(&self, key: &str, expected: u64) -> Result<Arc<str>, WriteError> {
        if self.closed {
            return Err(WriteError::NotFound);
        }
        let (key, old) = self.objects.get_key_value(key).ok_or(WriteError::NotFound)?;
        if old.rv == expected { Ok(key.clone()) } else { Err(WriteError::Conflict) }
    }

    /// Applies a change and adds it to the history, of which at most `limit` events stay.
    pub(super) fn apply(
        &mut self,
        key: Arc<str>,
        change: Change,
        object: Arc<Object>,
        limit: usize,
    ) -> Arc<Event> {
        let previous = match change {
            Change::Added | Change::Modified => self.objects.insert(key.clone(), object.clone()),
            Change::Deleted => self.objects.remove(&key),
        };
        let event = Arc::new(Event { rv: object.rv, key, change, object, previous });
        self.history.push_back(event.clone());
        while self.history.len() > limit {
            if let Some(old) = self.history.pop_front() {
                self.floor = old.rv;
            }
        }
        event
    }
}

/// Reverts `events`, the newest first.
pub(super) fn undo<'a>(objects: &mut Objects, events: impl DoubleEndedIterator<Item = &'a Arc<Event>>) {
    for event in events.rev() {
        match &event.previous {
            Some(previous) => objects.insert(event.key.clone(), previous.clone()),
            None => objects.remove(&event.key),
        };
    }
}

pub(super) fn with_prefix(objects: &Objects, prefix: &str) -> Vec<(Arc<str>, Arc<Object>)> {
    objects
        .range::<str, _>((Bound::Included(prefix), Bound::Unbounded))
        .take_while(|(key, _)| key.starts_with(prefix))
        .map(|(key, object)| (key.clone(), object.clone()))
        .collect()
}

/// The data that the store's mutex guards.
#[derive(Debug)]
pub(super) struct State {
    pub(super) rv: u64,
    pub(super) collections: BTreeMap<Arc<str>, Collection>,
    /// Values that are no objects and have no versions.
    pub(super) settings: BTreeMap<Arc<str>, Bytes>,
    /// The changes that are not durable yet; `None` in memory.
    pub(super) queue: Option<Queue>,
    pub(super) packing: Packing,
}

impl State {
    /// The version of a state that was never written.
    pub(super) const FIRST: u64 = 1;

    pub(super) fn new() -> Self {
        Self {
            rv: Self::FIRST,
            collections: BTreeMap::new(),
            settings: BTreeMap::new(),
            queue: None,
            packing: Packing::default(),
        }
    }

    /// The same in memory, which shares all objects.
    pub(super) fn copy(&self) -> Self {
        let collections = self.collections.iter().map(|(name, collection)| (name.clone(), collection.copy()));
        Self {
            rv: self.rv,
            collections: collections.collect(),
            settings: self.settings.clone(),
            queue: None,
            packing: Packing::default(),
        }
    }

    /// Returns the last version whose events are visible.
    pub(super) fn visible(&self) -> u64 {
        self.queue.as_ref().map_or(self.rv, |queue| queue.durable_rv)
    }

    /// Returns the collection of this name; creates it if it is missing.
    pub(super) fn collection(&mut self, name: &str) -> &mut Collection {
        let name = self.collections.get_key_value(name).map_or_else(|| name.into(), |(name, _)| name.clone());
        let rv = self.rv;
        self.collections.entry(name.clone()).or_insert_with(|| Collection::new(name, rv))
    }

    /// Applies a change with the next version and wakes the collection's watches, or the journal, which wakes them when
    /// the change is durable.
    pub(super) fn commit(
        &mut self,
        collection: &str,
        key: Arc<str>,
        change: Change,
        object: Arc<Object>,
        limit: usize,
    ) {
        self.rv = object.rv;
        let place = self.collection(collection);
        let (name, event) = (place.name.clone(), place.apply(key, change, object, limit));
        self.pack_after(&name, &event);
        match &mut self.queue {
            Some(queue) => queue.push(Entry::Event { collection: name, event }),
            None => {
                self.collection(collection).changed.send_replace(event.rv);
            }
        }
    }

    /// Drops the history up to now.
    pub(super) fn compact(&mut self) {
        for collection in self.collections.values_mut() {
            collection.history.clear();
            collection.floor = self.rv;
        }
    }

    /// Stores a value that is no object.
    pub(super) fn set(&mut self, name: &str, value: Bytes) {
        let name: Arc<str> = name.into();
        self.settings.insert(name.clone(), value.clone());
        self.note(Entry::Setting { name, value });
    }

    /// Queues a change that concerns no object.
    pub(super) fn note(&mut self, entry: Entry) {
        if let Some(queue) = &mut self.queue {
            queue.push(entry);
        }
    }
}
