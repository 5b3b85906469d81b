//! Failures of managers.

use std::error::Error as StdError;
use std::io;
use std::time::Duration;

use super::BindAddress;
use crate::informer::CacheSyncError;
use crate::leaderelection::LeaderElectionError;
use crate::sharding::ShardingError;

/// A manager's run failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ManagerError {
    /// An endpoint's address cannot be used.
    #[error("cannot serve {what} on {address}: {source}")]
    Bind {
        /// `metrics`, `health` or `debug`.
        what: &'static str,
        /// The address.
        address: BindAddress,
        /// The system's error.
        source: io::Error,
    },
    /// The certificate of the metrics endpoint cannot be used.
    #[cfg(feature = "webhook")]
    #[error("cannot serve metrics over TLS: {0}")]
    MetricsCertificate(#[source] crate::webhook::CertificateError),
    /// The metrics endpoint's own certificate cannot be made.
    #[cfg(feature = "cert-rotation")]
    #[error("cannot serve metrics over TLS: {0}")]
    OwnCertificate(#[source] crate::webhook::RotationError),
    /// The metrics endpoint has no certificate, and without the feature `cert-rotation` the manager makes none.
    #[cfg(not(feature = "cert-rotation"))]
    #[error(
        "metrics over TLS need a certificate: enable the feature `cert-rotation` of kubesmith-runtime, or its feature `webhook` and \
         give the certificate's folder with --metrics-cert-path. Or serve plain metrics: on a loopback address, such as \
         --metrics-bind-address=127.0.0.1:8080, or with --metrics-secure=false"
    )]
    NoMetricsCertificate,
    /// The metrics endpoint has a certificate, and is to be plain.
    #[cfg(feature = "clap")]
    #[error("--metrics-cert-path has no effect with --metrics-secure=false: omit one of them")]
    UnusedMetricsCertificate,
    /// Readers of metrics would send their tokens over plain HTTP.
    #[error(
        "readers of the metrics on {address} would send their tokens over plain HTTP: serve the metrics over TLS (--metrics-secure), on a \
         loopback address, such as 127.0.0.1:8080, or without authorization (--metrics-authorize=false)"
    )]
    PlainTokens {
        /// The address of the metrics.
        address: BindAddress,
    },
    /// Webhooks cannot be served.
    #[cfg(feature = "webhook")]
    #[error(transparent)]
    Webhooks(#[from] crate::webhook::ServerError),
    /// Caches did not fill in time.
    #[error(transparent)]
    Caches(#[from] CacheSyncError),
    /// A part of the manager failed.
    #[error("{name} failed: {source}")]
    Runnable {
        /// The name of the part.
        name: String,
        /// Its error.
        source: Box<dyn StdError + Send + Sync>,
    },
    /// The leadership was lost.
    #[error(transparent)]
    Leader(#[from] LeaderElectionError),
    /// The group that shares the work could not be joined.
    #[error(transparent)]
    Sharding(#[from] ShardingError),
    /// With sharding every replica runs, and no elector chooses a leader among them.
    #[error(
        "{name} needs a leader, but with sharding every replica runs: call leader_election as well, or add it on every replica"
    )]
    NoLeader {
        /// The part that needs a leader.
        name: String,
    },
    /// Not all parts ended within the grace period; the rest was aborted.
    #[error("some runnables did not end within the grace period of {} s and were aborted", .0.as_secs_f64())]
    ShutdownTimeout(Duration),
}
