//! Errors of the server itself.

use std::path::PathBuf;

/// The reason why a server cannot start, listen or continue.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The address could not be listened on.
    #[error("cannot listen on {addr}: {source}")]
    Listen {
        /// The address.
        addr: std::net::SocketAddr,
        /// The system's error.
        source: std::io::Error,
    },
    /// Certificates could not be made.
    #[error("cannot create certificates: {0}")]
    Certificates(String),
    /// The folder for the data cannot be used.
    #[error("{path}: {source}")]
    Data {
        /// The file or folder.
        path: PathBuf,
        /// The fault.
        source: DataError,
    },
    /// The data can no longer be written; all further requests fail.
    #[error("{0}")]
    Storage(String),
}

/// The fault of a folder for data.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DataError {
    /// Two servers never share a folder.
    #[error("another process uses this folder")]
    InUse,
    /// The file holds something else.
    #[error("this file was not written by kubesmith")]
    Foreign,
    /// The file was written by another version.
    #[error("the file has format {found}, and this version of kubesmith reads format {known}")]
    Format {
        /// The file's format.
        found: u32,
        /// The format that can be read.
        known: u32,
    },
    /// The file has lost data that was on the disk already.
    #[error("the file is damaged at byte {at}: {what}")]
    Damaged {
        /// The start of the damage, in bytes.
        at: u64,
        /// The kind of damage.
        what: &'static str,
    },
    /// The system returned an error.
    #[error(transparent)]
    Io(#[from] std::io::Error),
}
