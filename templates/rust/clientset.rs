//! The clientset: one place to get every client of this package from.

use ::core::borrow::Borrow;
use ::kubesmith_runtime::client;
use ::kubesmith_runtime::kube::{Client, Config};

__modules__! {}
__typed__! {}
__scheme__! {}
__interface__! {}

/// Clients of every group-version of this package over one connection pool.
#[derive(Clone)]
pub struct Clientset {
    client: Client,
}

impl Clientset {
    /// Makes a clientset from the environment: the kubeconfig, or the service account when it runs in a pod.
    pub async fn try_default() -> client::Result<Self> {
        client::try_default().await.map(Self::new)
    }

    /// Makes a clientset from a configuration; nothing is sent to the server.
    pub async fn try_from_config(config: Config) -> client::Result<Self> {
        client::connect(config).await.map(Self::new)
    }

    /// Makes a clientset from a configuration and options, such as a user agent or a rate limit; nothing is sent to the server.
    pub async fn try_from_config_with_options(config: Config, options: client::ClientOptions) -> client::Result<Self> {
        client::connect_with_options(config, options).await.map(Self::new)
    }

    /// Makes a clientset from a client that exists.
    #[must_use]
    pub fn new(client: Client) -> Self {
        Self { client }
    }

    /// The client underneath.
    #[must_use]
    pub fn client(&self) -> &Client {
        &self.client
    }

    /// Returns a client for discovery: the server's version, groups and resources.
    #[must_use]
    pub fn discovery(&self) -> client::Discovery {
        client::Discovery::new(self.client.clone())
    }

    __accessors__! {}
}

impl From<Clientset> for Client {
    fn from(clients: Clientset) -> Self {
        clients.client
    }
}

impl ::core::fmt::Debug for Clientset {
    fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
        f.debug_struct("Clientset").finish_non_exhaustive()
    }
}
