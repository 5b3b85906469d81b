//! Objects: one counter of versions, ordered collections, and a history that watches replay.
//!
//! The store does not depend on HTTP or kinds; it sets `metadata.resourceVersion` and keeps order. Everything is in
//! memory, guarded by one mutex, which is held for map operations, and to pack an object. Watchers pull from the history
//! at their own pace: a writer never waits for a reader, and a reader that falls behind the kept history gets an error.
//!
//! A store with a folder also writes everything to the disk. A write takes effect in memory at once, so that the next
//! one builds on it, and is durable a moment later; [`Store::settled`] waits for that before a response is sent.

mod disk;
mod journal;
mod log;
mod object;
mod objects;
mod packing;
mod record;
mod snapshot;
mod state;
#[cfg(test)]
mod tests;
mod watch;

use std::path::{Path, PathBuf};
use std::sync::{Arc, MutexGuard};

use bytes::Bytes;
use serde_json::Value;
use tokio::sync::watch as signal;

use crate::error::DataError;
use journal::{Entry, Journal, Queue, Shared, Sink};
pub(crate) use object::{Make, Object};
pub(crate) use state::{Change, Event};
use state::{State, undo, with_prefix};
use watch::Batch;
pub(crate) use watch::Cursor;

/// The reason why a write failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WriteError {
    Exists,
    /// The object does not exist, or the collection is closed.
    NotFound,
    /// The object is no longer at the expected version.
    Conflict,
}

/// A version older than the kept history.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Compacted {
    /// The oldest version that a watch can start after.
    pub(crate) floor: u64,
}

/// The reason why a past or future state cannot be listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SnapshotError {
    Compacted,
    /// The version does not exist yet.
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

/// Changes up to a version may be lost; all further requests fail.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct NotDurable(pub(crate) Arc<str>);

/// A write whose object is made when it is read.
pub(crate) struct Unread<'a> {
    pub(crate) collection: &'a str,
    pub(crate) key: &'a Arc<str>,
    pub(crate) change: Change,
    pub(crate) make: Make,
}

/// Everything that was written, in order, each event with its collection, and the settings.
pub(crate) type Contents = (Vec<(Arc<str>, Arc<Event>)>, Vec<(Arc<str>, Bytes)>);

/// The store.
#[derive(Debug)]
pub(crate) struct Store {
    shared: Arc<Shared>,
    /// Keeps the state on the disk; `None` in memory.
    journal: Option<Journal>,
    history_limit: usize,
}

impl Store {
    /// Creates a store in memory that keeps at most `history_limit` events for each collection.
    pub(crate) fn new(history_limit: usize) -> Self {
        let shared = Arc::new(Shared::new(State::new()));
        Self { shared, journal: None, history_limit: history_limit.max(1) }
    }

    /// Opens the store in a folder, which is created if it is missing. No other process may use it while this store
    /// lives.
    ///
    /// # Errors
    /// Returns the file or folder at fault, and the error.
    pub(crate) fn open(path: &Path, history_limit: usize) -> Result<Self, (PathBuf, DataError)> {
        let history_limit = history_limit.max(1);
        let (state, disk) = disk::open(path, history_limit)?;
        Self::with_sink(state, Box::new(disk), history_limit)
            .map_err(|error| (path.to_owned(), DataError::Io(error)))
    }

    /// Creates a store that continues from `state`, which `sink` has.
    fn with_sink(mut state: State, sink: Box<dyn Sink>, history_limit: usize) -> std::io::Result<Self> {
        state.queue = Some(Queue::new(state.rv));
        let shared = Arc::new(Shared::new(state));
        let journal = Some(Journal::start(shared.clone(), sink)?);
        Ok(Self { shared, journal, history_limit })
    }

    /// A store in memory that begins with everything that this one has, and shares the objects with it.
    pub(crate) fn copy(&self) -> Self {
        let shared = Arc::new(Shared::new(self.lock().copy()));
        Self { shared, journal: None, history_limit: self.history_limit }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.shared.lock()
    }

    /// Returns when all writes before the call are durable; at once in memory.
    ///
    /// # Errors
    /// Returns an error if they never will be.
    ///
    /// # Cancel safety
    /// Dropping the future changes nothing.
    pub(crate) async fn settled(&self) -> Result<(), NotDurable> {
        if self.journal.is_none() {
            return Ok(());
        }
        let Some(count) = self.lock().queue.as_ref().map(|queue| queue.count) else { return Ok(()) };
        let mut progress = self.shared.progress.subscribe();
        // The sender lives as long as the store, so there is a value.
        let seen = progress.wait_for(|progress| progress.count >= count || progress.end.is_some()).await;
        match seen {
            Ok(progress) if progress.count >= count => Ok(()),
            Ok(progress) => Err(NotDurable(progress.end.clone().unwrap_or_default())),
            Err(_) => Err(NotDurable("the store is gone".into())),
        }
    }

