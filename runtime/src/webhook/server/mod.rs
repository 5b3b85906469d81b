//! The webhook server: its settings and its paths.

mod certificates;
mod connection;
mod listen;
mod metrics;
mod router;
mod service;
#[cfg(test)]
mod tests;
mod timeout;

use std::fmt;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::Duration;

use kube::core::Resource;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::admission::AdmissionHook;
use super::certwatcher::CertWatcherBuilder;
use super::conversion::{ConversionHook, ConversionSetupError};
use super::hook::Hook;
use super::{
    AdmissionHandler, CONVERT_PATH, CertWatcher, CertificateError, Conversions, Defaulter, Defaulting,
    TlsVersion, Validating, Validator, mutate_path, validate_path,
};
use crate::metrics::Registry;
#[cfg(feature = "cert-rotation")]
use crate::webhook::{CertRotator, RotationError};
use certificates::Certificates;
pub use listen::BoundServer;
use router::Hooks;
pub use service::WebhookService;

/// controller-runtime's port.
const DEFAULT_PORT: u16 = 9443;
/// The longest time that an API server waits for a webhook.
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(30);
/// The time limit of running requests after the stop (controller-runtime's value).
const DEFAULT_GRACE: Duration = Duration::from_secs(60);

/// A webhook server cannot be built or started.
///
/// ```
/// use kubesmith_runtime::webhook::{AdmissionResponse, Server, ServerError, admission_fn};
///
/// let all = || admission_fn(|_| async { AdmissionResponse::allowed() });
/// let twice = Server::builder().admission("/check", all()).admission("/check", all()).build();
/// assert!(matches!(twice, Err(ServerError::DuplicatePath { path }) if path == "/check"));
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServerError {
    /// No API server can call this path.
    #[error("cannot serve webhooks at {path:?}: the path must begin with `/` and have no query or fragment")]
    Path {
        /// The path.
        path: String,
    },
    /// Two webhooks have one path.
    #[error("two webhooks are registered at {path}; give one of them another path")]
    DuplicatePath {
        /// The path.
        path: String,
    },
    /// Versions of kinds are inconsistent.
    #[error(transparent)]
    Conversion(#[from] ConversionSetupError),
    /// There is no usable certificate.
    #[error(transparent)]
    Certificate(#[from] CertificateError),
    /// There is no certificate, and none can be made.
    #[cfg(feature = "cert-rotation")]
    #[error(transparent)]
    Rotation(#[from] RotationError),
    /// The address cannot be used.
    #[error("cannot serve webhooks on {address}: {source}")]
    Bind {
        /// The address.
        address: SocketAddr,
        /// The system's error.
        source: io::Error,
    },
}

/// Settings of a [`Server`].
///
/// ```
/// use std::time::Duration;
///
/// use kubesmith_runtime::webhook::{AdmissionResponse, Server, TlsVersion, admission_fn};
///
/// let server = Server::builder()
///     .port(8443)
///     .cert_dir("/certs")
///     .min_tls_version(TlsVersion::V1_3)
///     .request_timeout(Duration::from_secs(10))
///     .admission("/validate-anything", admission_fn(|_| async { AdmissionResponse::allowed() }))
///     .build()?;
/// # let _ = server;
/// # Ok::<(), kubesmith_runtime::webhook::ServerError>(())
/// ```
///
/// Further settings:
///
/// ```
/// use std::net::Ipv4Addr;
/// use std::time::Duration;
///
/// use kubesmith_runtime::metrics::Registry;
/// use kubesmith_runtime::webhook::{Conversions, Server};
///
/// let registry = Registry::new();
/// let server = Server::builder()
///     .address(Ipv4Addr::LOCALHOST.into())
///     .cert_name("cert.pem")
///     .key_name("key.pem")
///     .client_ca_name("ca.pem")
///     .without_http2()
///     .shutdown_grace(Duration::from_secs(20))
///     .metrics(&registry)
///     .conversions(Conversions::new())
///     .build()?;
/// assert!(server.paths().eq(["/convert"]));
/// # Ok::<(), kubesmith_runtime::webhook::ServerError>(())
/// ```
#[must_use = "build the server"]
pub struct ServerBuilder {
    address: Option<IpAddr>,
    /// [`DEFAULT_PORT`] unless given.
    port: Option<u16>,
    certificates: Certificates,
    timeout: Duration,
    grace: Duration,
    registry: Option<Registry>,
    hooks: Vec<(String, Box<dyn Hook>)>,
    conversions: Vec<Conversions>,
}

impl ServerBuilder {
    /// Sets the address to listen on; all addresses by default.
    pub fn address(mut self, address: IpAddr) -> Self {
        self.address = Some(address);
        self
    }

    /// Sets the port to listen on; 9443 by default. Port 0 takes a free one, which [`BoundServer::local_addr`]
    /// returns.
    pub fn port(mut self, port: u16) -> Self {
        self.port = Some(port);
        self
    }

    /// Sets the folder of certificate and key; `k8s-webhook-server/serving-certs` in the temporary folder by
    /// default.
    pub fn cert_dir(mut self, folder: impl Into<PathBuf>) -> Self {
        self.certificates.folder = Some(folder.into());
        self
    }

    /// Takes the certificate from this [`CertRotator`], which runs as long as the server, instead of from files.
    #[cfg(feature = "cert-rotation")]
    pub fn cert_rotator(mut self, rotator: CertRotator) -> Self {
        self.certificates.rotator = Some(rotator);
        self
    }

    /// Sets the file with the certificate chain in that folder; `tls.crt` by default.
    pub fn cert_name(mut self, name: impl Into<String>) -> Self {
        self.certificates.cert_name = name.into();
        self
    }

    /// Sets the file with the key in that folder; `tls.key` by default.
    pub fn key_name(mut self, name: impl Into<String>) -> Self {
        self.certificates.key_name = name.into();
        self
    }

    /// Sets the file in that folder with the authorities of client certificates. Without it clients need no
    /// certificate.
    pub fn client_ca_name(mut self, name: impl Into<String>) -> Self {
        self.certificates.client_ca_name = Some(name.into());
        self
    }

    /// Sets the oldest accepted version of TLS; 1.2 by default.
    pub fn min_tls_version(self, version: TlsVersion) -> Self {
        self.certificates(move |watcher| watcher.min_tls_version(version))
    }

    /// Offers only HTTP/1.1. By default both versions are offered, and the client chooses.
    pub fn without_http2(self) -> Self {
        self.certificates(|watcher| watcher.http2(false))
    }

    /// Sets further options of the certificate watcher: its interval and callbacks.
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// use kubesmith_runtime::webhook::Server;
    ///
    /// let server = Server::builder().certificates(|watcher| {
    ///     watcher.interval(Duration::from_secs(60)).on_error(|error| eprintln!("certificate: {error}"))
    /// });
    /// # let _ = server;
    /// ```
    pub fn certificates(
        mut self,
        settings: impl FnOnce(CertWatcherBuilder) -> CertWatcherBuilder + Send + 'static,
    ) -> Self {
        self.certificates.settings.push(Box::new(settings));
        self
    }

    /// Sets the time limit of a request, from its head to its response; 30 s by default. An API server sends its own
    /// limit with each request, which applies if it is shorter.
    pub fn request_timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// Sets how long running requests may take after the stop; one minute by default.
    pub fn shutdown_grace(mut self, grace: Duration) -> Self {
        self.grace = grace;
        self
    }

    /// Registers the metrics in `registry`. A manager sets its own registry unless one is set.
    pub fn metrics(mut self, registry: &Registry) -> Self {
        self.registry = Some(registry.clone());
        self
    }

    /// Answers admission requests at this path.
    pub fn admission(mut self, path: impl Into<String>, handler: impl AdmissionHandler) -> Self {
        self.hooks.push((path.into(), Box::new(AdmissionHook::new(handler))));
        self
    }

    /// Sets defaults on objects of a kind, at [`mutate_path`].
    pub fn defaulter<K>(self, defaulter: impl Defaulter<K>) -> Self
    where
        K: Resource<DynamicType = ()> + Serialize + DeserializeOwned + Send + Sync + 'static,
    {
        self.admission(mutate_path::<K>(), Defaulting::new(defaulter))
    }

    /// Validates objects of a kind, at [`validate_path`].
    pub fn validator<K>(self, validator: impl Validator<K>) -> Self
    where
        K: Resource<DynamicType = ()> + DeserializeOwned + Send + Sync + 'static,
    {
        self.admission(validate_path::<K>(), Validating::new(validator))
    }

    /// Converts objects between the versions of their kinds, at [`CONVERT_PATH`]. Pass all kinds in one call.
    pub fn conversions(mut self, conversions: Conversions) -> Self {
        self.conversions.push(conversions);
        self
    }

    /// Makes the server. It reads and serves nothing yet.
    ///
    /// # Errors
    ///
    /// [`ServerError`] if the webhooks cannot be served like this.
    pub fn build(mut self) -> Result<Server, ServerError> {
        for conversions in std::mem::take(&mut self.conversions) {
            let hook = ConversionHook::new(conversions.check()?);
            self.hooks.push((CONVERT_PATH.to_owned(), Box::new(hook)));
        }
        let mut hooks = Hooks::new();
        for (path, hook) in self.hooks {
            let is_path = path.parse::<http::uri::PathAndQuery>().is_ok_and(|parsed| parsed.path() == path);
            if !is_path || !path.starts_with('/') {
                return Err(ServerError::Path { path });
            }
            if hooks.insert(path.clone(), hook).is_some() {
                return Err(ServerError::DuplicatePath { path });
            }
        }
        Ok(Server {
            address: self.address,
            port: self.port,
            certificates: self.certificates,
            hooks,
            timeout: self.timeout,
            grace: self.grace,
            registry: self.registry,
            started: Arc::default(),
        })
    }
}

/// The state of a server: not started, serving or stopped.
#[derive(Debug, Default)]
struct Started(AtomicU8);

const NOT_STARTED: u8 = 0;
const SERVING: u8 = 1;
const STOPPED: u8 = 2;

impl Started {
    fn set(&self, state: u8) {
        self.0.store(state, Ordering::Relaxed);
    }

    fn check(&self) -> Result<(), String> {
        match self.0.load(Ordering::Relaxed) {
            NOT_STARTED => Err("the webhook server has not been started yet".to_owned()),
            SERVING => Ok(()),
            _ => Err("the webhook server has stopped".to_owned()),
        }
    }
}

/// Serves webhooks over TLS. See the [module](super).
#[must_use = "run it, or give it to a manager"]
pub struct Server {
    address: Option<IpAddr>,
    /// [`DEFAULT_PORT`] unless given.
    port: Option<u16>,
    certificates: Certificates,
    hooks: Hooks,
    timeout: Duration,
    grace: Duration,
    registry: Option<Registry>,
    started: Arc<Started>,
}

impl Server {
    /// Starts the settings of a server without webhooks.
    pub fn builder() -> ServerBuilder {
        ServerBuilder {
            address: None,
            port: None,
            certificates: Certificates::new(),
            timeout: DEFAULT_TIMEOUT,
            grace: DEFAULT_GRACE,
            registry: None,
            hooks: Vec::new(),
            conversions: Vec::new(),
        }
    }

    /// Returns a check for `/readyz` that fails before the server serves and after it was stopped. A manager adds
    /// it by itself.
    ///
    /// ```
    /// use kubesmith_runtime::webhook::Server;
    ///
    /// let server = Server::builder().build()?;
    /// assert!(server.started_checker()().is_err(), "not started yet");
    /// # Ok::<(), kubesmith_runtime::webhook::ServerError>(())
    /// ```
    pub fn started_checker(&self) -> impl Fn() -> Result<(), String> + Send + Sync + 'static {
        let started = self.started.clone();
        move || started.check()
    }

    /// Returns the paths of the webhooks, sorted. [`ServerBuilder`] has an example.
    pub fn paths(&self) -> impl Iterator<Item = &str> {
        self.hooks.keys().map(String::as_str)
    }

    /// Sets this registry unless one is set.
    pub(crate) fn metrics_unless_given(&mut self, registry: &Registry) {
        self.registry.get_or_insert_with(|| registry.clone());
    }

    /// Sets this port unless one is set.
    pub(crate) fn port_unless_given(&mut self, port: u16) {
        self.port.get_or_insert(port);
    }

    /// Reads the certificate from this folder unless a folder is set.
    pub(crate) fn cert_dir_unless_given(&mut self, folder: &Path) {
        self.certificates.folder_unless_given(folder);
    }

    /// Takes the certificate from this rotator unless a folder or another rotator is set.
    #[cfg(feature = "cert-rotation")]
    pub(crate) fn cert_rotator_unless_given(&mut self, rotator: &CertRotator) {
        self.certificates.rotator_unless_given(rotator);
    }

    /// Reads the certificate and binds the address. Requests wait until [`BoundServer::run`].
    ///
    /// # Errors
    ///
    /// [`ServerError::Certificate`], [`ServerError::Bind`], and with a rotator `ServerError::Rotation`.
    ///
    /// # Panics
    ///
    /// Outside of a tokio runtime with I/O.
    pub async fn bind(self) -> Result<BoundServer, ServerError> {
        BoundServer::new(self).await
    }
}

impl fmt::Debug for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Server")
            .field("address", &self.address)
            .field("port", &self.port)
            .field("certificates", &self.certificates)
            .field("paths", &self.hooks.keys().collect::<Vec<_>>())
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for ServerBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ServerBuilder")
            .field("address", &self.address)
            .field("port", &self.port)
            .field("certificates", &self.certificates)
            .finish_non_exhaustive()
    }
}
