//! A reader's place in a collection's history.

use std::sync::Arc;

use tokio::sync::watch as signal;

use super::{Compacted, Event, Store};

/// How many events a watcher takes out of the history at once.
const BATCH: usize = 256;

/// Events that follow each other, and the version up to which there are no others.
#[derive(Debug)]
pub(crate) struct Batch {
    pub(crate) events: Vec<Arc<Event>>,
    pub(crate) upto: u64,
    /// Whether there were no more events than these.
    pub(super) complete: bool,
    /// Whether there will never be more.
    pub(crate) closed: bool,
}

/// A watch: remembers the last version it saw and waits for later ones.
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

    /// What is there already, possibly nothing.
    pub(crate) fn take(&mut self) -> Result<Batch, Compacted> {
        self.changed.mark_unchanged();
        let mut batch = self.store.events_after(&self.collection, self.rv, BATCH)?;
        if !batch.complete {
            // The next wait must not sleep on a signal that has been marked as seen.
            self.changed.mark_changed();
        }
        self.rv = batch.upto.max(self.rv);
        batch.upto = self.rv;
        Ok(batch)
    }

    /// Waits until there may be more; `false` when the collection is gone.
    ///
    /// # Cancel safety
    /// Dropping the future loses nothing.
    pub(crate) async fn wait(&mut self) -> bool {
        self.changed.changed().await.is_ok()
    }
}
