//! Objects in memory: one counter of versions, ordered collections, and a history that watches replay.
//!
//! The store knows nothing of HTTP or of kinds; it stamps `metadata.resourceVersion` and keeps order. One mutex guards
//! everything and is held for map operations only. Watchers pull from the history at their own pace: a writer never
//! waits for a reader, and a reader that falls behind the kept history is told so.

mod watch;

use std::collections::{BTreeMap, VecDeque};
use std::ops::Bound;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use bytes::Bytes;
use serde_json::Value;
use tokio::sync::watch as signal;

use watch::Batch;
pub(crate) use watch::Cursor;

/// A stored object: its value and, once somebody asked, its JSON.
#[derive(Debug)]
pub(crate) struct Object {
    pub(crate) value: Value,
    pub(crate) rv: u64,
    bytes: OnceLock<Bytes>,
}

impl Object {
    pub(crate) fn new(mut value: Value, rv: u64) -> Self {
        value["metadata"]["resourceVersion"] = Value::String(rv.to_string());
        Self { value, rv, bytes: OnceLock::new() }
    }

    /// An object that only looks as if it had been stored: it has no version.
    pub(crate) fn unstored(mut value: Value) -> Self {
        crate::meta::remove(&mut value, "resourceVersion");
        Self { value, rv: 0, bytes: OnceLock::new() }
    }

    /// The object as JSON, rendered once.
    pub(crate) fn json(&self) -> Bytes {
        self.bytes.get_or_init(|| serde_json::to_vec(&self.value).unwrap_or_default().into()).clone()
    }
}

/// What happened to an object.
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
    /// The state after the change; of a delete, the last state stamped with the version of the delete.
    pub(crate) object: Arc<Object>,
    pub(crate) previous: Option<Arc<Object>>,
}

/// Objects of one resource.
#[derive(Debug)]
struct Collection {
    objects: BTreeMap<Arc<str>, Arc<Object>>,
    history: VecDeque<Arc<Event>>,
    /// History at or below this version is gone.
    floor: u64,
    /// No more is written here; watches end when they have read the rest.
    closed: bool,
    changed: signal::Sender<u64>,
}

#[derive(Debug)]
struct State {
    rv: u64,
    collections: BTreeMap<String, Collection>,
}

/// Why a write was not done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WriteError {
    Exists,
    NotFound,
    /// The object is no longer at the version the writer saw.
    Conflict,
}

/// A version older than the kept history.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Compacted;

/// Why a past or future state cannot be listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SnapshotError {
    Compacted,
    /// The version has not been given out.
    Future {
        current: u64,
    },
}

/// A collection at one version.
#[derive(Debug)]
pub(crate) struct Snapshot {
    pub(crate) rv: u64,
    pub(crate) objects: Vec<(Arc<str>, Arc<Object>)>,
}

/// The store.
#[derive(Debug)]
pub(crate) struct Store {
    state: Mutex<State>,
    history_limit: usize,
}

