//! Failures of elections.

/// An election ended without being stopped.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LeaderElectionError {
    /// The lease was not renewed in time, or another candidate took it.
    #[error("{identity} lost the lease {lease}: it was not renewed in time, or another candidate took it")]
    Lost {
        /// Namespace and name of the lease.
        lease: String,
        /// The identity of the former leader.
        identity: String,
    },
    /// The leader's work panicked.
    #[error("the work of {identity}, leader of {lease}, panicked: {message}")]
    Panicked {
        /// Namespace and name of the lease.
        lease: String,
        /// The identity of the former leader.
        identity: String,
        /// The panic's message.
        message: String,
    },
}
