//! The rate limit of a client.

use std::sync::{Mutex, PoisonError};

use tokio::time::Instant;

use crate::workqueue::{BucketRateLimiter, RateLimiter};

/// A token bucket with waiting.
pub(super) struct Limit {
    bucket: BucketRateLimiter,
    /// The number of the last reserved token.
    last: Mutex<u64>,
}

impl Limit {
    pub(super) fn new(qps: f64, burst: u32) -> Self {
        Self { bucket: BucketRateLimiter::new(qps, burst), last: Mutex::new(0) }
    }

    /// Waits for a token. Tokens are assigned in the order of the calls.
    ///
    /// # Cancel safety
    /// A dropped call returns its token if none was reserved after it. Otherwise the token is lost, because later
    /// calls wait for the times assigned to them.
    pub(super) async fn turn(&self) {
        let (number, delay) = {
            let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
            *last += 1;
            (*last, self.bucket.when(&(), Instant::now().into_std()))
        };
        if delay.is_zero() {
            return;
        }
        let mut reserved = Reserved { limit: self, number, is_used: false };
        tokio::time::sleep(delay).await;
        reserved.is_used = true;
    }
}

/// A reserved token that is not available yet.
struct Reserved<'a> {
    limit: &'a Limit,
    number: u64,
    is_used: bool,
}

impl Drop for Reserved<'_> {
    fn drop(&mut self) {
        let last = self.limit.last.lock().unwrap_or_else(PoisonError::into_inner);
        if !self.is_used && *last == self.number {
            self.limit.bucket.give_back();
        }
    }
}
