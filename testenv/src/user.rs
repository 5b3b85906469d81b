//! Further users of an environment.

use kube::{Client, Config};

use crate::error::Error;
use crate::kubeconfig;

/// A user to add to an environment with [`TestEnv::add_user`](crate::TestEnv::add_user).
///
/// It may do what its name and groups are bound to; `system:masters` may do everything.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct User {
    /// The user's name.
    pub name: String,
    /// The groups that the user belongs to, beside `system:authenticated`.
    pub groups: Vec<String>,
}

/// A user that an environment's server knows.
#[derive(Clone, Debug)]
pub struct AuthenticatedUser {
    kubeconfig: String,
    config: Config,
}

impl AuthenticatedUser {
    pub(crate) async fn new(kubeconfig: String) -> Result<Self, Error> {
        Ok(Self { config: kubeconfig::read(&kubeconfig).await?, kubeconfig })
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

    /// A client that acts as this user.
    ///
    /// # Errors
    /// When the TLS library refuses the certificates.
    ///
    /// # Panics
    /// Outside of a tokio runtime.
    pub fn client(&self) -> Result<Client, Error> {
        Client::try_from(self.config()).map_err(|e| Error::Config(e.to_string()))
    }
}