    /// Resolves to the reason when no write can become durable any more; never in memory.
    ///
    /// # Cancel safety
    /// Dropping the future changes nothing.
    pub(crate) async fn failed(&self) -> NotDurable {
        let mut progress = self.shared.progress.subscribe();
        match progress.wait_for(|progress| progress.end.is_some()).await {
            Ok(progress) => NotDurable(progress.end.clone().unwrap_or_default()),
            Err(_) => NotDurable("the store is gone".into()),
        }
    }

    /// Makes all writes durable and frees the folder; waits for both. Later writes are never durable.
    pub(crate) fn shut_down(&self) {
        if let Some(journal) = &self.journal {
            journal.close(&self.shared);
        }
    }

    /// Returns the version of the last write.
    pub(crate) fn current(&self) -> u64 {
        self.lock().rv
    }

    /// Whether nothing was ever written.
    pub(crate) fn is_new(&self) -> bool {
        self.current() == State::FIRST
    }

    /// The kept part of the writes.
    pub(crate) fn contents(&self) -> Contents {
        let state = self.lock();
        let events = state
            .collections
            .values()
            .flat_map(|place| place.history.iter().map(|event| (place.name.clone(), event.clone())));
        let mut events: Vec<_> = events.collect();
        events.sort_by_key(|(_, event)| event.rv);
        (events, state.settings.iter().map(|(name, value)| (name.clone(), value.clone())).collect())
    }

