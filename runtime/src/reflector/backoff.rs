//! Delays after failures, with client-go's numbers.

use std::time::Duration;

use tokio::time::Instant;

use crate::random::Random;

/// Delay after the first failure.
const BACKOFF_INITIAL: Duration = Duration::from_millis(800);
/// Longest delay before jitter.
const BACKOFF_CAP: Duration = Duration::from_secs(30);
/// After this long without a failure, delays start over.
const BACKOFF_RESET: Duration = Duration::from_secs(120);

/// Delays after failures: they double, with jitter.
pub(super) struct Backoff {
    next: Duration,
    last: Option<Instant>,
}

impl Backoff {
    pub(super) fn new() -> Self {
        Self { next: BACKOFF_INITIAL, last: None }
    }

    pub(super) fn delay(&mut self, now: Instant, random: &mut Random) -> Duration {
        if self.last.is_some_and(|last| now >= last + BACKOFF_RESET) {
            self.next = BACKOFF_INITIAL;
        }
        let delay = self.next.mul_f64(1.0 + random());
        self.last = Some(now);
        self.next = (self.next * 2).min(BACKOFF_CAP);
        delay
    }
}
