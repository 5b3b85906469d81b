//! Waiting for a state of the cluster.

use std::time::Duration;

use tokio::time::Instant;

/// The intervals of checks: they double from the first to the last.
const PAUSES: [Duration; 2] = [Duration::from_millis(20), Duration::from_secs(1)];

/// Pauses between checks, until a deadline.
pub(super) struct Wait {
    /// `None`: a time beyond all times.
    deadline: Option<Instant>,
    pause: Duration,
}

impl Wait {
    pub(super) fn new(timeout: Duration) -> Self {
        Self { deadline: Instant::now().checked_add(timeout), pause: PAUSES[0] }
    }

    /// Waits for the next check. Returns whether there is one before the deadline.
    pub(super) async fn pause(&mut self) -> bool {
        if self.deadline.is_some_and(|deadline| Instant::now() >= deadline) {
            return false;
        }
        tokio::time::sleep(self.pause).await;
        self.pause = PAUSES[1].min(self.pause * 2);
        true
    }
}
