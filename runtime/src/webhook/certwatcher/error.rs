//! Errors of certificates.

use std::io;
use std::path::PathBuf;

use jiff::Timestamp;

/// The files do not contain a usable certificate and key. [`CertWatcher`](super::CertWatcher) has an example.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CertificateError {
    /// A file cannot be read.
    #[error(
        "cannot read {path}: {source}; in a cluster, check that the Secret with the certificate is mounted there; \
         in development, `kubesmith serve --webhook-cert-dir` writes it"
    )]
    Read {
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// A file has the wrong content.
    #[error("{path} has no usable {what} in PEM: {reason}")]
    Malformed {
        /// The file.
        path: PathBuf,
        /// `certificate` or `private key`.
        what: &'static str,
        /// The fault.
        reason: String,
    },
    /// The key belongs to another certificate.
    #[error("the key in {key} does not belong to the certificate in {certificate}: {source}")]
    Mismatch {
        /// The certificate's file.
        certificate: PathBuf,
        /// The key's file.
        key: PathBuf,
        /// The error of rustls.
        source: rustls::Error,
    },
    /// The certificate has expired.
    #[error("the certificate in {path} expired at {not_after}; renew it")]
    Expired {
        /// The file.
        path: PathBuf,
        /// The end of its validity.
        not_after: Timestamp,
    },
    /// The certificate is not valid yet.
    #[error("the certificate in {path} is not valid before {not_before}; check the clocks")]
    NotYetValid {
        /// The file.
        path: PathBuf,
        /// The beginning of its validity.
        not_before: Timestamp,
    },
    /// TLS cannot be set up with this certificate and key.
    #[error("cannot set up TLS: {0}")]
    Tls(#[source] rustls::Error),
}
