//! Counters of what a server sends to the reflectors of an informer.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

/// The traffic of the reflectors of an informer.
#[derive(Debug, Default)]
pub(crate) struct Traffic {
    received: AtomicU64,
    dropped: AtomicU64,
    /// The number of reflectors that get objects of other shards.
    filtering: AtomicUsize,
}

impl Traffic {
    pub(super) fn receive(&self, bytes: usize) {
        self.received.fetch_add(bytes as u64, Ordering::Relaxed);
    }

    pub(super) fn drop_object(&self) {
        self.dropped.fetch_add(1, Ordering::Relaxed);
    }

    /// Replaces `known`, which reports whether a reflector gets objects of other shards.
    pub(super) fn set_filtering(&self, known: &mut bool, is_filtering: bool) {
        match (std::mem::replace(known, is_filtering), is_filtering) {
            (false, true) => self.filtering.fetch_add(1, Ordering::Relaxed),
            (true, false) => self.filtering.fetch_sub(1, Ordering::Relaxed),
            _ => return,
        };
    }

    /// Returns the bytes of lists and watches, after decompression.
    pub(crate) fn received(&self) -> u64 {
        self.received.load(Ordering::Relaxed)
    }

    /// Returns the number of objects of other shards that arrived.
    pub(crate) fn dropped(&self) -> u64 {
        self.dropped.load(Ordering::Relaxed)
    }

    /// Reports whether the server sends objects of other shards.
    pub(crate) fn is_filtering(&self) -> bool {
        self.filtering.load(Ordering::Relaxed) > 0
    }
}
