//! Errors of the test environment itself.

use std::path::PathBuf;

/// Why a test environment could not do what it was asked to.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A file with CRDs could not be read.
    #[error("{path}: {source}")]
    Read {
        /// The file or folder.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// A file holds no readable YAML or JSON.
    #[error("{path}: document {document}: {source}")]
    Parse {
        /// The file.
        path: PathBuf,
        /// Which document of the file, from 1.
        document: usize,
        /// What the parser said.
        source: serde_yaml::Error,
    },
    /// A CRD was refused.
    #[error("the CRD {name:?} was refused: {source}")]
    Install {
        /// The CRD's name.
        name: String,
        /// What the server said.
        source: Box<kube::Error>,
    },
    /// A CRD was stored but is not served.
    #[error("the CRD {name:?} is not established: {reason}")]
    NotEstablished {
        /// The CRD's name.
        name: String,
        /// What its conditions say.
        reason: String,
    },
    /// The address could not be listened on.
    #[error("cannot listen on {addr}: {source}")]
    Listen {
        /// The address.
        addr: std::net::SocketAddr,
        /// What the system said.
        source: std::io::Error,
    },
    /// Certificates could not be made.
    #[error("cannot make certificates: {0}")]
    Certificates(String),
    /// A client could not be configured.
    #[error("cannot configure a client: {0}")]
    Config(String),
    /// The folder for the data cannot be used.
    #[error("{path}: {source}")]
    Data {
        /// The file or folder.
        path: PathBuf,
        /// What is wrong with it.
        source: DataError,
    },
    /// The data can no longer be written; nothing is answered any more.
    #[error("{0}")]
    Storage(String),
}

/// What is wrong with a folder for data.
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
    /// The file has lost something that was on the disk already.
    #[error("the file is damaged at byte {at}: {what}")]
    Damaged {
        /// Where the damage begins, in bytes.
        at: u64,
        /// What is wrong there.
        what: &'static str,
    },
    /// The system refused something.
    #[error(transparent)]
    Io(#[from] std::io::Error),
}
