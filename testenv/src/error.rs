//! Errors of the test environment itself.

use std::path::PathBuf;

use kubesmith_apiserver::DataError;

use crate::kind::Backend;
use crate::process::ProcessError;

/// The reason why an operation of a test environment failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A file with CRDs could not be read.
    #[error("{path}: {source}")]
    Read {
        /// The file or folder.
        path: PathBuf,
        /// The system's error.
        source: std::io::Error,
    },
    /// A file holds no readable YAML or JSON.
    #[error("{path}: document {document}: {source}")]
    Parse {
        /// The file.
        path: PathBuf,
        /// The number of the document in the file, from 1.
        document: usize,
        /// The parser's error.
        source: serde_yaml::Error,
    },
    /// A CRD was refused.
    #[error("the CRD {name:?} was refused: {}", said(source))]
    Install {
        /// The CRD's name.
        name: String,
        /// The server's response.
        source: Box<kube::Error>,
    },
    /// A CRD could not be deleted.
    #[error("the CRD {name:?} could not be deleted: {}", said(source))]
    Uninstall {
        /// The CRD's name.
        name: String,
        /// The server's response.
        source: Box<kube::Error>,
    },
    /// A webhook configuration was refused.
    #[error("the webhook configuration {name:?} was refused: {}", said(source))]
    InstallWebhook {
        /// The configuration's name.
        name: String,
        /// The server's response.
        source: Box<kube::Error>,
    },
    /// A webhook configuration could not be deleted.
    #[error("the webhook configuration {name:?} could not be deleted: {}", said(source))]
    UninstallWebhook {
        /// The configuration's name.
        name: String,
        /// The server's response.
        source: Box<kube::Error>,
    },
    /// The certificates of the local webhook server could not be written.
    #[error("cannot write the certificates of the local webhook server: {0}")]
    ServingCertificates(std::io::Error),
    /// A CRD was deleted but is still there; the objects of its kind may have finalizers.
    #[error("the CRD {name:?} was deleted but still exists; check the finalizers of its objects")]
    NotUninstalled {
        /// The CRD's name.
        name: String,
    },
    /// A CRD was stored but is not served.
    #[error("the CRD {name:?} is not established: {reason}")]
    NotEstablished {
        /// The CRD's name.
        name: String,
        /// The text of its conditions.
        reason: String,
    },
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
    /// A client could not be configured.
    #[error("cannot configure a client: {0}")]
    Config(String),
    /// The folder for the data cannot be used.
    #[error("{path}: {source}")]
    Data {
        /// The file or folder.
        path: PathBuf,
        /// Its fault.
        source: DataError,
    },
    /// The data can no longer be written; all further requests fail.
    #[error("{0}")]
    Storage(String),
    /// An option was set that has no effect on the back end in use.
    #[error(
        "`{option}` has no effect on {backend}: remove it, or choose another back end with `TestEnvBuilder::backend`"
    )]
    Unsupported {
        /// The method of [`TestEnvBuilder`](crate::TestEnvBuilder) or [`TestEnv`](crate::TestEnv).
        option: &'static str,
        /// The back end in use.
        backend: Backend,
    },
    /// A flag was changed that the environment itself sets.
    #[error("the flag --{flag} cannot be changed: the test environment sets it")]
    ReservedFlag {
        /// The flag's name.
        flag: &'static str,
    },
    /// A time in the process environment cannot be read.
    #[error("failed to default controlplane timeouts: {variable}={value:?}: {reason}")]
    Timeout {
        /// The environment variable.
        variable: &'static str,
        /// Its contents.
        value: String,
        /// The reason why it is not a valid timeout.
        reason: String,
    },
    /// etcd or kube-apiserver did not start.
    #[error(
        "unable to start control plane itself: failed to start the controlplane. retried {tries} times: {source}{logs}"
    )]
    ControlPlane {
        /// The number of attempts.
        tries: u32,
        /// The error of the last attempt.
        source: ProcessError,
        /// The last lines of both logs; empty if their output was attached.
        logs: String,
    },
    /// etcd or kube-apiserver did not stop when asked to.
    #[error(transparent)]
    Stop(ProcessError),
    /// The folder of a control plane could not be made or written.
    #[error("cannot write the control plane's temporary folder: {0}")]
    Folder(std::io::Error),
    /// There are no free ports.
    #[error("unable to provision unused ports: {0}")]
    Ports(std::io::Error),
    /// There is no usable configuration for an existing cluster.
    #[error("unable to get configuration for existing cluster: {source}")]
    ExistingCluster {
        /// The fault of the kubeconfig; inside a cluster, the service account is missing too.
        source: Box<kube::config::KubeconfigError>,
    },
    /// The server runs but is not ready for use.
    #[error("default namespace didn't register within deadline: {reason}")]
    NotReady {
        /// The server's last response.
        reason: String,
    },
    /// kubectl could not be run.
    #[error("cannot run {path}: {source}")]
    Kubectl {
        /// The binary.
        path: PathBuf,
        /// The system's error.
        source: std::io::Error,
    },
}

/// Returns the server's message, without the rest of the status.
fn said(error: &kube::Error) -> String {
    match error {
        kube::Error::Api(status) => status.message.clone(),
        other => other.to_string(),
    }
}

impl From<kubesmith_apiserver::Error> for Error {
    fn from(error: kubesmith_apiserver::Error) -> Self {
        use kubesmith_apiserver::Error as Server;
        match error {
            Server::Listen { addr, source } => Self::Listen { addr, source },
            Server::Certificates(text) => Self::Certificates(text),
            Server::Data { path, source } => Self::Data { path, source },
            Server::Storage(text) => Self::Storage(text),
            other => Self::Config(other.to_string()),
        }
    }
}
