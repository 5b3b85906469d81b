//! Failures of controllers.

use std::time::Duration;

use tokio::task::JoinError;

/// A controller's run failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ControllerError {
    /// A cache did not fill in time. See the informer's errors: the server may refuse the list, or the kind may not
    /// be installed.
    #[error(
        "controller {controller:?}: waited {} s for the caches of {waiting_for}; check that the kind is installed and that the role allows list and watch",
        waited.as_secs_f64()
    )]
    CacheSyncTimeout {
        /// The controller's name.
        controller: String,
        /// The caches that did not fill.
        waiting_for: String,
        /// The time that it waited.
        waited: Duration,
    },
    /// Workers did not end within the grace period and were aborted.
    #[error(
        "controller {controller:?}: {in_work} keys were in work and {queued} were queued at the end of the grace period of {} s; their workers were aborted",
        grace.as_secs_f64()
    )]
    ShutdownTimeout {
        /// The controller's name.
        controller: String,
        /// The number of reconciles that were aborted.
        in_work: usize,
        /// The number of keys that no worker took.
        queued: usize,
        /// The grace period.
        grace: Duration,
    },
    /// The controller works on a share of the keys, but has no function that assigns keys to shares.
    #[error("controller {controller:?} is sharded, but its keys have no shard key: call shard_by")]
    NotShardable {
        /// The controller's name.
        controller: String,
    },
    /// The controller shares keys by leases, and its cache contains only the objects of a shard: nobody would work on
    /// objects that one assigns to this replica and the other does not.
    #[error(
        "controller {controller:?} is sharded by leases and by the shard selector of its cache: use one of the two"
    )]
    ShardedTwice {
        /// The controller's name.
        controller: String,
    },
    /// A worker panicked outside of the reconciler, in the code of a key, a rate limiter or an error policy.
    #[error("controller {controller:?}: a worker panicked: {source}")]
    WorkerPanicked {
        /// The controller's name.
        controller: String,
        /// The panic.
        source: JoinError,
    },
}
