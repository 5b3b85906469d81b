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
        "Secret {secret} is missing and cannot be created: apply the manifests again, they include an empty one ({source})"
    )]
    Missing {
        /// `namespace/name`.
        secret: String,
        /// The server's refusal.
        source: Box<client::Error>,
    },
    /// The Secret holds other data.
    #[error(
        "Secret {secret} is not a Secret of serving certificates: it has the key {key:?}, which no rotator wrote; choose \
         another name, or delete the Secret if it is unused"
    )]
    Foreign {
        /// `namespace/name`.
        secret: String,
        /// A key of its data.
        key: String,
    },
    /// cert-manager writes the Secret.
    #[error(
        "cert-manager writes Secret {secret} for Certificate {certificate}: delete that Certificate and the Secret, or let \
         cert-manager manage the certificates"
    )]
    CertManager {
        /// `namespace/name`.
        secret: String,
        /// The Certificate.
        certificate: String,
    },
    /// A certificate cannot be made.
    #[error(
        "cannot issue a certificate for {names:?}: {reason}; set the Service or a DNS name without wildcards first"
    )]
    Issue {
        /// The names that it should be for; clients ask for the first.
        names: Vec<String>,
        /// The fault.
        reason: String,
    },
    /// Other writers changed the Secret at each try.
    #[error("other clients keep changing Secret {secret}; the write is retried later")]
    Contended {
        /// `namespace/name`.
        secret: String,
    },
}
