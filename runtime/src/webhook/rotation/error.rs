//! Errors of self-managed certificates.

use crate::client;

/// The serving certificate cannot be kept. [`CertRotator`](super::CertRotator) has an example.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RotationError {
    /// A request failed.
    #[error(transparent)]
    Client(#[from] client::Error),
    /// The Secret is missing, and this program may not create it.
    #[error(
        "Secret {secret} is missing and cannot be created: apply the manifests again, which have an empty one ({source})"
    )]
    Missing {
        /// `namespace/name`.
        secret: String,
        /// The server's refusal.
        source: Box<client::Error>,
    },
    /// The Secret holds other data.
    #[error(
        "Secret {secret} is no Secret of serving certificates: it has the key {key:?}, which no rotator wrote; choose \
         another name, or delete the Secret if nobody needs it"
    )]
    Foreign {
        /// `namespace/name`.
        secret: String,
        /// A key of its data.
        key: String,
    },
    /// cert-manager writes the Secret.
    #[error(
        "cert-manager writes Secret {secret} for Certificate {certificate}: delete that Certificate and the Secret, or leave \
         certificates to cert-manager"
    )]
    CertManager {
        /// `namespace/name`.
        secret: String,
        /// The Certificate.
        certificate: String,
    },
    /// A certificate cannot be made.
    #[error(
        "cannot make a certificate for {names:?}: {reason}; set the Service or another DNS name without wildcards first"
    )]
    Issue {
        /// The names that it should be for; clients ask for the first.
        names: Vec<String>,
        /// The fault.
        reason: String,
    },
    /// Other writers changed the Secret at each try.
    #[error("Secret {secret} keeps being changed by others; it is tried again later")]
    Contended {
        /// `namespace/name`.
        secret: String,
    },
}
