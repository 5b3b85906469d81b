//! Messages between the core and its shell.

use std::collections::BTreeSet;

use k8s_openapi::api::coordination::v1::Lease;

use super::gate::Mode;

/// A request for the shell to send.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Request {
    /// Lists all leases of the group.
    List,
    Create(Box<Lease>),
    /// Replaces the version that the lease carries.
    Update(Box<Lease>),
    /// Deletes the lease with this name, if it still has this uid and, if given, this version.
    Delete {
        name: String,
        uid: String,
        version: Option<String>,
    },
}

/// The response to a request.
#[derive(Clone, Debug)]
pub(super) enum Answer {
    Leases(Vec<Lease>),
    /// The lease as written.
    Lease(Box<Lease>),
    Deleted,
    /// The request was refused, did not arrive, or its condition failed.
    Failed,
}

#[derive(Clone, Debug)]
pub(super) enum Input {
    /// Time has passed.
    Tick,
    Answer(Answer),
    /// The keys in processing that the gate of this version does not let through.
    Finishing {
        version: u64,
        keys: BTreeSet<u64>,
    },
    /// Wait for the keys in processing, delete the lease, and end.
    Leave,
}

/// The shell's next step.
#[derive(Clone, Debug, Default)]
pub(super) struct Step {
    /// The request to send; an older one in flight is dropped.
    pub(super) send: Option<Request>,
    /// The gate's new mode; [`Input::Finishing`] must follow at once.
    pub(super) gate: Option<(u64, Mode)>,
    /// The lease was lost.
    pub(super) is_lost: bool,
}

/// The phase of a membership.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    /// It has no lease.
    Joining,
    /// It has a lease and waits until all earlier members have acknowledged it.
    Waiting,
    Working,
    /// It lost the lease and waits until the processing is aborted.
    Lost,
    /// It waits for its processing to end and its lease to be deleted.
    Leaving,
    Ended,
}
