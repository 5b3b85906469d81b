//! Certificates that are read again when they change.

mod error;
mod files;
#[cfg(test)]
mod tests;

use std::fmt;
use std::path::PathBuf;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use jiff::Timestamp;
use rustls::ServerConfig;
use tokio::time::{MissedTickBehavior, interval};
use tokio_util::sync::CancellationToken;

use crate::metrics::{Counter, Registry};
pub use error::CertificateError;
use files::{Contents, Files, Loaded};

/// How often the files are read (controller-runtime's).
const DEFAULT_INTERVAL: Duration = Duration::from_secs(10);

/// The oldest version of TLS that is spoken. [`CertWatcherBuilder`] has an example.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum TlsVersion {
    /// TLS 1.2 and 1.3.
    #[default]
    V1_2,
    /// Only TLS 1.3.
    V1_3,
}

/// What TLS connections are made with beside the certificate.
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

/// A server's certificate and key, as two files of PEM hold them now.
///
/// The files are read every 10 s, as controller-runtime does. They are not watched beside that: volumes of secrets change by
/// swapping a symbolic link above the files, which a watch of the files does not show everywhere, and new certificates
/// are there long before the old ones end.
///
/// A pair that cannot be used never replaces one that can: files that are half written, a key that belongs to another
/// certificate, a certificate that has expired or is not valid yet. It is reported, and read again 10 s later.
/// Connections that are open stay as they are.
///
/// [`Server`](super::Server) has its own; this is for other servers.
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
/// Reading at once:
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
    reads: Option<Counter>,
    errors: Option<Counter>,
    on_error: Option<OnError>,
    on_reload: Option<OnReload>,
    clock: Box<dyn Fn() -> Timestamp + Send + Sync>,
}

struct Current {
    contents: Arc<Contents>,
    config: Arc<ServerConfig>,
    not_after: Timestamp,
}

impl CertWatcherBuilder {
    /// Asks clients for a certificate that one of the authorities in this file has signed. It is read again too.
    #[must_use]
    pub fn client_ca(mut self, path: impl Into<PathBuf>) -> Self {
        self.files.client_ca = Some(path.into());
        self
    }

    /// The oldest version of TLS that is spoken; 1.2 unless told otherwise.
    #[must_use]
    pub fn min_tls_version(mut self, version: TlsVersion) -> Self {
        self.settings.min_version = version;
        self
    }

    /// Whether HTTP/2 is offered beside HTTP/1.1; it is unless told otherwise.
    #[must_use]
    pub fn http2(mut self, offered: bool) -> Self {
        self.settings.http2 = offered;
        self
    }

    /// How often the files are read; every 10 s unless told otherwise.
    #[must_use]
    pub fn interval(mut self, interval: Duration) -> Self {
        // A pause of nothing would be a busy loop.
        self.interval = interval.max(Duration::from_millis(1));
        self
    }

    /// Counts reads and failures here, as `certwatcher_read_certificate_total` and
    /// `certwatcher_read_certificate_errors_total`.
    #[must_use]
    pub fn metrics(mut self, registry: &Registry) -> Self {
        self.registry = Some(registry.clone());
        self
    }

    /// Counts here unless there is a registry already.
    pub(crate) fn metrics_unless_given(mut self, registry: &Registry) -> Self {
        self.registry.get_or_insert_with(|| registry.clone());
        self
    }

    /// Called for every read that found nothing usable. What was there before goes on being used.
    #[must_use]
    pub fn on_error(mut self, hook: impl Fn(&CertificateError) + Send + Sync + 'static) -> Self {
        self.on_error = Some(Box::new(hook));
        self
    }

    /// Called when a new certificate has taken the place of the old one.
    #[must_use]
    pub fn on_reload(mut self, hook: impl Fn() + Send + Sync + 'static) -> Self {
        self.on_reload = Some(Box::new(hook));
        self
    }

    /// Tells the time, for what has expired; the system's unless told otherwise.
    #[must_use]
    pub fn clock(mut self, clock: impl Fn() -> Timestamp + Send + Sync + 'static) -> Self {
        self.clock = Box::new(clock);
        self
    }

