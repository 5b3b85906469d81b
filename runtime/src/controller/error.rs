//! Why a controller ends badly.

use std::time::Duration;

use tokio::task::JoinError;

/// Why a controller's run ended badly.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ControllerError {
    /// A cache did not fill in time. Look at the informer's errors: the server may refuse the list, or the kind may
    /// not be installed.
    #[error(
        "controller {controller:?}: waited {} s for the caches of {waiting_for}; is the kind installed and may it be listed?",
        waited.as_secs_f64()
    )]
    CacheSyncTimeout {
        /// The controller's name.
        controller: String,
        /// The caches that did not fill.
        waiting_for: String,
        /// How long it waited.
        waited: Duration,
    },
    /// Workers did not end within the grace period and were aborted.
    #[error(
        "controller {controller:?}: {in_work} keys in work and {queued} queued when the grace of {} s had passed; their workers were aborted",
        grace.as_secs_f64()
    )]
    ShutdownTimeout {
        /// The controller's name.
        controller: String,
        /// Keys whose reconcile was cut off.
        in_work: usize,
        /// Keys nobody took any more.
        queued: usize,
        /// The grace period.
        grace: Duration,
    },
    /// The controller works on a share of the keys, but nothing tells how they are shared out.
    #[error(
        "controller {controller:?} is sharded, but its keys have no text to share them out by: call shard_by"
    )]
    NotShardable {
        /// The controller's name.
        controller: String,
    },
    /// A worker panicked outside of the reconciler, in a key's or a rate limiter's code.
    #[error("controller {controller:?}: a worker panicked: {source}")]
    WorkerPanicked {
        /// The controller's name.
        controller: String,
        /// The panic.
        source: JoinError,
    },
}
