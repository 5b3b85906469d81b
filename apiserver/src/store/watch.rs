//! A reader's position in a collection's history.

use std::sync::Arc;

use tokio::sync::watch as signal;

use super::{Compacted, Event, Store};

/// The number of events that a watcher reads at once.
const BATCH: usize = 256;

/// Successive events, and the version up to which there are no others.
#[derive(Debug)]
pub(crate) struct Batch {
    pub(crate) events: Vec<Arc<Event>>,
    pub(crate) upto: u64,
    /// Whether these are all events so far.
    pub(crate) complete: bool,
    /// Whether these are the last events.
    pub(crate) closed: bool,
}

/// A watch: keeps the version of the last event and waits for later ones.
#[derive(Debug)]
pub(crate) struct Cursor {
    store: Arc<Store>,
    collection: String,
    rv: u64,
    changed: signal::Receiver<u64>,
}

impl Cursor {
    pub(super) fn new(
        store: Arc<Store>,
        collection: String,
        rv: u64,
        changed: signal::Receiver<u64>,
    ) -> Self {
        Self { store, collection, rv, changed }
    }

    /// Returns the events so far, possibly none.
    pub(crate) fn take(&mut self) -> Result<Batch, Compacted> {
        self.changed.mark_unchanged();
        if self.changed.has_changed().is_err() {
            return Ok(Batch { events: Vec::new(), upto: self.rv, complete: true, closed: true });
        }
        let mut batch = self.store.events_after(&self.collection, self.rv, BATCH)?;
        if !batch.complete {
            // The signal is marked as seen, but more events wait.
            self.changed.mark_changed();
        }
        self.rv = batch.upto.max(self.rv);
        batch.upto = self.rv;
        Ok(batch)
    }

    /// Waits for a change; `false` when the collection is gone, or its watches were ended.
    ///
    /// # Cancel safety
    /// Dropping the future loses nothing.
    pub(crate) async fn wait(&mut self) -> bool {
        self.changed.changed().await.is_ok()
    }
}
