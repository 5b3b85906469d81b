//! Time and IDs, passed in so that a test can fix both.

use std::collections::hash_map::RandomState;
use std::fmt;
use std::hash::{BuildHasher, Hasher};
use std::sync::Mutex;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};

use jiff::Timestamp;

/// The source of wall-clock time.
pub trait Clock: Send + Sync + fmt::Debug {
    /// Returns the current time.
    fn now(&self) -> Timestamp;
}

/// The machine's clock.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        Timestamp::now()
    }
}

/// A clock that stands still until a test moves it.
#[derive(Debug)]
pub struct ManualClock(AtomicI64);

impl ManualClock {
    /// Creates a clock that shows `start`, cut to whole seconds.
    #[must_use]
    pub fn new(start: Timestamp) -> Self {
        Self(AtomicI64::new(start.as_second()))
    }

    /// Moves the clock forward by `seconds`.
    pub fn advance(&self, seconds: i64) {
        self.0.fetch_add(seconds, Ordering::SeqCst);
    }
}

impl Clock for ManualClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_second(self.0.load(Ordering::SeqCst)).unwrap_or(Timestamp::MAX)
    }
}

/// Formats a time as in object metadata: RFC 3339, whole seconds, UTC.
pub(crate) fn rfc3339(time: Timestamp) -> String {
    time.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

/// The source of UIDs and generated name suffixes.
#[derive(Debug)]
pub(crate) struct Ids {
    state: AtomicU64,
    /// Serialises draws of more than one word, so that a seed gives the same UIDs again.
    draw: Mutex<()>,
}

impl Ids {
    /// `None` takes the seed from the operating system.
    pub(crate) fn new(seed: Option<u64>) -> Self {
        let seed = seed.unwrap_or_else(|| RandomState::new().build_hasher().finish());
        Self { state: AtomicU64::new(seed), draw: Mutex::new(()) }
    }

    /// The next word of SplitMix64 (Steele, Lea and Flood, 2014).
    fn next(&self) -> u64 {
        const STEP: u64 = 0x9e37_79b9_7f4a_7c15;
        let mut z = self.state.fetch_add(STEP, Ordering::SeqCst).wrapping_add(STEP);
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A version 4 UUID as text.
    pub(crate) fn uid(&self) -> String {
        self.draw().to_string()
    }

    /// A version 4 UUID.
    pub(crate) fn draw(&self) -> Uid {
        let _draw = self.draw.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        Uid(self.next(), self.next())
    }

    /// The five characters that follow a `generateName`, from the alphabet without vowels that Kubernetes uses.
    pub(crate) fn suffix(&self) -> String {
        const ALPHABET: &[u8] = b"bcdfghjklmnpqrstvwxz2456789";
        let mut word = self.next();
        let mut out = String::with_capacity(5);
        for _ in 0..5 {
            out.push(char::from(ALPHABET[(word % ALPHABET.len() as u64) as usize]));
            word /= ALPHABET.len() as u64;
        }
        out
    }
}

/// A version 4 UUID, made of two random words.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Uid(u64, u64);

impl fmt::Display for Uid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(a, b) = self;
        write!(
            f,
            "{:08x}-{:04x}-4{:03x}-{:04x}-{:012x}",
            a >> 32,
            (a >> 16) & 0xffff,
            a & 0xfff,
            0x8000 | ((b >> 48) & 0x3fff),
            b & 0xffff_ffff_ffff
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_repeat_when_the_seed_is_equal() {
        let (a, b) = (Ids::new(Some(7)), Ids::new(Some(7)));
        assert_eq!((a.uid(), a.suffix()), (b.uid(), b.suffix()));
        assert_ne!(a.uid(), a.uid());
    }

    #[test]
    fn uid_is_a_version_4_uuid() {
        let uid = Ids::new(Some(1)).uid();
        assert_eq!(uid.len(), 36);
        assert_eq!(uid.as_bytes()[14], b'4');
        assert!(matches!(uid.as_bytes()[19], b'8'..=b'b'));
    }

    #[test]
    fn manual_clock_moves_when_advanced() {
        let clock = ManualClock::new(Timestamp::UNIX_EPOCH);
        clock.advance(61);
        assert_eq!(rfc3339(clock.now()), "1970-01-01T00:01:01Z");
    }
}
