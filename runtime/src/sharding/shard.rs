//! What controllers see of the group: which keys are theirs, and when that changes.

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

/// This replica's share of the keys. Clones look at the same.
///
/// Nothing is owned before [`Sharding::run`](super::Sharding::run) has joined the group, nor after it has ended.
#[derive(Clone)]
pub struct Shard {
    inner: Arc<Inner>,
}

struct Inner {
    name: String,
    /// Held for a look or a change, never across an await or a reconcile.
    state: Mutex<State>,
    /// `State::version`, told after each change.
    changes: watch::Sender<u64>,
    /// Told when a key has ended that others wait for.
    finished: Notify,
}

struct State {
    gate: Gate,
    /// How often the gate has changed.
    version: u64,
    /// Cuts off what is in work.
    cut_off: CancellationToken,
    look: Look,
}

/// What the gate cannot tell.
#[derive(Clone, Debug)]
struct Look {
    phase: SharePhase,
    members: BTreeSet<String>,
    awaited: Vec<String>,
    last_error: Option<String>,
    hand_overs: u64,
    lost: u64,
}

/// How far a replica is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SharePhase {
    /// It has no lease yet, or has lost it and joins again.
    Joining,
    /// It has a lease and waits until those that were there before have acknowledged it.
    Waiting,
    /// It works on its keys.
    Working,
    /// Its lease could not be kept; what was in work is being cut off.
    Lost,
    /// It begins nothing more and gives its lease back when its work has ended.
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

/// A look at a replica's share, for people and metrics.
#[derive(Clone, Debug, PartialEq)]
pub struct ShardState {
    /// The name of this replica's lease.
    pub lease: String,
    /// How far it is.
    pub phase: SharePhase,
    /// The leases of the group, in order, this replica's included.
    pub members: Vec<String>,
    /// The part of all keys that is this replica's, 0 to 1.
    pub share: f64,
    /// Workers of this replica that have a key.
    pub in_work: usize,
    /// Keys in work that belong to others by now; they wait for them.
    pub finishing: usize,
    /// Own keys that others have not finished.
    pub blocked: usize,
    /// Members that have not acknowledged this replica.
    pub waiting_for: Vec<String>,
    /// How often the keys of this replica have changed.
    pub hand_overs: u64,
    /// How often the lease could not be kept.
    pub lost: u64,
    /// What the last request that failed was answered with; `None` once one has succeeded.
    pub last_error: Option<String>,
}

/// Whether a key may be worked on.
pub(crate) enum Begin {
    Begun(InWork),
    /// Perhaps after the gate has changed, which it has done this often so far.
    Later(u64),
    Foreign,
}

/// A key in work, until it is dropped.
pub(crate) struct InWork {
    inner: Arc<Inner>,
    key: u64,
    cut_off: CancellationToken,
}

impl InWork {
    /// Waits until the work has to be given up.
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
        let look = Look {
            phase: SharePhase::Joining,
            members: BTreeSet::new(),
            awaited: Vec::new(),
            last_error: None,
            hand_overs: 0,
            lost: 0,
        };
        let state = State { gate: Gate::new(), version: 0, cut_off: CancellationToken::new(), look };
        let inner = Inner {
            name: name.to_owned(),
            state: Mutex::new(state),
            changes: watch::Sender::new(0),
            finished: Notify::new(),
        };
        Shard { inner: Arc::new(inner) }
    }

    /// Whether this replica may work on `key` now.
    ///
    /// It is only good for a look, such as in a log or a test: between the answer and what follows from it, the key may
    /// change hands. Reconcilers need not ask; their controller does.
    #[must_use]
    pub fn owns(&self, key: &str) -> bool {
        let key = ring::hash(key);
        self.inner.state().gate.verdict(now(), key) == Verdict::Begun
    }

    /// How things are.
    #[must_use]
    pub fn state(&self) -> ShardState {
        let state = self.inner.state();
        let ownership = state.gate.ownership();
        let look = state.look.clone();
        ShardState {
            lease: self.inner.name.clone(),
            phase: look.phase,
            members: look.members.into_iter().collect(),
            share: ownership.as_ref().map_or(0.0, |ownership| ownership.ring.share()),
            in_work: state.gate.in_flight(),
            finishing: state.gate.lost().len(),
            blocked: ownership.map_or(0, |ownership| {
                ownership.blocked.iter().filter(|key| ownership.ring.owns(**key)).count()
            }),
            waiting_for: look.awaited,
            hand_overs: look.hand_overs,
            lost: look.lost,
            last_error: look.last_error,
        }
    }

    /// The hash by which keys are shared out.
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

    /// Told of each change of [`Self::ownership`], with its number.
    pub(crate) fn changes(&self) -> watch::Receiver<u64> {
        self.inner.changes.subscribe()
    }

    /// The keys that may begin, and how often that has changed.
    pub(crate) fn ownership(&self) -> (u64, Option<Arc<Ownership>>) {
        let state = self.inner.state();
        (state.version, state.gate.ownership())
    }

    /// Waits until a key has ended that others wait for.
    pub(super) async fn finished(&self) {
        self.inner.finished.notified().await;
    }

    /// Keys in work that are not this member's any more.
    pub(super) fn lost(&self) -> BTreeSet<u64> {
        self.inner.state().gate.lost()
    }

    /// Puts in force what the protocol has decided.
    pub(super) fn apply(&self, membership: &Membership, mode: Option<Mode>, is_lost: bool) {
        let mut state = self.inner.state();
        let State { gate, version, cut_off, look } = &mut *state;
        gate.set_valid_until(membership.valid_until());
        look.phase = match membership.phase() {
            Phase::Joining => SharePhase::Joining,
            Phase::Waiting => SharePhase::Waiting,
            Phase::Working => SharePhase::Working,
            Phase::Lost => SharePhase::Lost,
            Phase::Leaving => SharePhase::Leaving,
            Phase::Ended => SharePhase::Ended,
        };
        look.members = membership.members();
        look.awaited = membership.awaited().map(str::to_owned).collect();
        look.lost += u64::from(is_lost);
        let Some(mode) = mode else { return };
        *version += 1;
        let version = *version;
        let before = gate.ownership();
        let stopped = (mode == Mode::Stopped).then(|| std::mem::take(cut_off));
        gate.set_mode(mode);
        let after = gate.ownership();
        look.hand_overs +=
            u64::from(before.map(|before| before.ring.clone()) != after.map(|after| after.ring.clone()));
        drop(state);
        if let Some(stopped) = stopped {
            stopped.cancel();
        }
        self.inner.changes.send_replace(version);
    }

    pub(super) fn set_last_error(&self, error: Option<String>) {
        self.inner.state().look.last_error = error;
    }

    /// Nothing begins any more, and what is in work is cut off: nobody renews the lease.
    pub(super) fn stop(&self) {
        let mut state = self.inner.state();
        state.gate.set_mode(Mode::Stopped);
        state.look.phase = SharePhase::Ended;
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
