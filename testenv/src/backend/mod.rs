//! Where an environment's API server is: in this process, in processes that the environment starts, or somewhere else.

mod embedded;

use kube::Client;

pub(crate) use embedded::{Embedded, EmbeddedOptions};

use crate::error::Error;

/// A back end that runs.
#[derive(Debug)]
pub(crate) enum Running {
    Embedded(Embedded),
}

impl Running {
    /// A client with all rights.
    pub(crate) fn client(&self) -> Client {
        match self {
            Running::Embedded(embedded) => embedded.client(),
        }
    }

    /// The address that other processes reach the server at.
    pub(crate) fn url(&self) -> Option<String> {
        match self {
            Running::Embedded(embedded) => embedded.url(),
        }
    }

    /// A kubeconfig with all rights, as YAML.
    pub(crate) async fn kubeconfig(&mut self) -> Result<String, Error> {
        match self {
            Running::Embedded(embedded) => embedded.kubeconfig().await,
        }
    }

    /// The embedded server, for `operation` that only it can do.
    pub(crate) fn embedded(&self, _operation: &'static str) -> Result<&Embedded, Error> {
        match self {
            Running::Embedded(embedded) => Ok(embedded),
        }
    }

    /// As [`Running::embedded`], for an operation that changes it.
    pub(crate) fn embedded_mut(&mut self, _operation: &'static str) -> Result<&mut Embedded, Error> {
        match self {
            Running::Embedded(embedded) => Ok(embedded),
        }
    }

    pub(crate) async fn stop(self) -> Result<(), Error> {
        match self {
            Running::Embedded(embedded) => embedded.stop().await,
        }
        Ok(())
    }
}
