//! The socket of the server, and its shutdown.

use std::fmt;
use std::net::{IpAddr, Ipv6Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use tokio::net::TcpListener;
use tokio::task::JoinSet;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use super::connection::{Shared, Streams, serve};
use super::router::Router;
use super::{SERVING, STOPPED, Server, ServerError, Started};
use crate::listen;
#[cfg(feature = "cert-rotation")]
use crate::webhook::CertRotator;
use crate::webhook::CertWatcher;

/// More connections are closed at once. An API server needs one or two.
const MAX_CONNECTIONS: usize = 1024;

/// A server that has loaded its certificate and bound its address. See [`Server::bind`].
///
/// ```no_run
/// use kubesmith_runtime::controller::CancellationToken;
/// use kubesmith_runtime::webhook::Server;
///
/// # async fn run(stop: CancellationToken) -> Result<(), Box<dyn std::error::Error>> {
/// let server = Server::builder().port(0).build()?.bind().await?;
/// println!("serving on {}", server.local_addr());
/// println!("the certificate is good until {}", server.certificates().expires_at());
/// server.run(stop).await;
/// # Ok(())
/// # }
/// ```
#[must_use = "run it"]
pub struct BoundServer {
    listener: TcpListener,
    address: SocketAddr,
    watcher: Arc<CertWatcher>,
    router: Router,
    grace: Duration,
    started: Arc<Started>,
    #[cfg(feature = "cert-rotation")]
    rotator: Option<CertRotator>,
}

impl BoundServer {
    pub(super) async fn new(server: Server) -> Result<Self, ServerError> {
        let registry = server.registry.unwrap_or_default();
        #[cfg(feature = "cert-rotation")]
        let rotator = server.certificates.rotator.clone();
        #[cfg(feature = "cert-rotation")]
        if let Some(rotator) = &rotator {
            rotator.obtain().await?;
        }
        let watcher = Arc::new(server.certificates.into_watcher().metrics_unless_given(&registry).load()?);
        let (listener, address) = bind(server.address, server.port.unwrap_or(super::DEFAULT_PORT)).await?;
        let router = Router::new(server.hooks, server.timeout, &registry);
        let (grace, started) = (server.grace, server.started);
        Ok(BoundServer {
            listener,
            address,
            watcher,
            router,
            grace,
            started,
            #[cfg(feature = "cert-rotation")]
            rotator,
        })
    }

    /// Returns the bound address.
    #[must_use]
    pub fn local_addr(&self) -> SocketAddr {
        self.address
    }

    /// Returns the watcher of the certificate.
    #[must_use]
    pub fn certificates(&self) -> &Arc<CertWatcher> {
        &self.watcher
    }

    /// Serves until `stop` is cancelled. Then accepts no more connections, and returns when running requests are
    /// finished or the grace has passed.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future ends all connections and requests at once.
    pub async fn run(self, stop: CancellationToken) {
        #[cfg(feature = "cert-rotation")]
        let rotation = {
            let (rotator, stop) = (self.rotator.clone(), stop.clone());
            async move {
                if let Some(rotator) = rotator {
                    rotator.run(stop).await;
                }
            }
        };
        #[cfg(not(feature = "cert-rotation"))]
        let rotation = std::future::ready(());
        let BoundServer { listener, address, watcher, router, grace, started, .. } = self;
        tracing::info!(%address, "serving webhooks");
        let (draining, streams) = (CancellationToken::new(), Streams::default());
        let shared =
            Arc::new(Shared { router: Arc::new(router), watcher: watcher.clone(), draining, streams });
        // If this future is dropped, the check must not report success.
        let started = Serving::begin(started);
        let serving = async {
            let mut connections = accept(listener, &shared, MAX_CONNECTIONS, &stop).await;
            drop(started);
            shared.draining.cancel();
            let ended = async { while connections.join_next().await.is_some() {} };
            if timeout(grace, ended).await.is_err() {
                tracing::warn!("webhook requests were still running after the grace and have been ended");
            }
            connections.shutdown().await;
            shared.streams.shutdown().await;
        };
        let looking_after = async {
            rotation.await;
            std::future::pending::<()>().await;
        };
        tokio::select! {
            () = serving => {}
            () = looking_after => {}
            // It must run until the last handshake.
            () = watcher.run(CancellationToken::new()) => {}
        }
        tracing::info!(%address, "webhooks are no longer served");
    }
}

/// Sets the state of the readiness check.
struct Serving(Arc<Started>);

impl Serving {
    fn begin(started: Arc<Started>) -> Self {
        started.set(SERVING);
        Serving(started)
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        self.0.set(STOPPED);
    }
}

/// Accepts connections until the stop, and closes the socket.
pub(super) async fn accept(
    listener: TcpListener,
    shared: &Arc<Shared>,
    most: usize,
    stop: &CancellationToken,
) -> JoinSet<()> {
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            () = stop.cancelled() => return connections,
            Some(_) = connections.join_next() => {}
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) if connections.len() < most => {
                    connections.spawn(serve(stream, shared.clone()));
                }
                Ok((_, peer)) => tracing::warn!(%peer, "too many connections for webhooks"),
                Err(error) => {
                    // For instance, there are no file descriptors left: an immediate retry would only spin.
                    tracing::warn!(%error, "cannot accept a connection for webhooks");
                    tokio::time::sleep(Duration::from_millis(100)).await;
                }
            },
        }
    }
}

/// Binds the address; without one all addresses, or those of IPv4 alone if the host has no IPv6.
async fn bind(address: Option<IpAddr>, port: u16) -> Result<(TcpListener, SocketAddr), ServerError> {
    let wanted = SocketAddr::new(address.unwrap_or(IpAddr::V6(Ipv6Addr::UNSPECIFIED)), port);
    let failed = |source| ServerError::Bind { address: wanted, source };
    let listener = match address {
        Some(_) => TcpListener::bind(wanted).await,
        None => listen::everywhere(port),
    };
    let listener = listener.map_err(failed)?;
    let bound = listener.local_addr().map_err(failed)?;
    Ok((listener, bound))
}

impl fmt::Debug for BoundServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BoundServer")
            .field("address", &self.address)
            .field("certificates", &self.watcher)
            .finish_non_exhaustive()
    }
}
