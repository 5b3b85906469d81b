//! What the core and its shell tell each other.

use std::collections::BTreeSet;

use k8s_openapi::api::coordination::v1::Lease;

use super::gate::Mode;

/// What the shell is to send.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Request {
    /// All leases of the group, as they are now.
    List,
    Create(Box<Lease>),
    /// Replaces the version that the lease carries.
    Update(Box<Lease>),
    /// Deletes the lease of this name, if it is still that uid and, where given, version.
    Delete {
        name: String,
        uid: String,
        version: Option<String>,
    },
}

/// What came back.
#[derive(Clone, Debug)]
pub(super) enum Answer {
    Leases(Vec<Lease>),
    /// The lease as written.
    Lease(Box<Lease>),
    Deleted,
    /// Refused, not reached, or not as the request expected.
    Failed,
}

#[derive(Clone, Debug)]
pub(super) enum Input {
    /// Time has passed.
    Tick,
    Answer(Answer),
    /// The keys in work that the gate of this version does not let through.
    Finishing {
        version: u64,
        keys: BTreeSet<u64>,
    },
    /// Let what is in work end, give the lease back, and end.
    Leave,
}

/// What the shell does next.
#[derive(Clone, Debug, Default)]
pub(super) struct Step {
    /// To send; whatever is on its way is to be dropped.
    pub(super) send: Option<Request>,
    /// For the gate; [`Input::Finishing`] is to follow at once.
    pub(super) gate: Option<(u64, Mode)>,
    /// The lease could not be kept.
    pub(super) is_lost: bool,
}

/// Where a member is on its way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    /// Without a lease.
    Joining,
    /// With a lease, until all who were there before have acknowledged it.
    Waiting,
    Working,
    /// The lease could not be kept; until the work is cut off.
    Lost,
    /// Until the work has ended and the lease is deleted.
    Leaving,
    Ended,
}
