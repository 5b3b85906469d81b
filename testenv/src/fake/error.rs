//! Errors of fakes.

use kube::core::Status;

/// Errors of a fake.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FakeError {
    /// An object cannot be written as JSON, or a text read as one.
    #[error("{0}")]
    Unreadable(String),
    /// The fake lacks the kind.
    #[error(
        "the fake does not know the kind {kind:?} of {api_version:?}: add its CRD with `FakeBuilder::crds`"
    )]
    UnknownKind {
        /// The object's `apiVersion`.
        api_version: String,
        /// The object's `kind`.
        kind: String,
    },
    /// A CRD was refused.
    #[error("the CRD {name:?} was refused: {}", status.message)]
    Crd {
        /// The CRD's name.
        name: String,
        /// The error of a server.
        status: Box<Status>,
    },
    /// An object cannot be stored: it exists already or does not exist yet, or every server would refuse it.
    #[error("{}", .0.message)]
    Refused(Box<Status>),
    /// Clients need tokio.
    #[error("a fake clientset needs a tokio runtime: create it inside of `#[tokio::test]`")]
    NoRuntime,
    /// The embedded server did not start, or a file could not be read.
    #[error(transparent)]
    Server(#[from] crate::Error),
}
