//! The controllers' view of the group: which keys are theirs, and when that changes.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::{Notify, watch};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::core::Membership;
use super::gate::{Gate, Mode, Ownership, Verdict};
use super::protocol::Phase;
use super::ring;

/// This replica's share of the keys. Clones share it.
///
/// The share is empty before [`Sharding::run`](super::Sharding::run) has joined the group and after it has ended.
#[derive(Clone)]
pub struct Shard {
    inner: Arc<Inner>,
}

struct Inner {
    name: String,
    /// Locked for a read or a change, never across an await or a reconcile.
    state: Mutex<State>,
    /// `State::version`, sent after each change.
    changes: watch::Sender<u64>,
    /// Notified when a key that others wait for has ended.
    finished: Notify,
}

struct State {
    gate: Gate,
    /// The number of changes of the gate.
    version: u64,
    /// Aborts the running reconciles.
    cut_off: CancellationToken,
    observed: Observed,
}

/// The part of the state that the gate does not know.
#[derive(Clone, Debug)]
struct Observed {
    phase: SharePhase,
    members: BTreeSet<String>,
    awaited: Vec<String>,
    last_error: Option<String>,
    hand_overs: u64,
    lost: u64,
}

/// The phase of a replica.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SharePhase {
    /// It has no lease yet, or has lost it and joins again.
    Joining,
    /// It has a lease and waits until all earlier members have acknowledged it.
    Waiting,
    /// It works on its keys.
    Working,
    /// Its lease was lost, and running reconciles are being aborted.
    Lost,
    /// It starts no more keys, and deletes its lease when its reconciles have ended.
    Leaving,
    /// It has left.
    Ended,
}

impl SharePhase {
    fn text(self) -> &'static str {
        match self {
            SharePhase::Joining => "joining",
            SharePhase::Waiting => "waiting",
            SharePhase::Working => "working",
            SharePhase::Lost => "lost",
            SharePhase::Leaving => "leaving",
            SharePhase::Ended => "ended",
        }
    }
}

impl fmt::Display for SharePhase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text())
    }
}

/// The state of a replica's share, for people and metrics.
#[derive(Clone, Debug, PartialEq)]
pub struct ShardState {
    /// The name of this replica's lease.
    pub lease: String,
    /// Its phase.
    pub phase: SharePhase,
    /// The leases of the group, sorted, including this replica's.
    pub members: Vec<String>,
    /// The share of all keys that this replica owns, 0 to 1.
    pub share: f64,
    /// The number of workers of this replica that process a key.
    pub in_work: usize,
    /// The number of keys in processing that others own now and wait for.
    pub finishing: usize,
    /// The number of own keys that others have not finished.
    pub blocked: usize,
    /// Members that have not acknowledged this replica.
    pub waiting_for: Vec<String>,
    /// The number of changes of this replica's keys.
    pub hand_overs: u64,
    /// The number of times that the lease was lost.
    pub lost: u64,
    /// The last failure of a request; `None` after a success.
    pub last_error: Option<String>,
}

/// The decision on the processing of a key.
pub(crate) enum Begin {
    Begun(InWork),
    /// Perhaps after the gate has changed; the number of its changes so far.
    Later(u64),
    Foreign,
}

/// A key in processing, until it is dropped.
pub(crate) struct InWork {
    inner: Arc<Inner>,
    key: u64,
    cut_off: CancellationToken,
}

impl InWork {
    /// Waits until the processing must be aborted.
    pub(crate) async fn cut_off(&self) {
        self.cut_off.cancelled().await;
    }
}

impl Drop for InWork {
    fn drop(&mut self) {
        let somebody_waits = self.inner.state().gate.end(self.key);
        if somebody_waits {
            self.inner.finished.notify_one();
        }
    }
}

impl Shard {
    pub(super) fn new(name: &str) -> Self {
        let observed = Observed {
            phase: SharePhase::Joining,
            members: BTreeSet::new(),
            awaited: Vec::new(),
            last_error: None,
            hand_overs: 0,
            lost: 0,
        };
        let state = State { gate: Gate::new(), version: 0, cut_off: CancellationToken::new(), observed };
        let inner = Inner {
            name: name.to_owned(),
            state: Mutex::new(state),
            changes: watch::Sender::new(0),
            finished: Notify::new(),
        };
        Shard { inner: Arc::new(inner) }
    }

    /// Reports whether this replica may work on `key` now.
    ///
    /// Use it only to observe, as in a log or a test: the key may change owners right after the call. Reconcilers
    /// need not call it; their controller does.
    #[must_use]
    pub fn owns(&self, key: &str) -> bool {
        let key = ring::hash(key);
        self.inner.state().gate.verdict(now(), key) == Verdict::Begun
    }

