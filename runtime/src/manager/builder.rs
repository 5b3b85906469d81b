//! A manager's settings.

use std::fmt;
use std::time::Duration;

use super::log_levels::LogLevels;
use super::{BindAddress, Manager};
use crate::informer::SharedInformerFactory;
use crate::leaderelection::LeaderElector;
use crate::metrics::Registry;
use crate::sharding::Sharding;

/// Settings of a [`Manager`].
pub struct ManagerBuilder {
    pub(super) manager: Manager,
    /// The caller gave the factory, which has a registry of its own.
    pub(super) has_own_factory: bool,
}

impl ManagerBuilder {
    /// Replaces the factory over the client, for instance by one limited to a namespace.
    #[must_use]
    pub fn factory(mut self, factory: SharedInformerFactory) -> Self {
        self.manager.factory = factory;
        self.has_own_factory = true;
        self
    }

    /// Uses this registry instead of a new one, so that `/metrics` also shows metrics of others, such as those of
    /// the [client](crate::client::ClientOptions::metrics). A custom [factory](Self::factory) keeps its own
    /// registry.
    #[must_use]
    pub fn metrics(mut self, registry: &Registry) -> Self {
        let manager = &mut self.manager;
        manager.registry = registry.clone();
        if !self.has_own_factory {
            manager.factory =
                SharedInformerFactory::builder(manager.client.clone()).metrics(registry).build();
        }
        self
    }

    /// Runs the leader's work only while this elector leads. Without an elector this replica leads at once.
    #[must_use]
    pub fn leader_election(mut self, elector: LeaderElector) -> Self {
        self.manager.elector = Some(elector);
        self
    }

    /// Shares the keys of [added](Manager::add) controllers with the other replicas of the group, instead of
    /// running the controllers on a leader. See [`sharding`](crate::sharding).
    #[must_use]
    pub fn sharding(mut self, sharding: Sharding) -> Self {
        self.manager.shard = Some(sharding.shard());
        self.manager.sharding = Some(sharding);
        self
    }

    /// Serves `/metrics` here, without TLS unless [`metrics_tls`](Self::metrics_tls) is called. Everyone who reaches the
    /// address can read plain metrics, so choose one of the loopback interface for them.
    #[must_use]
    pub fn metrics_address(mut self, address: impl Into<BindAddress>) -> Self {
        self.manager.metrics_address = address.into();
        self
    }

    /// Serves `/metrics` over TLS with this certificate, which is read again when it changes.
    /// [`client_ca`](crate::webhook::CertWatcherBuilder::client_ca) asks clients for certificates, and
    /// [`metrics_authorization`](Self::metrics_authorization) for tokens.
    ///
    /// ```no_run
    /// use kubesmith_runtime::manager::Manager;
    /// use kubesmith_runtime::webhook::CertWatcher;
    ///
    /// # fn example(client: kube::Client) {
    /// let certificate = CertWatcher::builder("/metrics-certs/tls.crt", "/metrics-certs/tls.key");
    /// let manager = Manager::builder(client)
    ///     .metrics_address(([0, 0, 0, 0], 8443))
    ///     .metrics_tls(certificate)
    ///     .webhook_cert_dir("/webhook-certs")
    ///     .build();
    /// # let _ = manager;
    /// # }
    /// ```
    #[cfg(feature = "webhook")]
    #[must_use]
    pub fn metrics_tls(mut self, certificate: crate::webhook::CertWatcherBuilder) -> Self {
        self.manager.metrics_tls = super::MetricsTls::Given(Box::new(certificate));
        self
    }

    /// Serves `/metrics` over TLS with the manager's own certificate: that of the
    /// [rotator](Self::webhook_cert_rotator) as soon as it has one, and otherwise a self-signed one in memory, as
    /// controller-runtime's `SecureServing` without a certificate. Clients can verify only the rotator's, for its
    /// [names](crate::webhook::CertRotatorBuilder::dns_name).
    ///
    /// ```no_run
    /// # fn example(client: kube::Client) {
    /// use kubesmith_runtime::manager::Manager;
    ///
    /// let builder = Manager::builder(client).metrics_address(([0, 0, 0, 0], 8443));
    /// let manager = builder.metrics_own_tls().metrics_authorization().build();
    /// # let _ = manager;
    /// # }
    /// ```
    #[cfg(feature = "cert-rotation")]
    #[must_use]
    pub fn metrics_own_tls(mut self) -> Self {
        self.manager.metrics_tls = super::MetricsTls::Own;
        self
    }

