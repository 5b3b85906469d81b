//! Delays after failures; the numbers are client-go's.

use std::time::Duration;

use tokio::time::Instant;

use crate::random::Random;

/// First delay after a failure.
const BACKOFF_INITIAL: Duration = Duration::from_millis(800);
/// Longest delay before jitter.
const BACKOFF_CAP: Duration = Duration::from_secs(30);
/// Without a failure for this long, delays start over.
const BACKOFF_RESET: Duration = Duration::from_secs(120);

/// How long to wait after failures: doubling, with jitter.
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
