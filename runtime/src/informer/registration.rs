//! What whoever added a handler holds.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use tokio::sync::watch;

/// A handler's place in an informer.
#[derive(Clone)]
pub struct HandlerRegistration {
    pub(super) id: u64,
    pub(super) status: Arc<HandlerStatus>,
}

pub(super) struct HandlerStatus {
    pub(super) synced: watch::Sender<bool>,
    pub(super) removed: AtomicBool,
    pub(super) panics: AtomicU64,
    pub(super) merged: AtomicU64,
}

impl HandlerStatus {
    pub(super) fn new() -> Self {
        Self {
            synced: watch::Sender::new(false),
            removed: AtomicBool::new(false),
            panics: AtomicU64::new(0),
            merged: AtomicU64::new(0),
        }
    }
}

impl HandlerRegistration {
    /// Whether the handler has been called with every object of its initial list.
    #[must_use]
    pub fn has_synced(&self) -> bool {
        *self.status.synced.borrow()
    }

    /// Waits until [`Self::has_synced`]; for ever if the informer never syncs.
    ///
    /// # Cancel safety
    /// Nothing is lost.
    pub async fn synced(&self) {
        let mut synced = self.status.synced.subscribe();
        // The sender lives as long as this registration.
        let _ = synced.wait_for(|synced| *synced).await;
    }

    /// How many of the handler's calls panicked.
    #[must_use]
    pub fn panics(&self) -> u64 {
        self.status.panics.load(Ordering::Relaxed)
    }

    /// How many changes were merged with a later one because the handler was slower than they came.
    #[must_use]
    pub fn merged(&self) -> u64 {
        self.status.merged.load(Ordering::Relaxed)
    }
}

impl fmt::Debug for HandlerRegistration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HandlerRegistration")
            .field("id", &self.id)
            .field("has_synced", &self.has_synced())
            .finish_non_exhaustive()
    }
}
