//! Certificates that are reloaded when they change.

mod error;
mod files;
#[cfg(test)]
mod tests;

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use jiff::Timestamp;
use rustls::ServerConfig;
use tokio::time::{MissedTickBehavior, interval};
use tokio_util::sync::CancellationToken;

use crate::metrics::{Counter, Gauge, Registry};
pub use error::CertificateError;
#[cfg(feature = "cert-rotation")]
pub(crate) use files::PairSource;
use files::{Contents, Files, Loaded};

/// The interval of reading the files (controller-runtime's interval).
const DEFAULT_INTERVAL: Duration = Duration::from_secs(10);

/// The oldest accepted version of TLS. [`CertWatcherBuilder`] has an example.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum TlsVersion {
    /// TLS 1.2 and 1.3.
    #[default]
    V1_2,
    /// Only TLS 1.3.
    V1_3,
}

/// TLS settings beside the certificate.
#[derive(Clone, Copy, Debug)]
struct Settings {
    min_version: TlsVersion,
    http2: bool,
}

type OnError = Box<dyn Fn(&CertificateError) + Send + Sync>;
type OnReload = Box<dyn Fn() + Send + Sync>;

/// Settings of a [`CertWatcher`].
///
/// ```no_run
/// use std::time::Duration;
/// use k8s_openapi::jiff::Timestamp;
/// use kubesmith_runtime::metrics::Registry;
/// use kubesmith_runtime::webhook::{CertWatcher, CertificateError, TlsVersion};
///
/// fn watcher(registry: &Registry) -> Result<CertWatcher, CertificateError> {
///     CertWatcher::builder("/certs/tls.crt", "/certs/tls.key")
///         .client_ca("/certs/ca.crt")
///         .min_tls_version(TlsVersion::V1_3)
///         .http2(false)
///         .interval(Duration::from_secs(60))
///         .metrics(registry)
///         .on_error(|error| eprintln!("the old certificate stays: {error}"))
///         .on_reload(|| println!("a new certificate"))
///         .clock(Timestamp::now)
///         .load()
/// }
/// ```
pub struct CertWatcherBuilder {
    files: Files,
    settings: Settings,
    interval: Duration,
    registry: Option<Registry>,
    on_error: Option<OnError>,
    on_reload: Option<OnReload>,
    clock: Box<dyn Fn() -> Timestamp + Send + Sync>,
}

/// A server's certificate and key, kept equal to two PEM files.
///
/// The files are read every 10 s, as in controller-runtime. There is no file watch: volumes of secrets change by
/// swapping a symbolic link above the files, which file watches do not report everywhere, and new certificates
/// arrive long before the old ones expire.
///
/// An unusable pair never replaces a usable one. Unusable are half-written files, a key of another certificate, and
/// a certificate that is expired or not valid yet. Such a pair is reported, as is a pair in use that has expired, and the files
/// are read again 10 s later. Open connections are not affected.
///
/// [`Server`](super::Server) has its own watcher; use this for other servers.
///
/// ```no_run
/// use std::sync::Arc;
///
/// use kubesmith_runtime::controller::CancellationToken;
/// use kubesmith_runtime::webhook::CertWatcher;
///
/// # async fn run(stop: CancellationToken) -> Result<(), Box<dyn std::error::Error>> {
/// let watcher = Arc::new(CertWatcher::builder("/certs/tls.crt", "/certs/tls.key").load()?);
/// let listener = tokio::net::TcpListener::bind("[::]:8443").await?;
/// let accept = async {
///     loop {
///         let (stream, _) = listener.accept().await?;
///         // The certificate that is valid now.
///         let config = watcher.server_config();
///         // ... a TLS acceptor from `config` takes the stream.
/// #       let _ = (stream, config);
///     }
/// #   #[allow(unreachable_code)]
/// #   Ok::<(), std::io::Error>(())
/// };
/// tokio::select! {
///     result = accept => result?,
///     () = watcher.run(stop) => {}
/// }
/// # Ok(())
/// # }
/// ```
///
/// An immediate reload:
///
/// ```no_run
/// use kubesmith_runtime::webhook::{CertWatcher, CertificateError};
///
/// fn look(watcher: &CertWatcher) {
///     match watcher.reload() {
///         Ok(is_new) => println!("new: {is_new}, good until {}", watcher.expires_at()),
///         Err(CertificateError::Expired { not_after, .. }) => eprintln!("expired at {not_after}"),
///         Err(error) => eprintln!("{error}"),
///     }
/// }
/// ```
pub struct CertWatcher {
    files: Files,
    settings: Settings,
    interval: Duration,
    current: RwLock<Current>,
    metrics: Option<Metrics>,
    on_error: Option<OnError>,
    on_reload: Option<OnReload>,
    clock: Box<dyn Fn() -> Timestamp + Send + Sync>,
}

