//! The clientset: one place to get every client of this package from.

#[when(fake_by_feature)]
#[cfg(feature = "fake")]
pub mod fake;
#[when(fake_in_tests)]
#[cfg(test)]
pub mod fake;
/// Types that were added to the scheme by hand.
#[when(register_custom)]
pub mod register_custom;
pub mod scheme;
pub mod typed;

/// The clients of every group-version of this package: for code that takes any clientset, and for
/// clientsets of your own.
pub trait Interface: Send + Sync + 'static {
    /// Clients of `__ApiVersion__`.
    #[each(version)]
    type __GroupVersion__: self::typed::__group__::__version__::__GroupVersion__Interface;

    /// What the server serves: its version, groups and resources.
    fn discovery(&self) -> ::kubesmith_runtime::client::Discovery;

    /// Clients of `__ApiVersion__`.
    #[each(version)]
    fn __group_version__(&self) -> Self::__GroupVersion__;
}

/// Clients of every group-version of this package over one connection pool.
#[derive(Clone)]
pub struct Clientset {
    client: ::kubesmith_runtime::kube::Client,
}

impl Clientset {
    /// Makes a clientset from the environment: the kubeconfig, or the service account when it
    /// runs in a pod.
    ///
    /// # Errors
    /// No configuration is found, or it is unusable.
    pub async fn try_default() -> ::kubesmith_runtime::client::Result<Self> {
        ::kubesmith_runtime::client::try_default().await.map(Self::new)
    }

    /// Makes a clientset from a configuration; nothing is sent to the server.
    ///
    /// # Errors
    /// The configuration is unusable.
    pub async fn try_from_config(
        config: ::kubesmith_runtime::kube::Config,
    ) -> ::kubesmith_runtime::client::Result<Self> {
        ::kubesmith_runtime::client::connect(config).await.map(Self::new)
    }

    /// Makes a clientset from a configuration and options, such as a user agent or a rate limit; nothing is sent to the
    /// server.
    ///
    /// # Errors
    /// The configuration is unusable, or the options cannot be.
    pub async fn try_from_config_with_options(
        config: ::kubesmith_runtime::kube::Config,
        options: ::kubesmith_runtime::client::ClientOptions,
    ) -> ::kubesmith_runtime::client::Result<Self> {
        ::kubesmith_runtime::client::connect_with_options(config, options).await.map(Self::new)
    }

    /// Makes a clientset from a client that exists.
    #[must_use]
    pub fn new(client: ::kubesmith_runtime::kube::Client) -> Self {
        Self { client }
    }

    /// The client underneath.
    #[must_use]
    pub fn client(&self) -> &::kubesmith_runtime::kube::Client {
        &self.client
    }

    /// What the server serves: its version, groups and resources.
    #[must_use]
    pub fn discovery(&self) -> ::kubesmith_runtime::client::Discovery {
        ::kubesmith_runtime::client::Discovery::new(self.client.clone())
    }

    /// Clients of `__ApiVersion__`.
    #[each(version)]
    #[must_use]
    pub fn __group_version__(&self) -> self::typed::__group__::__version__::__GroupVersion__Client {
        self::typed::__group__::__version__::__GroupVersion__Client::new(self.client.clone())
    }
}

impl Interface for Clientset {
    #[each(version)]
    type __GroupVersion__ = self::typed::__group__::__version__::__GroupVersion__Client;

    fn discovery(&self) -> ::kubesmith_runtime::client::Discovery {
        self.discovery()
    }

    #[each(version)]
    fn __group_version__(&self) -> Self::__GroupVersion__ {
        self.__group_version__()
    }
}

impl ::core::convert::From<Clientset> for ::kubesmith_runtime::kube::Client {
    fn from(clients: Clientset) -> Self {
        clients.client
    }
}

impl ::core::fmt::Debug for Clientset {
    fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
        f.debug_struct("Clientset").finish_non_exhaustive()
    }
}
