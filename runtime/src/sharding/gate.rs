//! The gate: which keys may begin, and which are in processing.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Instant;

use super::ring::Ring;

/// The keys that a member may begin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Ownership {
    pub(super) ring: Ring,
    /// Own keys that a former owner has not finished.
    pub(super) blocked: BTreeSet<u64>,
}

impl Ownership {
    pub(crate) fn allows(&self, key: u64) -> bool {
        self.ring.owns(key) && !self.blocked.contains(&key)
    }
}

/// The mode that the protocol sets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Mode {
    /// No key begins; running ones may end.
    Closed,
    /// No key begins; running ones are aborted.
    Stopped,
    /// Own keys begin.
    Open(Arc<Ownership>),
}

/// The decision on the start of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// The key has begun; [`Gate::end`] must follow.
    Begun,
    /// The key belongs to this member or may soon, but must not begin yet.
    Later,
    /// The key belongs to another member.
    Foreign,
}

/// The gate that every key passes before it is processed.
#[derive(Debug)]
pub(super) struct Gate {
    mode: Mode,
    /// No key begins after this time, even if the gate is open.
    valid_until: Option<Instant>,
    /// The number of workers that process a key with this hash, one per controller.
    in_flight: BTreeMap<u64, usize>,
}

impl Gate {
    pub(super) fn new() -> Self {
        Gate { mode: Mode::Closed, valid_until: None, in_flight: BTreeMap::new() }
    }

    pub(super) fn set_mode(&mut self, mode: Mode) {
        self.mode = mode;
    }

    pub(super) fn set_valid_until(&mut self, valid_until: Option<Instant>) {
        self.valid_until = valid_until;
    }

    pub(super) fn ownership(&self) -> Option<Arc<Ownership>> {
        match &self.mode {
            Mode::Open(ownership) => Some(ownership.clone()),
            Mode::Closed | Mode::Stopped => None,
        }
    }

    pub(super) fn verdict(&self, now: Instant, key: u64) -> Verdict {
        let Mode::Open(ownership) = &self.mode else { return Verdict::Later };
        if !ownership.ring.owns(key) {
            return Verdict::Foreign;
        }
        let is_valid = self.valid_until.is_some_and(|end| now < end);
        if is_valid && !ownership.blocked.contains(&key) { Verdict::Begun } else { Verdict::Later }
    }

    pub(super) fn begin(&mut self, now: Instant, key: u64) -> Verdict {
        let verdict = self.verdict(now, key);
        if verdict == Verdict::Begun {
            *self.in_flight.entry(key).or_default() += 1;
        }
        verdict
    }

    /// Ends a worker's processing of the key. Returns whether another member waits for it.
    pub(super) fn end(&mut self, key: u64) -> bool {
        if let Some(count) = self.in_flight.get_mut(&key) {
            *count -= 1;
            if *count == 0 {
                self.in_flight.remove(&key);
                return self.is_lost(key);
            }
        }
        false
    }

    pub(super) fn in_flight(&self) -> usize {
        self.in_flight.values().sum()
    }

    /// Returns the keys in processing that may not begin any more. Their number only falls while the mode stays the
    /// same.
    pub(super) fn lost(&self) -> BTreeSet<u64> {
        self.in_flight.keys().copied().filter(|key| self.is_lost(*key)).collect()
    }

    fn is_lost(&self, key: u64) -> bool {
        match &self.mode {
            Mode::Open(ownership) => !ownership.ring.owns(key),
            Mode::Closed | Mode::Stopped => true,
        }
    }
}