    /// Serves `/metrics` only to users whom the cluster allows `get` on the path `/metrics`, as controller-runtime's
    /// `WithAuthenticationAndAuthorization`: the bearer token of a request is checked by a TokenReview, and its user by a
    /// SubjectAccessReview. The program needs the right to create both. Use it with [`metrics_tls`](Self::metrics_tls): without TLS,
    /// tokens are readable on their way, so [`Manager::run`] accepts only a loopback address then.
    ///
    /// ```no_run
    /// # fn example(client: kube::Client) {
    /// use kubesmith_runtime::manager::Manager;
    ///
    /// use kubesmith_runtime::webhook::CertWatcher;
    ///
    /// let certificate = CertWatcher::builder("/certs/tls.crt", "/certs/tls.key");
    /// let builder = Manager::builder(client).metrics_address(([0, 0, 0, 0], 8443)).metrics_tls(certificate);
    /// let manager = builder.metrics_authorization().build();
    /// # let _ = manager;
    /// # }
    /// ```
    #[must_use]
    pub fn metrics_authorization(mut self) -> Self {
        self.manager.metrics_authorization = true;
        self
    }

    /// Sets the port of webhook servers whose [`port`](crate::webhook::ServerBuilder::port) is not set.
    #[cfg(feature = "webhook")]
    #[must_use]
    pub fn webhook_port(mut self, port: u16) -> Self {
        self.manager.webhooks.port(port);
        self
    }

    /// Sets the folder of `tls.crt` and `tls.key` for webhook servers whose
    /// [`cert_dir`](crate::webhook::ServerBuilder::cert_dir) is not set.
    #[cfg(feature = "webhook")]
    #[must_use]
    pub fn webhook_cert_dir(mut self, folder: impl Into<std::path::PathBuf>) -> Self {
        self.manager.webhooks.cert_dir(folder.into());
        self
    }

    /// Makes the certificate of webhook servers whose [`cert_dir`](crate::webhook::ServerBuilder::cert_dir) and
    /// [`cert_rotator`](crate::webhook::ServerBuilder::cert_rotator) are not set. See
    /// [`CertRotator`](crate::webhook::CertRotator).
    #[cfg(feature = "cert-rotation")]
    #[must_use]
    pub fn webhook_cert_rotator(mut self, rotator: crate::webhook::CertRotator) -> Self {
        self.manager.webhooks.cert_rotator(rotator);
        self
    }

    /// Serves `/healthz` and `/readyz` here.
    #[must_use]
    pub fn health_address(mut self, address: impl Into<BindAddress>) -> Self {
        self.manager.health_address = address.into();
        self
    }

    /// Serves `/debug/controllers` here: a page with the queues, caches, failing keys and slow keys of the
    /// controllers that are added afterwards. It shows names of objects and errors, so choose an address that only
    /// operators reach.
    #[must_use]
    pub fn debug_address(mut self, address: impl Into<BindAddress>) -> Self {
        self.manager.debug_address = address.into();
        self
    }

    /// Serves `/debug/flags/v` at the [debug address](Self::debug_address), as Kubernetes' components do: GET returns
    /// the levels of the log, and PUT sets them to the text of its body. With a reloadable filter of
    /// `tracing_subscriber`:
    ///
    /// ```no_run
    /// # use kubesmith_runtime::manager::ManagerBuilder;
    /// use tracing_subscriber::prelude::*;
    /// use tracing_subscriber::{EnvFilter, fmt, reload};
    ///
    /// # fn with_log_levels(builder: ManagerBuilder) -> ManagerBuilder {
    /// let (filter, handle) = reload::Layer::new(EnvFilter::from_default_env());
    /// tracing_subscriber::registry().with(filter).with(fmt::layer()).init();
    /// let reader = handle.clone();
    /// builder.log_levels(
    ///     move || reader.with_current(ToString::to_string).unwrap_or_default(),
    ///     move |text| {
    ///         let filter = EnvFilter::try_new(text).map_err(|error| error.to_string())?;
    ///         handle.reload(filter).map_err(|error| error.to_string())
    ///     },
    /// )
    /// # }
    /// ```
    ///
    /// `set` returns why a text is no filter. A PUT with such a text has the status 400 and changes nothing.
    #[must_use]
    pub fn log_levels<G, S>(mut self, get: G, set: S) -> Self
    where
        G: Fn() -> String + Send + Sync + 'static,
        S: Fn(&str) -> Result<(), String> + Send + Sync + 'static,
    {
        self.manager.log_levels = Some(LogLevels::new(get, set));
        self
    }

    /// Sets how long the shutdown may take; 30 s by default.
    #[must_use]
    pub fn shutdown_grace(mut self, grace: Duration) -> Self {
        self.manager.grace = grace;
        self
    }

    /// Sets how long caches may take to fill; 2 minutes by default.
    #[must_use]
    pub fn cache_sync_timeout(mut self, timeout: Duration) -> Self {
        self.manager.cache_sync_timeout = timeout;
        self
    }

    /// Makes the manager. It runs nothing yet.
    #[must_use]
    pub fn build(self) -> Manager {
        self.manager
    }
}

impl fmt::Debug for ManagerBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.manager.fmt(f)
    }
}
