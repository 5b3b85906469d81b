//! An existing cluster.

use kube::config::KubeConfigOptions;
use kube::{Client, Config};

use super::choice::Variables;
use crate::error::Error;
use crate::kubeconfig;

/// The access to the cluster.
pub(crate) struct Existing {
    config: Config,
}

impl std::fmt::Debug for Existing {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Existing").field("cluster_url", &self.config.cluster_url).finish_non_exhaustive()
    }
}

impl Existing {
    /// Connects with the `given` configuration, or looks for one.
    pub(crate) async fn connect(given: Option<Config>, variables: &Variables) -> Result<Self, Error> {
        let config = match given {
            Some(config) => config,
            None => look(variables).await?,
        };
        Ok(Self { config })
    }

    pub(crate) fn client(&self) -> Result<Client, Error> {
        Client::try_from(self.config.clone()).map_err(|e| Error::Config(e.to_string()))
    }

    pub(crate) fn config(&self) -> &Config {
        &self.config
    }

    pub(crate) fn url(&self) -> String {
        self.config.cluster_url.to_string().trim_end_matches('/').to_owned()
    }

    pub(crate) fn kubeconfig(&self) -> Result<String, Error> {
        kubeconfig::from_config(&self.config)
    }
}

/// Follows the order of controller-runtime's `GetConfig`: `KUBECONFIG`, inside a cluster its service account,
/// `~/.kube/config`.
async fn look(variables: &Variables) -> Result<Config, Error> {
    if !variables.names_kubeconfig()
        && let Ok(config) = Config::incluster()
    {
        return Ok(config);
    }
    Config::from_kubeconfig(&KubeConfigOptions::default())
        .await
        .map_err(|source| Error::ExistingCluster { source: Box::new(source) })
}
