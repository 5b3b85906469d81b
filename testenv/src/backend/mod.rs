//! The back end of an environment: this process, processes that the environment starts, or an existing cluster.

mod choice;
mod control_plane;
mod embedded;
mod existing;

use kube::{Client, Config};
use kubesmith_apiserver::{ApiServer, ApiServerOptions};

pub use control_plane::Arguments;

pub(crate) use choice::Variables;
pub(crate) use control_plane::ControlPlaneOptions;

use crate::error::Error;
use crate::fault::{self, Upstream};
use crate::kind::Backend;
use crate::kubeconfig;
use crate::user::{AuthenticatedUser, User};
use control_plane::{ControlPlane, Plan};
use existing::Existing;

/// A builder's settings of back ends.
#[derive(Debug, Default)]
pub(crate) struct Options {
    /// `None` leaves the choice to the environment variables.
    pub(crate) backend: Option<Backend>,
    pub(crate) embedded: ApiServerOptions,
    pub(crate) control_plane: ControlPlaneOptions,
    pub(crate) cluster: Option<Config>,
}

impl Options {
    /// Returns the back end to start, unless an option has no effect on it.
    fn choose(&self, variables: &Variables) -> Result<Backend, Error> {
        let backend = self.backend.unwrap_or_else(|| variables.backend());
        let foreign = [
            embedded::unknown_to(&self.embedded, backend),
            self.control_plane.unknown_to(backend),
            self.cluster.as_ref().filter(|_| backend != Backend::ExistingCluster).map(|_| "cluster_config"),
        ];
        match foreign.into_iter().flatten().next() {
            Some(option) => Err(Error::Unsupported { option, backend }),
            None => Ok(backend),
        }
    }
}

/// A back end that runs.
#[derive(Debug)]
pub(crate) enum Running {
    Embedded(ApiServer),
    // Boxed, as the others are far smaller.
    ControlPlane(Box<ControlPlane>),
    Existing(Box<Existing>),
}

impl Running {
    /// Starts the back end or connects to it; also returns a client with all rights.
    pub(crate) async fn start(options: Options, variables: &Variables) -> Result<(Self, Client), Error> {
        match options.choose(variables)? {
            Backend::Embedded => {
                let server = ApiServer::start(options.embedded)?;
                let client = embedded::client(&server);
                Ok((Running::Embedded(server), client))
            }
            Backend::ControlPlane => {
                let plan = Plan::new(options.control_plane, variables)?;
                let control_plane = ControlPlane::start(&plan).await?;
                let client = control_plane.client().await?;
                Ok((Running::ControlPlane(Box::new(control_plane)), client))
            }
            Backend::ExistingCluster => {
                let existing = Existing::connect(options.cluster, variables).await?;
                let client = existing.client()?;
                Ok((Running::Existing(Box::new(existing)), client))
            }
        }
    }

    pub(crate) fn kind(&self) -> Backend {
        match self {
            Running::Embedded(_) => Backend::Embedded,
            Running::ControlPlane(_) => Backend::ControlPlane,
            Running::Existing(_) => Backend::ExistingCluster,
        }
    }

    /// Returns the server's address for other processes.
    pub(crate) fn url(&self) -> Option<String> {
        match self {
            Running::Embedded(server) => server.url(),
            Running::ControlPlane(control_plane) => Some(control_plane.url().to_owned()),
            Running::Existing(existing) => Some(existing.url()),
        }
    }

    /// Returns a kubeconfig with all rights, as YAML.
    pub(crate) async fn kubeconfig(&mut self) -> Result<String, Error> {
        match self {
            Running::Embedded(server) => Ok(server.kubeconfig().await?),
            Running::ControlPlane(control_plane) => Ok(control_plane.kubeconfig().to_owned()),
            Running::Existing(existing) => existing.kubeconfig(),
        }
    }

    /// Returns a connection to the server with all rights, for a proxy.
    pub(crate) async fn upstream(&self) -> Result<Upstream, Error> {
        match self {
            Running::Embedded(server) => Ok(fault::boxed(server.service())),
            Running::ControlPlane(control_plane) => {
                fault::upstream(&kubeconfig::read(control_plane.kubeconfig()).await?)
            }
            Running::Existing(existing) => fault::upstream(existing.config()),
        }
    }

    /// Adds a user.
    pub(crate) async fn add_user(&mut self, user: &User) -> Result<AuthenticatedUser, Error> {
        match self {
            Running::Embedded(server) => embedded::add_user(server, user).await,
            Running::ControlPlane(control_plane) => {
                let kubeconfig = control_plane.add_user(&user.name, &user.groups)?;
                AuthenticatedUser::new(kubeconfig, None).await
            }
            Running::Existing(_) => Err(self.unsupported("add_user")),
        }
    }

    /// Returns the embedded server, for an `operation` that no other back end supports.
    pub(crate) fn embedded(&self, operation: &'static str) -> Result<&ApiServer, Error> {
        match self {
            Running::Embedded(server) => Ok(server),
            _ => Err(self.unsupported(operation)),
        }
    }

    /// As [`Running::embedded`], for an operation that changes it.
    pub(crate) fn embedded_mut(&mut self, operation: &'static str) -> Result<&mut ApiServer, Error> {
        let unsupported = self.unsupported(operation);
        match self {
            Running::Embedded(server) => Ok(server),
            _ => Err(unsupported),
        }
    }

    fn unsupported(&self, option: &'static str) -> Error {
        Error::Unsupported { option, backend: self.kind() }
    }

    pub(crate) async fn stop(self) -> Result<(), Error> {
        match self {
            Running::Embedded(server) => server.stop().await,
            Running::ControlPlane(control_plane) => control_plane.stop().await?,
            // The cluster keeps running.
            Running::Existing(_) => {}
        }
        Ok(())
    }
}