struct Metrics {
    reads: Counter,
    errors: Counter,
    begin: Gauge,
    expiry: Gauge,
}

impl Metrics {
    fn new(registry: &Registry, certificate: &Path) -> Self {
        let labels = [("certificate", &*certificate.to_string_lossy())];
        Self {
            reads: registry.counter(
                "certwatcher_read_certificate_total",
                "Total number of certificate reads",
                &[],
            ),
            errors: registry.counter(
                "certwatcher_read_certificate_errors_total",
                "Total number of certificate read errors",
                &[],
            ),
            begin: registry.gauge(
                "certwatcher_certificate_not_before_timestamp_seconds",
                "When the certificate in use becomes valid",
                &labels,
            ),
            expiry: registry.gauge(
                "certwatcher_certificate_expiration_timestamp_seconds",
                "When the certificate in use expires",
                &labels,
            ),
        }
    }

    /// Shows the validity, in seconds since 1970.
    fn set_validity(&self, not_before: Timestamp, not_after: Timestamp) {
        self.begin.set(not_before.as_second() as f64);
        self.expiry.set(not_after.as_second() as f64);
    }
}

struct Current {
    contents: Arc<Contents>,
    config: Arc<ServerConfig>,
    not_after: Timestamp,
}

impl CertWatcherBuilder {
    /// Requires clients to present a certificate signed by an authority in this file. The file is reloaded too.
    #[must_use]
    pub fn client_ca(mut self, path: impl Into<PathBuf>) -> Self {
        self.files.client_ca = Some(path.into());
        self
    }

    /// Takes certificate and key from here instead of the files, whose paths are then only names in messages.
    #[cfg(feature = "cert-rotation")]
    pub(crate) fn source(mut self, source: PairSource) -> Self {
        self.files.source = Some(source);
        self
    }

    /// Sets the oldest accepted version of TLS; 1.2 by default.
    #[must_use]
    pub fn min_tls_version(mut self, version: TlsVersion) -> Self {
        self.settings.min_version = version;
        self
    }

    /// Sets whether HTTP/2 is offered beside HTTP/1.1; it is by default.
    #[must_use]
    pub fn http2(mut self, offered: bool) -> Self {
        self.settings.http2 = offered;
        self
    }

    /// Sets how often the files are read; every 10 s by default.
    #[must_use]
    pub fn interval(mut self, interval: Duration) -> Self {
        // An interval of zero would be a busy loop.
        self.interval = interval.max(Duration::from_millis(1));
        self
    }

    /// Registers the metrics `certwatcher_read_certificate_total`, `certwatcher_read_certificate_errors_total`,
    /// `certwatcher_certificate_not_before_timestamp_seconds` and `certwatcher_certificate_expiration_timestamp_seconds`.
    #[must_use]
    pub fn metrics(mut self, registry: &Registry) -> Self {
        self.registry = Some(registry.clone());
        self
    }

    /// Uses this registry unless one is set.
    pub(crate) fn metrics_unless_given(mut self, registry: &Registry) -> Self {
        self.registry.get_or_insert_with(|| registry.clone());
        self
    }

    /// Sets a callback for each read that finds no usable pair. The old pair stays in use.
    #[must_use]
    pub fn on_error(mut self, hook: impl Fn(&CertificateError) + Send + Sync + 'static) -> Self {
        self.on_error = Some(Box::new(hook));
        self
    }

    /// Sets a callback for each new pair.
    #[must_use]
    pub fn on_reload(mut self, hook: impl Fn() + Send + Sync + 'static) -> Self {
        self.on_reload = Some(Box::new(hook));
        self
    }

    /// Sets the clock for the check of validity; the system's by default.
    #[must_use]
    pub fn clock(mut self, clock: impl Fn() -> Timestamp + Send + Sync + 'static) -> Self {
        self.clock = Box::new(clock);
        self
    }

    /// Reads the files for the first time.
    ///
    /// A certificate that is expired or not valid yet is used with a warning, because there is no other.
    ///
    /// # Errors
    ///
    /// [`CertificateError`] if the files do not contain a matching certificate and key.
    pub fn load(self) -> Result<CertWatcher, CertificateError> {
        let metrics = self.registry.as_ref().map(|registry| Metrics::new(registry, &self.files.certificate));
        metrics.iter().for_each(|metrics| _ = metrics.reads.inc());
        let loaded = self.files.read().and_then(|contents| {
            let loaded = self.files.load(&contents, self.settings)?;
            Ok((contents, loaded))
        });
        let failed = |_: &CertificateError| metrics.iter().for_each(|metrics| _ = metrics.errors.inc());
        let (contents, loaded) = loaded.inspect_err(failed)?;
        if let Err(error) = self.files.check_time(&loaded, (self.clock)()) {
            tracing::warn!(%error, "the certificate cannot be used now, but there is no other");
        }
        let Loaded { config, not_before, not_after } = loaded;
        metrics.iter().for_each(|metrics| metrics.set_validity(not_before, not_after));
        Ok(CertWatcher {
            files: self.files,
            settings: self.settings,
            interval: self.interval,
            current: RwLock::new(Current { contents: Arc::new(contents), config, not_after }),
            metrics,
            on_error: self.on_error,
            on_reload: self.on_reload,
            clock: self.clock,
        })
    }
}

