//! The call that a handler is in: recorded by the handler's task, checked by the watchdog.
//!
//! Only the watchdog reads the clock. A call costs the handler's task two atomic increments and a key.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::EventKind;
use super::handler::SlowCallHook;
use crate::cache::ObjectKey;

/// The shortest and the longest time between two checks.
const PERIODS: (Duration, Duration) = (Duration::from_millis(5), Duration::from_secs(1));

/// A handler's call that was still running when it was checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunningCall {
    /// The kind of event.
    pub event: EventKind,
    /// The object of the event.
    pub key: ObjectKey,
    /// A lower bound of its duration.
    pub running: Duration,
}

/// The calls of one handler.
pub(super) struct Calls {
    /// Odd while a call runs.
    turn: AtomicU64,
    subject: Mutex<Option<(EventKind, ObjectKey)>>,
    limit: Duration,
    hook: Option<SlowCallHook>,
    reported: AtomicU64,
    seen: Mutex<Seen>,
}

/// The result of the last check.
#[derive(Clone, Copy, Default)]
struct Seen {
    turn: u64,
    /// The time when this turn was first seen, if it is a call.
    since: Option<Instant>,
    reports: u32,
}

/// The result of a check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum CallCheck {
    /// No call, or one that has just begun.
    Nothing,
    /// A call that was running at the previous check.
    Running,
    /// A call to report, and whether this is its first report.
    Slow(RunningCall, bool),
    /// A reported call has ended; an upper bound of its duration.
    Ended(Duration),
}

impl Calls {
    pub(super) fn new(limit: Duration, hook: Option<SlowCallHook>) -> Self {
        Self {
            turn: AtomicU64::new(0),
            subject: Mutex::new(None),
            limit,
            hook,
            reported: AtomicU64::new(0),
            seen: Mutex::new(Seen::default()),
        }
    }

    pub(super) fn begin(&self, subject: Option<(EventKind, ObjectKey)>) {
        *lock(&self.subject) = subject;
        self.turn.fetch_add(1, Ordering::AcqRel);
    }

    /// Ends the call and returns it.
    pub(super) fn end(&self) -> Option<(EventKind, ObjectKey)> {
        self.turn.fetch_add(1, Ordering::AcqRel);
        lock(&self.subject).take()
    }

    /// Returns the number of reported calls.
    pub(super) fn reported(&self) -> u64 {
        self.reported.load(Ordering::Relaxed)
    }

    pub(super) fn hook(&self) -> Option<&SlowCallHook> {
        self.hook.as_ref()
    }

    /// Returns the time between two checks; `None` if nothing is to be reported.
    pub(super) fn period(&self) -> Option<Duration> {
        (!self.limit.is_zero()).then(|| (self.limit / 4).clamp(PERIODS.0, PERIODS.1))
    }

    /// Returns the running call, if a check has seen it.
    pub(super) fn running(&self, now: Instant) -> Option<RunningCall> {
        let seen = *lock(&self.seen);
        let since = seen.since.filter(|_| seen.turn == self.turn.load(Ordering::Acquire))?;
        self.describe(now.saturating_duration_since(since))
    }

    fn describe(&self, running: Duration) -> Option<RunningCall> {
        let (event, key) = lock(&self.subject).clone()?;
        Some(RunningCall { event, key, running })
    }

    /// Checks whether the handler is still in the call seen before, and for how long.
    pub(super) fn check(&self, now: Instant) -> CallCheck {
        let turn = self.turn.load(Ordering::Acquire);
        let mut seen = lock(&self.seen);
        let before = *seen;
        let age = before.since.map(|since| now.saturating_duration_since(since));
        if turn != before.turn {
            *seen = Seen { turn, since: (turn % 2 == 1).then_some(now), reports: 0 };
            return age.filter(|_| before.reports > 0).map_or(CallCheck::Nothing, CallCheck::Ended);
        }
        let Some(age) = age else { return CallCheck::Nothing };
        // Report at the limit, then at twice, four times, eight times the limit.
        let due = self.limit.saturating_mul(1_u32.checked_shl(before.reports).unwrap_or(u32::MAX));
        if age < due {
            return CallCheck::Running;
        }
        seen.reports += 1;
        if before.reports == 0 {
            self.reported.fetch_add(1, Ordering::Relaxed);
        }
        drop(seen);
        self.describe(age).map_or(CallCheck::Running, |call| CallCheck::Slow(call, before.reports == 0))
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // Code under these locks cannot panic.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn subject(name: &str) -> Option<(EventKind, ObjectKey)> {
        Some((EventKind::Update, ObjectKey::cluster(name)))
    }

    #[test]
    fn call_is_reported_at_the_limit_and_whenever_its_age_doubles() {
        let calls = Calls::new(10 * SECOND, None);
        let begin = Instant::now();
        calls.begin(subject("a"));
        let mut reports = Vec::new();
        for second in 0..100 {
            if let CallCheck::Slow(call, _) = calls.check(begin + second * SECOND) {
                assert_eq!((call.event, call.key.as_str()), (EventKind::Update, "a"));
                reports.push(call.running.as_secs());
            }
        }
        assert_eq!(reports, [10, 20, 40, 80]);
        assert_eq!(calls.reported(), 1, "one call");
        assert_eq!(calls.running(begin + 99 * SECOND).unwrap().running, 99 * SECOND);
        calls.end();
        assert_eq!(calls.running(begin + 100 * SECOND), None);
        assert_eq!(calls.check(begin + 100 * SECOND), CallCheck::Ended(100 * SECOND));
        assert_eq!(calls.check(begin + 101 * SECOND), CallCheck::Nothing);
    }

    #[test]
    fn many_short_calls_are_not_reported() {
        let calls = Calls::new(2 * SECOND, None);
        let begin = Instant::now();
        for second in 0..100 {
            calls.begin(subject("a"));
            assert_eq!(calls.check(begin + second * SECOND), CallCheck::Nothing);
            calls.end();
        }
        assert_eq!(calls.reported(), 0);
    }

    #[test]
    fn check_period_is_bounded() {
        let period = |limit| Calls::new(limit, None).period();
        assert_eq!(period(Duration::ZERO), None);
        assert_eq!(period(Duration::from_millis(1)), Some(PERIODS.0));
        assert_eq!(period(2 * SECOND), Some(SECOND / 2));
        assert_eq!(period(3600 * SECOND), Some(SECOND));
    }
}
