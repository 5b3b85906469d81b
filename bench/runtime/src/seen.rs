//! The record of a handler, the same for all contenders.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tokio::sync::Notify;

use crate::probe::now_nanos;

/// The number of changes and the times of their arrival.
#[derive(Default)]
pub struct Seen {
    count: AtomicU64,
    target: AtomicU64,
    reached: Notify,
    first_sent: AtomicU64,
    ended: AtomicU64,
    /// Nanoseconds from sending to the handler, if they are wanted.
    delays: Option<Mutex<Vec<u64>>>,
}

impl Seen {
    /// Waits for `target` changes.
    pub fn new(target: u64, with_delays: bool) -> Self {
        let delays = with_delays.then(|| Mutex::new(Vec::new()));
        Self { target: AtomicU64::new(target), delays, ..Self::default() }
    }

    /// One change, with the time at which it was sent or 0.
    pub fn change(&self, sent: u64) {
        let count = self.count.fetch_add(1, Ordering::Relaxed) + 1;
        if sent > 0 {
            if self.first_sent.load(Ordering::Relaxed) == 0 {
                self.first_sent.store(sent, Ordering::Relaxed);
            }
            if let Some(delays) = &self.delays {
                delays.lock().expect("no panic under it").push(now_nanos().saturating_sub(sent));
            }
        }
        if count == self.target.load(Ordering::Acquire) {
            self.ended.store(now_nanos(), Ordering::Release);
            self.reached.notify_one();
        }
    }

    /// Waits for `more` changes after the present target, which must have been reached.
    pub fn expect(&self, more: u64) {
        self.target.fetch_add(more, Ordering::Release);
    }

    /// Waits until the target is reached.
    pub async fn reached(&self) {
        while self.count.load(Ordering::Acquire) < self.target.load(Ordering::Acquire) {
            // The count is checked again at times, in case the notification came in between.
            let _ = tokio::time::timeout(Duration::from_millis(100), self.reached.notified()).await;
        }
    }

    /// Seconds from the first sending to the last call.
    pub fn seconds(&self) -> f64 {
        (self.ended.load(Ordering::Acquire) - self.first_sent.load(Ordering::Acquire)) as f64 / 1e9
    }

    /// The delays, sorted.
    pub fn delays(&self) -> Vec<u64> {
        let mut delays = self
            .delays
            .as_ref()
            .map(|delays| delays.lock().expect("no panic under it").clone())
            .unwrap_or_default();
        delays.sort_unstable();
        delays
    }
}
