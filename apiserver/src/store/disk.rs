//! The store on a disk: reads it at the start, and writes for the journal.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bytes::Bytes;

use super::journal::{Entry, Sink};
use super::log::{Folder, Log, Pieces};
use super::object::Object;
use super::record::{Malformed, Reader, Record};
use super::snapshot::{Part, Snapshot};
use super::state::{Change, Event, State};
use crate::error::DataError;

/// The limit of appended bytes, in addition to the size of the last snapshot, before a new snapshot replaces the file.
/// Writers wait while it is written.
const SLACK: u64 = 64 << 20;

/// Reads a folder; an empty one becomes a store.
///
/// # Errors
/// Returns the file or folder at fault, and the error.
pub(super) fn open(path: &Path, history_limit: usize) -> Result<(State, Disk), (PathBuf, DataError)> {
    open_with(path, history_limit, SLACK)
}

/// As [`open`], with snapshots after `slack` bytes.
pub(super) fn open_with(
    path: &Path,
    history_limit: usize,
    slack: u64,
) -> Result<(State, Disk), (PathBuf, DataError)> {
    let folder = Folder::take(path)?;
    let file = folder.file();
    let failed = |error| (file.clone(), error);
    let mut restore = Restore::new(history_limit);
    let opened = Log::open(&folder, &mut |content| restore.frame(content)).map_err(failed)?;
    let log = match opened {
        Some(opened) => Log::resume(folder, opened),
        None => {
            let empty = Snapshot::of(&restore.state);
            Log::create(folder, |out| write_snapshot(&empty, out)).map_err(DataError::Io).map_err(failed)?
        }
    };
    Ok((restore.state, Disk { log, slack }))
}

/// The log for the journal.
#[derive(Debug)]
pub(super) struct Disk {
    log: Log,
    slack: u64,
}

impl Sink for Disk {
    fn append(&mut self, entries: &[Entry]) -> io::Result<()> {
        let mut content = Vec::new();
        for entry in entries {
            write_entry(entry, &mut content)?;
        }
        self.log.append(&content)
    }

    fn is_due(&self) -> bool {
        let (snapshot, appended) = self.log.sizes();
        appended > snapshot.saturating_add(self.slack)
    }

    fn replace(&mut self, snapshot: &Snapshot) -> io::Result<()> {
        self.log.replace(|out| write_snapshot(snapshot, out))
    }
}

fn write_entry(entry: &Entry, out: &mut Vec<u8>) -> io::Result<()> {
    match entry {
        Entry::Event { collection, event } => write_event(collection, event, out),
        Entry::Closed { collection } => Record::Closed { collection }.write(out),
        Entry::Compacted => Record::Compacted.write(out),
        Entry::Setting { name, value } => Record::Setting { name, value }.write(out),
    }
}

fn write_event(collection: &str, event: &Event, out: &mut Vec<u8>) -> io::Result<()> {
    let json = match event.change {
        Change::Added | Change::Modified => event.object.peek_json(),
        Change::Deleted => Bytes::new(),
    };
    let Event { rv, key, change, .. } = event;
    Record::Event { collection, key, rv: *rv, change: *change, json: &json }.write(out)
}

fn write_snapshot(snapshot: &Snapshot, out: &mut Pieces<'_>) -> io::Result<()> {
    for (name, value) in &snapshot.settings {
        out.add(|bytes| Record::Setting { name, value }.write(bytes))?;
    }
    for Part { name, floor, objects, events } in &snapshot.parts {
        out.add(|bytes| Record::Collection { name, floor: *floor }.write(bytes))?;
        for (key, object) in objects {
            out.add(|bytes| Record::Object { key, rv: object.rv, json: &object.peek_json() }.write(bytes))?;
        }
        for event in events {
            out.add(|bytes| write_event(name, event, bytes))?;
        }
    }
    out.add(|bytes| Record::Complete { rv: snapshot.rv }.write(bytes))
}

/// Builds the state from a file's frames.
struct Restore {
    state: State,
    history_limit: usize,
    /// The collection of a snapshot's objects.
    current: Arc<str>,
    /// Whether the snapshot has been read.
    complete: bool,
}

impl Restore {
    fn new(history_limit: usize) -> Self {
        Self { state: State::new(), history_limit, current: "".into(), complete: false }
    }

    /// Applies a frame's records; returns whether the snapshot is complete.
    fn frame(&mut self, content: &[u8]) -> Result<bool, &'static str> {
        let nonsense = |Malformed| "a record makes no sense";
        let mut reader = Reader(content);
        while let Some(record) = reader.next().map_err(nonsense)? {
            self.record(record).map_err(nonsense)?;
        }
        Ok(self.complete)
    }

    fn record(&mut self, record: Record<'_>) -> Result<(), Malformed> {
        let Self { state, current, .. } = self;
        match record {
            Record::Setting { name, value } => {
                state.settings.insert(name.into(), Bytes::copy_from_slice(value));
            }
            Record::Collection { name, floor } => {
                let collection = state.collection(name);
                collection.floor = floor;
                *current = collection.name.clone();
            }
            Record::Object { key, rv, json } => {
                let object = Object::restored(json, rv, &state.packing.unpacked);
                let object = Arc::new(object.map_err(|_| Malformed)?);
                state.collection(&current.clone()).objects.insert(key.into(), object);
            }
            Record::Event { collection, key, rv, change, json } => {
                self.event(collection, key, rv, change, json)?;
            }
            Record::Closed { collection } => {
                state.collections.remove(collection);
            }
            Record::Compacted => state.compact(),
            Record::Complete { rv } => {
                state.rv = rv;
                self.complete = true;
            }
        }
        Ok(())
    }

    fn event(
        &mut self,
        collection: &str,
        key: &str,
        rv: u64,
        change: Change,
        json: &[u8],
    ) -> Result<(), Malformed> {
        let state = &mut self.state;
        state.rv = rv;
        let unpacked = state.packing.unpacked.clone();
        let restored = || Object::restored(json, rv, &unpacked).map_err(|_| Malformed);
        let place = state.collection(collection);
        let known = place.objects.get_key_value(key);
        let (key, object) = match (change, known) {
            (Change::Deleted, Some((key, old))) => (key.clone(), Object::new(old.value.clone(), rv)),
            (Change::Modified, Some((key, _))) => (key.clone(), restored()?),
            (Change::Added, None) => (key.into(), restored()?),
            _ => return Err(Malformed),
        };
        place.apply(key, change, Arc::new(object), self.history_limit);
        Ok(())
    }
}
