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
}
