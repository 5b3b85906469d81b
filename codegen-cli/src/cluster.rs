//! Reads the CustomResourceDefinitions of a cluster. Without the feature `cluster`, returns an error.

#[cfg(feature = "cluster")]
mod client;
#[cfg(feature = "cluster")]
pub(crate) use client::with_client;

use std::path::PathBuf;

use clap::Args;
use kubesmith_core::names::dns_subdomain;

use crate::import::Input;

/// How a cluster is reached.
#[derive(Clone, Debug, Default, Args)]
pub struct Access {
    /// The kubeconfig; default: as kubectl finds it, or the service account of the pod that this runs in.
    #[arg(long, value_name = "FILE")]
    pub kubeconfig: Option<PathBuf>,
    /// The context of the kubeconfig; default: the current one.
    #[arg(long, value_name = "NAME")]
    pub context: Option<String>,
}

/// The requested definitions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// All.
    All,
    /// These, all of which must exist.
    Named(Vec<String>),
    /// Those of these that exist.
    IfThere(Vec<String>),
}

/// The reason why a cluster yields no definitions.
#[derive(Debug, thiserror::Error)]
pub enum ClusterError {
    /// There is no usable kubeconfig.
    #[error("cannot use the kubeconfig: {0}")]
    Kubeconfig(String),
    /// The kubeconfig has no such context.
    #[error("the kubeconfig has no context `{name}`")]
    NoContext {
        /// The request.
        name: String,
        /// A context of a similar name.
        similar: Option<String>,
    },
    /// The server cannot be reached, or its certificate is not trusted.
    #[error("cannot reach {url}: {reason}")]
    Unreachable {
        /// The server.
        url: String,
        /// The reason.
        reason: String,
    },
    /// The server does not know the user.
    #[error("{url} does not accept the credentials: {reason}")]
    Unauthorized {
        /// The server.
        url: String,
        /// The server's message.
        reason: String,
    },
    /// The user may not read definitions.
    #[error("{url} forbids reading CustomResourceDefinitions: {reason}")]
    Forbidden {
        /// The server.
        url: String,
        /// The server's message.
        reason: String,
    },
    /// The name cannot be that of a definition.
    #[error("{name:?} is not a valid name of a CustomResourceDefinition")]
    Name {
        /// The request.
        name: String,
    },
    /// There is no definition of this name.
    #[error("the cluster has no CustomResourceDefinition `{name}`")]
    NotFound {
        /// The request.
        name: String,
        /// A definition of a similar name.
        similar: Option<String>,
    },
    /// The feature `cluster` is off.
    #[error("this build of kubesmith cannot read clusters")]
    NotBuilt,
    /// The server responds with another error.
    #[error("{url} returned an error: {reason}")]
    Refused {
        /// The server.
        url: String,
        /// The server's message.
        reason: String,
    },
}

impl ClusterError {
    /// Advice.
    pub fn help(&self) -> String {
        match self {
            ClusterError::Kubeconfig(_) => {
                "set one with --kubeconfig FILE or the environment variable KUBECONFIG".to_owned()
            }
            ClusterError::NoContext { similar: Some(name), .. } => format!("did you mean `{name}`?"),
            ClusterError::NoContext { .. } => "kubectl config get-contexts lists them".to_owned(),
            ClusterError::Unreachable { .. } => {
                "check whether kubectl reaches the server with the same kubeconfig".to_owned()
            }
            ClusterError::Unauthorized { .. } => {
                "log in again, or choose another context with --context".to_owned()
            }
            ClusterError::Forbidden { .. } => {
                "grant the verbs get and list on customresourcedefinitions.apiextensions.k8s.io".to_owned()
            }
            ClusterError::NotFound { similar: Some(name), .. } => format!("did you mean `{name}`?"),
            ClusterError::Name { .. } | ClusterError::NotFound { .. } => {
                "use a name from kubectl get crds: PLURAL.GROUP".to_owned()
            }
            ClusterError::NotBuilt => {
                "install kubesmith with its feature `cluster`, which is on by default, or name files with definitions"
                    .to_owned()
            }
            ClusterError::Refused { .. } => "the arguments are not the cause; try again".to_owned(),
        }
    }
}

/// Returns definitions of a cluster as texts, without server-set fields except the stored versions.
///
/// # Errors
/// Returns the errors listed in [`ClusterError`].
pub fn definitions(access: &Access, wanted: &Wanted) -> Result<Vec<Input>, ClusterError> {
    // Names become parts of URLs.
    if let Wanted::Named(names) = wanted
        && let Some(name) = names.iter().find(|name| dns_subdomain(name).is_err())
    {
        return Err(ClusterError::Name { name: name.clone() });
    }
    #[cfg(feature = "cluster")]
    return client::definitions(access, wanted);
    #[cfg(not(feature = "cluster"))]
    {
        let _ = access;
        Err(ClusterError::NotBuilt)
    }
}
