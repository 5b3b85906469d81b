//! Makes changes durable: writers queue them in the order of their versions, and one thread writes them to the disk.
//!
//! While the thread waits for the disk, changes accumulate; the next write has all of them, so that many writers share
//! one sync. Clients see no change before it is durable: watches see events up to [`Queue::durable_rv`], and a response
//! waits for [`Progress`]. After a failure of the disk no change becomes durable.

use std::io;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

use bytes::Bytes;
use tokio::sync::watch as signal;

use super::snapshot::Snapshot;
use super::state::{Event, State};

/// One change, in the order in which they were made.
#[derive(Clone, Debug)]
pub(super) enum Entry {
    Event { collection: Arc<str>, event: Arc<Event> },
    Closed { collection: Arc<str> },
    Compacted,
    Setting { name: Arc<str>, value: Bytes },
}

/// Changes that are not durable yet.
#[derive(Debug, Default)]
pub(super) struct Queue {
    entries: Vec<Entry>,
    /// The number of changes so far.
    pub(super) count: u64,
    /// The version up to which everything is durable.
    pub(super) durable_rv: u64,
    /// Whether the queue is closed for new changes.
    closing: bool,
}

impl Queue {
    pub(super) fn new(durable_rv: u64) -> Self {
        Self { durable_rv, ..Self::default() }
    }

    pub(super) fn push(&mut self, entry: Entry) {
        self.count += 1;
        self.entries.push(entry);
    }

    /// Returns the changes to make durable next.
    pub(super) fn take(&mut self) -> Vec<Entry> {
        std::mem::take(&mut self.entries)
    }
}

/// The progress of the journal.
#[derive(Clone, Debug, Default)]
pub(super) struct Progress {
    /// The number of durable changes.
    pub(super) count: u64,
    /// The reason why no more changes become durable.
    pub(super) end: Option<Arc<str>>,
}

/// The destination of the journal. A call returns when all is durable; after an error the sink is not used again.
pub(super) trait Sink: Send {
    fn append(&mut self, entries: &[Entry]) -> io::Result<()>;

    /// Reports whether a snapshot should replace the written changes.
    fn is_due(&self) -> bool;

    fn replace(&mut self, snapshot: &Snapshot) -> io::Result<()>;
}

/// The state, and the signals between the journal's thread and the store's users.
#[derive(Debug)]
pub(super) struct Shared {
    state: Mutex<State>,
    /// Signals that the queue has work, or that it closes.
    work: Condvar,
    pub(super) progress: signal::Sender<Progress>,
}

impl Shared {
    pub(super) fn new(state: State) -> Self {
        Self { state: Mutex::new(state), work: Condvar::new(), progress: signal::Sender::default() }
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Wakes the journal's thread after a change.
    pub(super) fn ring(&self) {
        self.work.notify_one();
    }

    /// Waits for changes; `None` when the queue is closed and empty.
    fn next(&self, due: bool) -> Option<Batch> {
        let mut state = self.lock();
        loop {
            let queue = state.queue.as_mut()?;
            if !queue.entries.is_empty() {
                let (entries, count) = (queue.take(), queue.count);
                let snapshot = due.then(|| Snapshot::of(&state));
                return Some(Batch { entries, count, rv: state.rv, snapshot });
            }
            if queue.closing {
                return None;
            }
            state = self.work.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Publishes durable changes to watches and waiting requests.
    fn publish(&self, batch: &Batch) {
        let mut state = self.lock();
        if let Some(queue) = &mut state.queue {
            queue.durable_rv = batch.rv;
        }
        for entry in &batch.entries {
            if let Entry::Event { collection, .. } | Entry::Closed { collection } = entry
                && let Some(place) = state.collections.get(collection)
            {
                place.changed.send_replace(batch.rv);
            }
        }
        drop(state);
        self.progress.send_modify(|progress| progress.count = batch.count);
    }
}

/// Changes that become durable together.
struct Batch {
    entries: Vec<Entry>,
    count: u64,
    /// The version of the last change.
    rv: u64,
    /// The state after them, if a snapshot is to replace the written changes.
    snapshot: Option<Snapshot>,
}

/// The thread that writes.
#[derive(Debug)]
pub(super) struct Journal(Mutex<Option<JoinHandle<()>>>);

impl Journal {
    /// Starts the thread. The state needs a queue.
    pub(super) fn start(shared: Arc<Shared>, mut sink: Box<dyn Sink>) -> io::Result<Self> {
        let name = "kubesmith-journal".to_owned();
        let thread = std::thread::Builder::new().name(name).spawn(move || run(&shared, &mut *sink))?;
        Ok(Self(Mutex::new(Some(thread))))
    }

    /// Writes what is queued, ends the thread and waits for it; later changes are never durable.
    pub(super) fn close(&self, shared: &Shared) {
        if let Some(queue) = &mut shared.lock().queue {
            queue.closing = true;
        }
        shared.work.notify_all();
        if let Some(thread) = self.0.lock().unwrap_or_else(PoisonError::into_inner).take() {
            // If it panicked, `Ending` has woken all waiting requests.
            let _ = thread.join();
        }
    }
}

/// Ends the progress for all waiting requests, however the thread ends.
struct Ending<'a>(&'a Shared, String);

impl Drop for Ending<'_> {
    fn drop(&mut self) {
        self.0.progress.send_modify(|progress| progress.end = Some(self.1.as_str().into()));
    }
}

fn run(shared: &Shared, sink: &mut dyn Sink) {
    let mut ending = Ending(shared, "the journal's thread failed".to_owned());
    while let Some(batch) = shared.next(sink.is_due()) {
        let done = match &batch.snapshot {
            Some(snapshot) => sink.replace(snapshot),
            None => sink.append(&batch.entries),
        };
        if let Err(error) = done {
            tracing::error!(%error, "the data folder cannot be written");
            ending.1 = format!("the data folder cannot be written: {error}");
            return;
        }
        shared.publish(&batch);
    }
    ending.1 = "the server has stopped".to_owned();
}
