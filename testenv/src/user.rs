//! Further users of an environment.

use kube::{Client, Config};

use crate::error::Error;
use crate::kubeconfig;

/// A user to add to an environment with [`TestEnv::add_user`](crate::TestEnv::add_user).
///
/// A kube-apiserver lets it do what its name and groups are bound to, and members of `system:masters` everything. So does the
/// embedded server with [`rbac`](crate::TestEnvBuilder::rbac); without it, every user may do everything.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct User {
    /// The user's name.
    pub name: String,
    /// The groups that the user belongs to, beside `system:authenticated`.
    pub groups: Vec<String>,
}

/// A user that an environment's server knows.
#[derive(Clone)]
pub struct AuthenticatedUser {
    kubeconfig: String,
    config: Config,
    client: Client,
}

impl std::fmt::Debug for AuthenticatedUser {
    /// Without what the user proves its name with.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("AuthenticatedUser").finish_non_exhaustive()
    }
}

impl AuthenticatedUser {
    /// `client` may know a shorter way than the kubeconfig.
    pub(crate) async fn new(kubeconfig: String, client: Option<Client>) -> Result<Self, Error> {
        let config = kubeconfig::read(&kubeconfig).await?;
        let client = match client {
            Some(client) => client,
            None => Client::try_from(config.clone()).map_err(|e| Error::Config(e.to_string()))?,
        };
        Ok(Self { kubeconfig, config, client })
    }

    /// A kubeconfig for this user, as YAML.
    #[must_use]
    pub fn kubeconfig(&self) -> &str {
        &self.kubeconfig
    }

    /// A client configuration for this user.
    #[must_use]
    pub fn config(&self) -> Config {
        self.config.clone()
    }

    /// A client that acts as this user. To the embedded server it needs no socket.
    #[must_use]
    pub fn client(&self) -> Client {
        self.client.clone()
    }
}
