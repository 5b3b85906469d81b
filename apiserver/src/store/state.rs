//! The state of the store: collections of objects, each with its history, under one counter of versions.

use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::ops::{Bound, Deref};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use bytes::Bytes;
use serde_json::Value;
use tokio::sync::watch as signal;

use super::WriteError;
use super::journal::{Entry, Queue};
use super::objects::{IndexedObjects, Objects};

/// Makes the value of an object, without its version.
pub(crate) type Make = Box<dyn Fn() -> Value + Send + Sync>;

/// An object's value. That of an object which every server starts with is made when it is first read: most are never read.
pub(crate) struct Content {
    value: OnceLock<Value>,
    make: Option<(Make, u64)>,
}

impl Content {
    /// Whether nobody has read the value so far.
    fn is_unread(&self) -> bool {
        self.value.get().is_none()
    }
}

impl Deref for Content {
    type Target = Value;

    fn deref(&self) -> &Value {
        self.value
            .get_or_init(|| self.make.as_ref().map_or(Value::Null, |(make, rv)| with_version(make(), *rv)))
    }
}

impl From<Value> for Content {
    fn from(value: Value) -> Self {
        Self { value: OnceLock::from(value), make: None }
    }
}

impl fmt::Debug for Content {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&**self, f)
    }
}

fn with_version(mut value: Value, rv: u64) -> Value {
    value["metadata"]["resourceVersion"] = Value::String(rv.to_string());
    value
}

/// A stored object: its value and, after the first use, its JSON with a newline.
#[derive(Debug)]
pub(crate) struct Object {
    pub(crate) value: Content,
    pub(crate) rv: u64,
    line: OnceLock<Bytes>,
    /// A reader's mark, whose meaning never changes; 0 is none.
    mark: AtomicU64,
}

impl Object {
    pub(crate) fn new(value: Value, rv: u64) -> Self {
        Self::with(with_version(value, rv).into(), rv)
    }

    /// An object whose value is made when it is read. It has no owners.
    pub(super) fn unread(make: Make, rv: u64) -> Self {
        Self::with(Content { value: OnceLock::new(), make: Some((make, rv)) }, rv)
    }

    fn with(value: Content, rv: u64) -> Self {
        Self { value, rv, line: OnceLock::new(), mark: AtomicU64::new(0) }
    }

    /// The owner references.
    pub(super) fn owners(&self) -> &Value {
        if self.value.is_unread() { &Value::Null } else { &self.value["metadata"]["ownerReferences"] }
    }

    /// Creates an object that was not stored: its version is the one that the client gave, if any.
    pub(crate) fn unstored(value: Value) -> Self {
        Self::with(value.into(), 0)
    }

    /// Creates an object whose value has its version already.
    pub(super) fn restored(value: Value, rv: u64) -> Self {
        Self::with(value.into(), rv)
    }

    /// Returns the object as a line of JSON, rendered once.
    pub(crate) fn line(&self) -> Bytes {
        self.line.get_or_init(|| self.render()).clone()
    }

    /// Returns the object as JSON, rendered once.
    pub(crate) fn json(&self) -> Bytes {
        without_newline(&self.line())
    }

    /// Returns the last mark, which spares readers from repeating work.
    pub(crate) fn mark(&self) -> u64 {
        self.mark.load(Ordering::Relaxed)
    }

    /// Sets a mark for later readers.
    pub(crate) fn set_mark(&self, mark: u64) {
        self.mark.store(mark, Ordering::Relaxed);
    }

    /// Returns the object as JSON, without caching it.
    pub(super) fn peek_json(&self) -> Bytes {
        without_newline(&self.line.get().cloned().unwrap_or_else(|| self.render()))
    }

    fn render(&self) -> Bytes {
        crate::encode::line(&self.value).into()
    }
}

fn without_newline(line: &Bytes) -> Bytes {
    line.slice(..line.len().saturating_sub(1))
}

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
}

impl State {
    /// The version of a state that was never written.
    pub(super) const FIRST: u64 = 1;

    pub(super) fn new() -> Self {
        Self { rv: Self::FIRST, collections: BTreeMap::new(), settings: BTreeMap::new(), queue: None }
    }

    /// The same in memory, which shares all objects.
    pub(super) fn copy(&self) -> Self {
        let collections = self.collections.iter().map(|(name, collection)| (name.clone(), collection.copy()));
        Self { rv: self.rv, collections: collections.collect(), settings: self.settings.clone(), queue: None }
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
