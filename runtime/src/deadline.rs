//! Deadlines after durations of any length.

use std::time::Duration;

use tokio::time::Instant;

/// The substitute for a duration that is too long to add, as in tokio's `sleep`: thirty years.
const FAR: Duration = Duration::from_secs(60 * 60 * 24 * 365 * 30);

/// Returns the time after a duration.
pub(crate) fn after(duration: Duration) -> Instant {
    let now = Instant::now();
    now.checked_add(duration).unwrap_or_else(|| now + FAR)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn every_duration_has_a_deadline() {
        let now = Instant::now();
        assert_eq!(after(Duration::from_secs(1)), now + Duration::from_secs(1));
        assert_eq!(after(Duration::MAX), now + FAR);
    }
}
