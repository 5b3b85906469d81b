//! Further users of an environment.

use kube::{Client, Config};

use crate::error::Error;
use crate::kubeconfig;

/// A user to add to an environment with [`TestEnv::add_user`](crate::TestEnv::add_user).
///
/// kube-apiserver authorizes it by the bindings of its name and groups; members of `system:masters` may do everything.
/// So does the embedded server with [`rbac`](crate::TestEnvBuilder::rbac); without it, every user may do everything.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct User {
    /// The user's name.
    pub name: String,
    /// The groups of the user, in addition to `system:authenticated`.
    pub groups: Vec<String>,
}

/// A user of an environment's server.
#[derive(Clone)]
pub struct AuthenticatedUser {
    kubeconfig: String,
    config: Config,
    client: Client,
}

impl std::fmt::Debug for AuthenticatedUser {
    /// Omits the credentials.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("AuthenticatedUser").finish_non_exhaustive()
    }
}

impl AuthenticatedUser {
    /// `client` may have a shorter connection than the kubeconfig.
    pub(crate) async fn new(kubeconfig: String, client: Option<Client>) -> Result<Self, Error> {
        let config = kubeconfig::read(&kubeconfig).await?;
        let client = match client {
            Some(client) => client,
            None => Client::try_from(config.clone()).map_err(|e| Error::Config(e.to_string()))?,
        };
        Ok(Self { kubeconfig, config, client })
    }

    /// Returns a kubeconfig for this user, as YAML.
    #[must_use]
    pub fn kubeconfig(&self) -> &str {
        &self.kubeconfig
    }

    /// Returns a client configuration for this user.
    #[must_use]
    pub fn config(&self) -> Config {
        self.config.clone()
    }

    /// Returns a client that acts as this user. With the embedded server it needs no socket.
    #[must_use]
    pub fn client(&self) -> Client {
        self.client.clone()
    }
}