    /// Reads the files for the first time.
    ///
    /// A certificate that has expired or is not valid yet is used all the same, with a warning: there is no other.
    ///
    /// # Errors
    ///
    /// [`CertificateError`] if there is no certificate and key that belong together.
    pub fn load(self) -> Result<CertWatcher, CertificateError> {
        let counter = |name: &str, help: &str| self.registry.as_ref().map(|r| r.counter(name, help, &[]));
        let reads = counter("certwatcher_read_certificate_total", "Total number of certificate reads");
        let errors =
            counter("certwatcher_read_certificate_errors_total", "Total number of certificate read errors");
        count(&reads);
        let loaded = self.files.read().and_then(|contents| {
            let loaded = self.files.load(&contents, self.settings)?;
            Ok((contents, loaded))
        });
        let (contents, loaded) = loaded.inspect_err(|_| count(&errors))?;
        if let Err(error) = self.files.check_time(&loaded, (self.clock)()) {
            tracing::warn!(%error, "the certificate cannot be used now, but there is no other");
        }
        let Loaded { config, not_after, .. } = loaded;
        Ok(CertWatcher {
            files: self.files,
            settings: self.settings,
            interval: self.interval,
            current: RwLock::new(Current { contents: Arc::new(contents), config, not_after }),
            reads,
            errors,
            on_error: self.on_error,
            on_reload: self.on_reload,
            clock: self.clock,
        })
    }
}

/// Adds one to a counter, if there is one.
fn count(counter: &Option<Counter>) {
    if let Some(counter) = counter {
        counter.inc();
    }
}

impl CertWatcher {
    /// Settings for the certificate chain and the key in these files.
    pub fn builder(certificate: impl Into<PathBuf>, key: impl Into<PathBuf>) -> CertWatcherBuilder {
        CertWatcherBuilder {
            files: Files { certificate: certificate.into(), key: key.into(), client_ca: None },
            settings: Settings { min_version: TlsVersion::default(), http2: true },
            interval: DEFAULT_INTERVAL,
            registry: None,
            on_error: None,
            on_reload: None,
            clock: Box::new(Timestamp::now),
        }
    }

    /// What new connections are to be made with.
    #[must_use]
    pub fn server_config(&self) -> Arc<ServerConfig> {
        self.current.read().unwrap_or_else(PoisonError::into_inner).config.clone()
    }

    /// When the certificate that is used now expires.
    #[must_use]
    pub fn expires_at(&self) -> Timestamp {
        self.current.read().unwrap_or_else(PoisonError::into_inner).not_after
    }

    /// Reads the files now; says whether something new is used. Blocks while it reads.
    ///
    /// # Errors
    ///
    /// [`CertificateError`] if what is there cannot be used. What was used before still is.
    pub fn reload(&self) -> Result<bool, CertificateError> {
        count(&self.reads);
        let result = self.try_reload();
        match &result {
            Ok(false) => {}
            Ok(true) => {
                tracing::info!(certificate = %self.files.certificate.display(), "certificate reloaded");
                self.on_reload.iter().for_each(|hook| hook());
            }
            Err(error) => {
                count(&self.errors);
                tracing::error!(%error, "cannot reload the certificate; the old one stays");
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
            return Ok(false);
        }
        let loaded = self.files.load(&contents, self.settings)?;
        let now = (self.clock)();
        // Of two that have expired, the new one is no worse.
        if old_not_after >= now {
            self.files.check_time(&loaded, now)?;
        }
        let Loaded { config, not_after, .. } = loaded;
        let new = Current { contents: Arc::new(contents), config, not_after };
        *self.current.write().unwrap_or_else(PoisonError::into_inner) = new;
        Ok(true)
    }

    /// Reads the files again and again until `stop` is cancelled.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future ends the reading; a read that has begun goes to its end on a thread for blocking work.
    pub async fn run(self: &Arc<Self>, stop: CancellationToken) {
        let mut ticks = interval(self.interval);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        // The first tick comes at once, and the files have just been read.
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
