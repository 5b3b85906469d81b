//! Registrations of handlers, and the state of each handler.

use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use tokio::sync::watch;

use super::HandlerOptions;
use super::calls::{Calls, RunningCall};
use super::mailbox::Mailbox;
use crate::reflector::Object;

/// The registration of a handler with an informer.
#[derive(Clone)]
pub struct HandlerRegistration {
    pub(super) id: u64,
    pub(super) status: Arc<HandlerStatus>,
}

/// The state of a handler.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HandlerState {
    /// Its name, or its number.
    pub name: String,
    /// Whether every object of its initial list has been delivered.
    pub has_synced: bool,
    /// The number of changes that wait for it.
    pub waiting: usize,
    /// The number of changes that were merged with a later one of the same object.
    pub merged: u64,
    /// The number of calls that panicked.
    pub panics: u64,
    /// The number of calls that were reported as slow.
    pub slow_calls: u64,
    /// Whether it has a thread of its own.
    pub has_thread: bool,
    /// The running call, if it has run long enough to be seen.
    pub in_call: Option<RunningCall>,
}

/// The handlers of an informer, and the totals of all that it has had.
#[derive(Default)]
pub(super) struct KnownHandlers {
    /// Locked for a change or a copy, never while a handler runs.
    present: Mutex<Vec<Arc<HandlerStatus>>>,
    pub(super) totals: Arc<HandlerTotals>,
}

impl KnownHandlers {
    fn lock(&self) -> MutexGuard<'_, Vec<Arc<HandlerStatus>>> {
        self.present.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn add(&self, status: &Arc<HandlerStatus>) {
        self.lock().push(Arc::clone(status));
    }

    pub(super) fn remove(&self, status: &Arc<HandlerStatus>) {
        self.lock().retain(|known| !Arc::ptr_eq(known, status));
    }

    /// Returns their states, in the order in which they were added.
    pub(super) fn states(&self) -> Vec<HandlerState> {
        let present = self.lock().clone();
        present.iter().map(|status| status.state()).collect()
    }
}

/// Totals over all handlers that an informer has had.
#[derive(Default)]
pub(super) struct HandlerTotals {
    pub(super) panics: AtomicU64,
    pub(super) slow_calls: AtomicU64,
}

pub(super) struct HandlerStatus {
    /// `plural.group` of the informer's kind.
    pub(super) resource: String,
    pub(super) name: String,
    pub(super) synced: watch::Sender<bool>,
    pub(super) removed: AtomicBool,
    /// No more calls are made.
    pub(super) ended: AtomicBool,
    pub(super) has_thread: AtomicBool,
    pub(super) panics: AtomicU64,
    pub(super) totals: Arc<HandlerTotals>,
    pub(super) calls: Calls,
    /// Returns how many changes wait, and how many were merged.
    mailbox: Box<dyn Fn() -> (usize, u64) + Send + Sync>,
}

impl HandlerStatus {
    pub(super) fn new(
        resource: &str,
        id: u64,
        options: HandlerOptions,
        mailbox: &Arc<Mailbox<dyn Object>>,
        totals: &Arc<HandlerTotals>,
    ) -> Self {
        let mailbox = Arc::clone(mailbox);
        Self {
            resource: resource.to_owned(),
            name: options.name.unwrap_or_else(|| format!("handler {id}")),
            synced: watch::Sender::new(false),
            removed: AtomicBool::new(false),
            ended: AtomicBool::new(false),
            has_thread: AtomicBool::new(options.blocking),
            panics: AtomicU64::new(0),
            totals: Arc::clone(totals),
            calls: Calls::new(options.call_limit, options.on_slow_call),
            mailbox: Box::new(move || (mailbox.waiting(), mailbox.merged())),
        }
    }

    pub(super) fn count_panic(&self) {
        self.panics.fetch_add(1, Ordering::Relaxed);
        self.totals.panics.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn state(&self) -> HandlerState {
        let (waiting, merged) = (self.mailbox)();
        HandlerState {
            name: self.name.clone(),
            has_synced: *self.synced.borrow(),
            waiting,
            merged,
            panics: self.panics.load(Ordering::Relaxed),
            slow_calls: self.calls.reported(),
            has_thread: self.has_thread.load(Ordering::Relaxed),
            in_call: self.calls.running(Instant::now()),
        }
    }
}

impl HandlerRegistration {
    /// Reports whether every object of the handler's initial list has been delivered.
    #[must_use]
    pub fn has_synced(&self) -> bool {
        *self.status.synced.borrow()
    }

    /// Waits until [`Self::has_synced`]; for ever if the informer never syncs.
    ///
    /// # Cancel safety
    /// Dropping the future loses nothing.
    pub async fn synced(&self) {
        let mut synced = self.status.synced.subscribe();
        // The sender lives as long as this registration.
        let _ = synced.wait_for(|synced| *synced).await;
    }

    /// Returns the number of calls that panicked.
    #[must_use]
    pub fn panics(&self) -> u64 {
        self.status.panics.load(Ordering::Relaxed)
    }

    /// Returns the number of changes that were merged because the handler was slower than they arrived.
    #[must_use]
    pub fn merged(&self) -> u64 {
        (self.status.mailbox)().1
    }

    /// Returns the handler's state: waiting changes, and the running call.
    #[must_use]
    pub fn state(&self) -> HandlerState {
        self.status.state()
    }
}

impl fmt::Debug for HandlerRegistration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HandlerRegistration")
            .field("id", &self.id)
            .field("name", &self.status.name)
            .field("has_synced", &self.has_synced())
            .finish_non_exhaustive()
    }
}
