//! A client's rate limit.

use std::sync::{Mutex, PoisonError};

use tokio::time::Instant;

use crate::workqueue::{BucketRateLimiter, RateLimiter};

/// A token bucket whose tokens are waited for.
pub(super) struct Limit {
    bucket: BucketRateLimiter,
    /// The last token that was reserved, by its number.
    last: Mutex<u64>,
}

impl Limit {
    pub(super) fn new(qps: f64, burst: u32) -> Self {
        Self { bucket: BucketRateLimiter::new(qps, burst), last: Mutex::new(0) }
    }

    /// Waits for a token; tokens are given in the order of the calls.
    ///
    /// # Cancel safety
    /// Whoever gives up gives the token back if nobody has reserved one since. Otherwise it is lost, since the others are
    /// waiting for the times they were given.
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

/// A token that is not there yet.
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