    /// Carries out writes of a store that nobody uses yet.
    pub(crate) fn fill<'a>(&self, writes: impl Iterator<Item = Unread<'a>>, settings: &[(Arc<str>, Bytes)]) {
        let mut state = self.lock();
        for Unread { collection, key, change, make } in writes {
            let object = Arc::new(Object::unread(make, state.rv + 1));
            state.commit(collection, key.clone(), change, object, self.history_limit);
        }
        settings.iter().for_each(|(name, value)| state.set(name, value.clone()));
        self.ring();
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
        let place = state.collection(collection);
        if place.closed {
            return Err(WriteError::NotFound);
        }
        if place.objects.contains_key(key) {
            return Err(WriteError::Exists);
        }
        let object = Arc::new(Object::new(value, state.rv + 1));
        state.commit(collection, key.into(), Change::Added, object.clone(), self.history_limit);
        self.ring();
        Ok(object)
    }

    /// Replaces an object at version `expected`.
    pub(crate) fn update(
        &self,
        collection: &str,
        key: &str,
        expected: u64,
        value: Value,
    ) -> Result<Arc<Object>, WriteError> {
        self.replace(collection, key, expected, Change::Modified, value)
    }

    /// Removes an object at version `expected`; returns its last state at the version of the deletion.
    pub(crate) fn delete(
        &self,
        collection: &str,
        key: &str,
        expected: u64,
    ) -> Result<Arc<Object>, WriteError> {
        // Cloned before the lock is taken; `replace` refuses any other version than the expected one.
        let old = self.get(collection, key).ok_or(WriteError::NotFound)?;
        self.replace(collection, key, expected, Change::Deleted, old.value.clone())
    }

    fn replace(
        &self,
        collection: &str,
        key: &str,
        expected: u64,
        change: Change,
        value: Value,
    ) -> Result<Arc<Object>, WriteError> {
        let mut state = self.lock();
        let place = state.collections.get(collection).ok_or(WriteError::NotFound)?;
        let key = place.expect(key, expected)?;
        let object = Arc::new(Object::new(value, state.rv + 1));
        state.commit(collection, key, change, object.clone(), self.history_limit);
        self.ring();
        Ok(object)
    }

    /// Wakes the journal, if there is one.
    fn ring(&self) {
        if self.journal.is_some() {
            self.shared.ring();
        }
    }

    /// Returns a setting, which is a value without a version.
    pub(crate) fn setting(&self, name: &str) -> Option<Bytes> {
        self.lock().settings.get(name).cloned()
    }

    /// Stores a setting.
    pub(crate) fn keep_setting(&self, name: &str, value: Bytes) {
        self.lock().set(name, value);
        self.ring();
    }

    /// Counts from 0, with one counter for each name.
    pub(crate) fn count(&self, name: &str) -> u64 {
        let mut state = self.lock();
        let last = state.settings.get(name).and_then(|value| <[u8; 8]>::try_from(&value[..]).ok());
        let n = last.map_or(0, |last| u64::from_le_bytes(last).wrapping_add(1));
        state.set(name, Bytes::copy_from_slice(&n.to_le_bytes()));
        self.ring();
        n
    }

    /// Lists the objects whose key starts with `prefix`, now or at the version `at`.
    pub(crate) fn list(
        &self,
        collection: &str,
        prefix: &str,
        at: Option<u64>,
    ) -> Result<Snapshot, SnapshotError> {
        let mut state = self.lock();
        state.pack_read();
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
        let mut past = (*place.objects).clone();
        undo(&mut past, newer);
        Ok(Snapshot { rv, objects: with_prefix(&past, prefix) })
    }

    /// Returns an object as it was at a version; `None` if there was none, or the history does not reach back so far.
    pub(crate) fn get_at(&self, collection: &str, key: &str, rv: u64) -> Option<Arc<Object>> {
        let state = self.lock();
        let place = state.collections.get(collection)?;
        if rv < place.floor {
            return None;
        }
        // The first later event of the object knows what was there before.
        let mut newer = place.history.range(place.after(rv)..);
        match newer.find(|event| *event.key == *key) {
            Some(event) => event.previous.clone(),
            None => place.objects.get(key).cloned(),
        }
    }

    /// Returns the objects that name an owner with this uid.
    pub(crate) fn dependents(&self, collection: &str, uid: &str) -> Vec<(Arc<str>, Arc<Object>)> {
        let state = self.lock();
        state
            .collections
            .get(collection)
            .map(|place| place.objects.dependents(uid).collect())
            .unwrap_or_default()
    }

    /// Closes a collection: its watches read the rest of the history and end, then it is removed.
    pub(crate) fn close(&self, collection: &str) {
        let mut state = self.lock();
        let rv = state.rv;
        if let Some(place) = state.collections.get_mut(collection) {
            place.closed = true;
            place.changed.send_replace(rv);
            let collection = place.name.clone();
            state.note(Entry::Closed { collection });
            self.ring();
        }
        state.collections.retain(|_, place| !place.closed || place.changed.receiver_count() > 0);
    }

    /// Ends the watches of a collection; later ones cannot start before now, as when kube-apiserver makes its watch cache
    /// anew. Lists of older versions remain possible.
    pub(crate) fn renew_watches(&self, collection: &str) {
        let mut state = self.lock();
        let rv = state.rv;
        let place = state.collection(collection);
        place.since = rv;
        place.changed = signal::Sender::new(rv);
    }

    /// Drops the history up to now, as etcd's compaction does.
    pub(crate) fn compact(&self) {
        let mut state = self.lock();
        state.compact();
        state.note(Entry::Compacted);
        self.ring();
    }

    /// Starts a watch of `collection` after version `from`.
    pub(crate) fn watch(self: &Arc<Self>, collection: &str, from: u64) -> Cursor {
        let mut state = self.lock();
        let place = state.collection(collection);
        Cursor::new(self.clone(), collection.to_owned(), from, place.changed.subscribe())
    }

    /// Returns a consistent snapshot with the watch that continues from it.
    pub(crate) fn list_and_watch(self: &Arc<Self>, collection: &str, prefix: &str) -> (Snapshot, Cursor) {
        let mut state = self.lock();
        let rv = state.rv;
        let place = state.collection(collection);
        let snapshot = Snapshot { rv, objects: with_prefix(&place.objects, prefix) };
        let cursor = Cursor::new(self.clone(), collection.to_owned(), rv, place.changed.subscribe());
        (snapshot, cursor)
    }

    /// Returns the visible events after `rv`, at most `max`.
    fn events_after(&self, collection: &str, rv: u64, max: usize) -> Result<Batch, Compacted> {
        let state = self.lock();
        let visible = state.visible();
        let Some(place) = state.collections.get(collection) else {
            return Ok(Batch { events: Vec::new(), upto: visible, complete: true, closed: true });
        };
        let floor = place.floor.max(place.since);
        if rv < floor {
            return Err(Compacted { floor });
        }
        let start = place.after(rv);
        let shown = start..place.after(visible).max(start);
        let complete = shown.len() <= max;
        let closed = place.closed && complete && shown.end == place.history.len();
        let events: Vec<Arc<Event>> = place.history.range(shown).take(max).cloned().collect();
        let upto = if complete { visible } else { events.last().map_or(rv, |e| e.rv) };
        Ok(Batch { events, upto, complete, closed })
    }
}