impl Store {
    /// Keeps at most `history_limit` events for each collection.
    pub(crate) fn new(history_limit: usize) -> Self {
        Self {
            state: Mutex::new(State { rv: 1, collections: BTreeMap::new() }),
            history_limit: history_limit.max(1),
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The version of the last write.
    pub(crate) fn current(&self) -> u64 {
        self.lock().rv
    }

    pub(crate) fn get(&self, collection: &str, key: &str) -> Option<Arc<Object>> {
        self.lock().collections.get(collection)?.objects.get(key).cloned()
    }

    /// Adds an object under a free key.
    pub(crate) fn create(
        &self,
        collection: &str,
        key: &str,
        value: Value,
    ) -> Result<Arc<Object>, WriteError> {
        let mut state = self.lock();
        let state = &mut *state;
        let place = collection_of(&mut state.collections, collection, state.rv);
        if place.objects.contains_key(key) {
            return Err(WriteError::Exists);
        }
        state.rv += 1;
        let object = Arc::new(Object::new(value, state.rv));
        let key: Arc<str> = key.into();
        place.objects.insert(key.clone(), object.clone());
        let event =
            Event { rv: state.rv, key, change: Change::Added, object: object.clone(), previous: None };
        place.record(event, self.history_limit);
        Ok(object)
    }

    /// Replaces an object that is still at version `expected`.
    pub(crate) fn update(
        &self,
        collection: &str,
        key: &str,
        expected: u64,
        value: Value,
    ) -> Result<Arc<Object>, WriteError> {
        let mut state = self.lock();
        let state = &mut *state;
        let place = state.collections.get_mut(collection).ok_or(WriteError::NotFound)?;
        let (key, old) = place.expect(key, expected)?;
        state.rv += 1;
        let rv = state.rv;
        let object = Arc::new(Object::new(value, rv));
        place.objects.insert(key.clone(), object.clone());
        let event = Event { rv, key, change: Change::Modified, object: object.clone(), previous: Some(old) };
        place.record(event, self.history_limit);
        Ok(object)
    }

    /// Removes an object that is still at version `expected`; answers its last state at the version of the delete.
    pub(crate) fn delete(
        &self,
        collection: &str,
        key: &str,
        expected: u64,
    ) -> Result<Arc<Object>, WriteError> {
        let mut state = self.lock();
        let state = &mut *state;
        let place = state.collections.get_mut(collection).ok_or(WriteError::NotFound)?;
        let (key, old) = place.expect(key, expected)?;
        state.rv += 1;
        let rv = state.rv;
        let object = Arc::new(Object::new(old.value.clone(), rv));
        place.objects.remove(&key);
        let event = Event { rv, key, change: Change::Deleted, object: object.clone(), previous: Some(old) };
        place.record(event, self.history_limit);
        Ok(object)
    }

    /// The objects whose key starts with `prefix`, now or at the version `at`.
    pub(crate) fn list(
        &self,
        collection: &str,
        prefix: &str,
        at: Option<u64>,
    ) -> Result<Snapshot, SnapshotError> {
        let state = self.lock();
        let rv = at.unwrap_or(state.rv);
        if rv > state.rv {
            return Err(SnapshotError::Future { current: state.rv });
        }
        let Some(place) = state.collections.get(collection) else {
            return Ok(Snapshot { rv, objects: Vec::new() });
        };
        if rv < place.floor {
            return Err(SnapshotError::Compacted);
        }
        let newer = place.history.range(place.after(rv)..);
        if newer.len() == 0 {
            return Ok(Snapshot { rv, objects: with_prefix(&place.objects, prefix) });
        }
        let mut past = place.objects.clone();
        for event in newer.rev() {
            match &event.previous {
                Some(previous) => past.insert(event.key.clone(), previous.clone()),
                None => past.remove(&event.key),
            };
        }
        Ok(Snapshot { rv, objects: with_prefix(&past, prefix) })
    }

    /// Ends a collection: its watches read the rest of the history and end, then it is forgotten.
    pub(crate) fn close(&self, collection: &str) {
        let mut state = self.lock();
        let rv = state.rv;
        if let Some(place) = state.collections.get_mut(collection) {
            place.closed = true;
            place.changed.send_replace(rv);
        }
        state.collections.retain(|_, place| !place.closed || place.changed.receiver_count() > 0);
    }

    /// Forgets the history up to the present, as etcd's compaction does.
    pub(crate) fn compact(&self) {
        let mut state = self.lock();
        let rv = state.rv;
        for place in state.collections.values_mut() {
            place.history.clear();
            place.floor = rv;
        }
    }

    /// A watch of `collection` that starts after version `from`.
    pub(crate) fn watch(self: &Arc<Self>, collection: &str, from: u64) -> Cursor {
        let mut state = self.lock();
        let rv = state.rv;
        let place = collection_of(&mut state.collections, collection, rv);
        Cursor::new(self.clone(), collection.to_owned(), from, place.changed.subscribe())
    }

    /// A consistent snapshot together with the watch that continues from it.
    pub(crate) fn list_and_watch(self: &Arc<Self>, collection: &str, prefix: &str) -> (Snapshot, Cursor) {
        let mut state = self.lock();
        let rv = state.rv;
        let place = collection_of(&mut state.collections, collection, rv);
        let snapshot = Snapshot { rv, objects: with_prefix(&place.objects, prefix) };
        let cursor = Cursor::new(self.clone(), collection.to_owned(), rv, place.changed.subscribe());
        (snapshot, cursor)
    }

    /// Events after `rv`, at most `max`.
    fn events_after(&self, collection: &str, rv: u64, max: usize) -> Result<Batch, Compacted> {
        let state = self.lock();
        let Some(place) = state.collections.get(collection) else {
            return Ok(Batch { events: Vec::new(), upto: state.rv, complete: true, closed: true });
        };
        if rv < place.floor {
            return Err(Compacted);
        }
        let newer = place.history.range(place.after(rv)..);
        let complete = newer.len() <= max;
        let events: Vec<Arc<Event>> = newer.take(max).cloned().collect();
        let upto = if complete { state.rv } else { events.last().map_or(rv, |e| e.rv) };
        Ok(Batch { events, upto, complete, closed: place.closed && complete })
    }
}

impl Collection {
    /// Index of the first event after `rv`.
    fn after(&self, rv: u64) -> usize {
        self.history.partition_point(|event| event.rv <= rv)
    }

    /// Finds an object that is at an expected version.
    fn expect(&self, key: &str, expected: u64) -> Result<(Arc<str>, Arc<Object>), WriteError> {
        let (key, old) = self.objects.get_key_value(key).ok_or(WriteError::NotFound)?;
        if old.rv != expected {
            return Err(WriteError::Conflict);
        }
        Ok((key.clone(), old.clone()))
    }

    fn record(&mut self, event: Event, limit: usize) {
        let rv = event.rv;
        self.history.push_back(Arc::new(event));
        while self.history.len() > limit {
            if let Some(old) = self.history.pop_front() {
                self.floor = old.rv;
            }
        }
        self.changed.send_replace(rv);
    }
}

fn collection_of<'a>(
    collections: &'a mut BTreeMap<String, Collection>,
    name: &str,
    rv: u64,
) -> &'a mut Collection {
    collections.entry(name.to_owned()).or_insert_with(|| Collection {
        objects: BTreeMap::new(),
        history: VecDeque::new(),
        floor: 0,
        closed: false,
        changed: signal::Sender::new(rv),
    })
}

fn with_prefix(objects: &BTreeMap<Arc<str>, Arc<Object>>, prefix: &str) -> Vec<(Arc<str>, Arc<Object>)> {
    objects
        .range::<str, _>((Bound::Included(prefix), Bound::Unbounded))
        .take_while(|(key, _)| key.starts_with(prefix))
        .map(|(key, object)| (key.clone(), object.clone()))
        .collect()
}