    /// Returns the state now.
    #[must_use]
    pub fn state(&self) -> ShardState {
        let state = self.inner.state();
        let ownership = state.gate.ownership();
        let observed = state.observed.clone();
        ShardState {
            lease: self.inner.name.clone(),
            phase: observed.phase,
            members: observed.members.into_iter().collect(),
            share: ownership.as_ref().map_or(0.0, |ownership| ownership.ring.share()),
            in_work: state.gate.in_flight(),
            finishing: state.gate.lost().len(),
            blocked: ownership.map_or(0, |ownership| {
                ownership.blocked.iter().filter(|key| ownership.ring.owns(**key)).count()
            }),
            waiting_for: observed.awaited,
            hand_overs: observed.hand_overs,
            lost: observed.lost,
            last_error: observed.last_error,
        }
    }

    /// Returns the hash by which keys are assigned.
    pub(crate) fn hash(key: &str) -> u64 {
        ring::hash(key)
    }

    pub(crate) fn begin(&self, key: u64) -> Begin {
        let mut state = self.inner.state();
        match state.gate.begin(now(), key) {
            Verdict::Begun => {
                Begin::Begun(InWork { inner: self.inner.clone(), key, cut_off: state.cut_off.clone() })
            }
            Verdict::Later => Begin::Later(state.version),
            Verdict::Foreign => Begin::Foreign,
        }
    }

    /// Returns a receiver of the changes of [`Self::ownership`], with their numbers.
    pub(crate) fn changes(&self) -> watch::Receiver<u64> {
        self.inner.changes.subscribe()
    }

    /// Returns the keys that may begin, and how often that has changed.
    pub(crate) fn ownership(&self) -> (u64, Option<Arc<Ownership>>) {
        let state = self.inner.state();
        (state.version, state.gate.ownership())
    }

    /// Waits until a key that others wait for has ended.
    pub(super) async fn finished(&self) {
        self.inner.finished.notified().await;
    }

    /// Returns the keys in processing that this member no longer owns.
    pub(super) fn lost(&self) -> BTreeSet<u64> {
        self.inner.state().gate.lost()
    }

    /// Applies the protocol's decision.
    pub(super) fn apply(&self, membership: &Membership, mode: Option<Mode>, is_lost: bool) {
        let mut state = self.inner.state();
        let State { gate, version, cut_off, observed } = &mut *state;
        gate.set_valid_until(membership.valid_until());
        observed.phase = match membership.phase() {
            Phase::Joining => SharePhase::Joining,
            Phase::Waiting => SharePhase::Waiting,
            Phase::Working => SharePhase::Working,
            Phase::Lost => SharePhase::Lost,
            Phase::Leaving => SharePhase::Leaving,
            Phase::Ended => SharePhase::Ended,
        };
        observed.members = membership.members();
        observed.awaited = membership.awaited().map(str::to_owned).collect();
        observed.lost += u64::from(is_lost);
        let Some(mode) = mode else { return };
        *version += 1;
        let version = *version;
        let before = gate.ownership();
        let stopped = (mode == Mode::Stopped).then(|| std::mem::take(cut_off));
        gate.set_mode(mode);
        let after = gate.ownership();
        observed.hand_overs +=
            u64::from(before.map(|before| before.ring.clone()) != after.map(|after| after.ring.clone()));
        drop(state);
        if let Some(stopped) = stopped {
            stopped.cancel();
        }
        self.inner.changes.send_replace(version);
    }

    pub(super) fn set_last_error(&self, error: Option<String>) {
        self.inner.state().observed.last_error = error;
    }

    /// Starts no more keys and aborts running reconciles, because the lease is no longer renewed.
    pub(super) fn stop(&self) {
        let mut state = self.inner.state();
        state.gate.set_mode(Mode::Stopped);
        state.observed.phase = SharePhase::Ended;
        state.version += 1;
        let version = state.version;
        let cut_off = std::mem::take(&mut state.cut_off);
        drop(state);
        cut_off.cancel();
        self.inner.changes.send_replace(version);
    }
}

impl Inner {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn now() -> std::time::Instant {
    Instant::now().into_std()
}

impl fmt::Debug for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = self.state();
        f.debug_struct("Shard")
            .field("lease", &state.lease)
            .field("phase", &state.phase)
            .field("members", &state.members)
            .finish_non_exhaustive()
    }
}