impl CertWatcher {
    /// Starts the settings for a certificate chain and a key in these files.
    pub fn builder(certificate: impl Into<PathBuf>, key: impl Into<PathBuf>) -> CertWatcherBuilder {
        CertWatcherBuilder {
            files: Files { certificate: certificate.into(), key: key.into(), client_ca: None, source: None },
            settings: Settings { min_version: TlsVersion::default(), http2: true },
            interval: DEFAULT_INTERVAL,
            registry: None,
            on_error: None,
            on_reload: None,
            clock: Box::new(Timestamp::now),
        }
    }

    /// Returns the settings for new connections.
    #[must_use]
    pub fn server_config(&self) -> Arc<ServerConfig> {
        self.current.read().unwrap_or_else(PoisonError::into_inner).config.clone()
    }

    /// Returns when the present certificate expires.
    #[must_use]
    pub fn expires_at(&self) -> Timestamp {
        self.current.read().unwrap_or_else(PoisonError::into_inner).not_after
    }

    /// Reads the files now; returns whether the pair is new. Blocks while it reads.
    ///
    /// # Errors
    ///
    /// [`CertificateError`] if the files are unusable, or still contain the old pair, which has expired. The old pair stays in use.
    pub fn reload(&self) -> Result<bool, CertificateError> {
        self.metrics.iter().for_each(|metrics| _ = metrics.reads.inc());
        let result = self.try_reload();
        match &result {
            Ok(false) => {}
            Ok(true) => {
                tracing::info!(certificate = %self.files.certificate.display(), "certificate reloaded");
                self.on_reload.iter().for_each(|hook| hook());
            }
            Err(error) => {
                self.metrics.iter().for_each(|metrics| _ = metrics.errors.inc());
                tracing::error!(%error, "there is no better certificate; the old one stays");
                self.on_error.iter().for_each(|hook| hook(error));
            }
        }
        result
    }

    fn try_reload(&self) -> Result<bool, CertificateError> {
        let contents = self.files.read()?;
        let (old, old_not_after) = {
            let current = self.current.read().unwrap_or_else(PoisonError::into_inner);
            (current.contents.clone(), current.not_after)
        };
        if *old == contents {
            return match (self.clock)() > old_not_after {
                // Clients refuse it, and nobody has renewed it.
                true => Err(CertificateError::Expired {
                    path: self.files.certificate.clone(),
                    not_after: old_not_after,
                }),
                false => Ok(false),
            };
        }
        let loaded = self.files.load(&contents, self.settings)?;
        let now = (self.clock)();
        // If both have expired, the new one is no worse.
        if old_not_after >= now {
            self.files.check_time(&loaded, now)?;
        }
        let Loaded { config, not_before, not_after } = loaded;
        self.metrics.iter().for_each(|metrics| metrics.set_validity(not_before, not_after));
        let new = Current { contents: Arc::new(contents), config, not_after };
        *self.current.write().unwrap_or_else(PoisonError::into_inner) = new;
        Ok(true)
    }

    /// Reads the files periodically until `stop` is cancelled.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future ends the reads; a read in progress finishes on a blocking thread.
    pub async fn run(self: &Arc<Self>, stop: CancellationToken) {
        let mut ticks = interval(self.interval);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        // The first tick is immediate, and the files have just been read.
        ticks.tick().await;
        loop {
            tokio::select! {
                () = stop.cancelled() => return,
                _ = ticks.tick() => {}
            }
            let watcher = self.clone();
            let read = tokio::task::spawn_blocking(move || drop(watcher.reload()));
            if let Err(error) = read.await {
                tracing::error!(%error, "a hook of the certificates panicked");
            }
        }
    }
}

impl fmt::Debug for CertWatcher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CertWatcher")
            .field("files", &self.files)
            .field("settings", &self.settings)
            .field("interval", &self.interval)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for CertWatcherBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CertWatcherBuilder")
            .field("files", &self.files)
            .field("settings", &self.settings)
            .field("interval", &self.interval)
            .finish_non_exhaustive()
    }
}
