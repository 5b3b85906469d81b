//! The connections to a server: HTTP/2 if it is offered, otherwise HTTP/1.1.
//!
//! The first request opens a connection, which shows what the server offers and is then used. HTTP/2 requests share
//! connections; when one has all the streams that it may have, another is opened. An HTTP/2 connection has many
//! readers, so a task of its own polls it. An HTTP/1.1 connection has one reader, whose task polls it
//! ([`drive`](crate::client::drive)).

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use futures::FutureExt;
use futures::future::{BoxFuture, Shared};
use http::header::UPGRADE;
use http::uri::Scheme;
use http::{Request, Uri};
use hyper_rustls::{FixedServerNameResolver, HttpsConnector, HttpsConnectorBuilder};
use hyper_timeout::TimeoutConnector;
use hyper_util::client::legacy::connect::{Connection, HttpConnector};
use hyper_util::client::legacy::{self, Builder, Client};
use hyper_util::rt::{TokioExecutor, TokioTimer};
use kube::client::{Body, ConfigExt};
use tokio::time::Instant;
use tower::{BoxError, Service};

use super::body::Wire;
use super::stack::Answer;
use crate::client::drive::DriverExecutor;
use crate::client::{ClientOptions, HttpVersion};

/// Flow-control windows, as in Go. A stream that is not read must not block the others of its connection.
const STREAM_WINDOW: u32 = 4 << 20;
const CONNECTION_WINDOW: u32 = 1 << 30;

/// A connection that has been silent for this long gets a ping, and is dropped without a response (client-go's
/// numbers).
const PING_AFTER: Duration = Duration::from_secs(30);
const PING_TIMEOUT: Duration = Duration::from_secs(15);

/// A first connection that has been idle for this long may be closed, so it is not used.
const STALE_AFTER: Duration = Duration::from_secs(5);

type Connector = TimeoutConnector<HttpsConnector<HttpConnector>>;
type Connected = <Connector as Service<Uri>>::Response;

/// A request's place among the streams of its connection.
pub(super) type Stream = Arc<()>;

/// The server offered HTTP/2 before but does not now.
#[derive(Debug, thiserror::Error)]
#[error("the server no longer offers HTTP/2; the next request negotiates the protocol again")]
struct NoLongerOffered;

/// All connections of a client.
#[derive(Clone)]
pub(super) struct Connections {
    inner: Arc<Inner>,
}

struct Inner {
    http1: Client<Dial, Body>,
    http2: Option<Http2>,
}

/// State for servers that may offer HTTP/2.
struct Http2 {
    server: Uri,
    dial: Dial,
    /// The first connection, if the server offers only HTTP/1.1.
    http1: Slot,
    offer: Arc<Mutex<Offer>>,
    connections: Mutex<Vec<Http2Connection>>,
    max_streams: usize,
}

/// The knowledge whether the server offers HTTP/2.
enum Offer {
    Unknown,
    /// A request is finding out; all waiters share its result, including a failure.
    Asked(Shared<BoxFuture<'static, Result<bool, SharedError>>>),
    Known(bool),
}

/// One HTTP/2 connection at a time, and its streams.
struct Http2Connection {
    client: Client<Dial, Body>,
    streams: Stream,
}

/// A connection that waits to be used, and since when.
type Slot = Arc<Mutex<Option<(Connected, Instant)>>>;

/// Opens connections, or takes the waiting one.
#[derive(Clone)]
struct Dial {
    connector: Connector,
    waiting: Slot,
    /// Set if only HTTP/2 is acceptable.
    offer: Option<Arc<Mutex<Offer>>>,
    /// The last failure to open a connection, if there was no success since.
    failed: Arc<Mutex<Option<SharedError>>>,
}

impl Connections {
    pub(super) fn new(config: &kube::Config, options: &ClientOptions) -> kube::Result<Self> {
        // Built once for both, because it may run a command that returns the certificate.
        let tls = config.rustls_client_config()?;
        let slot = Slot::default();
        let dial = Dial {
            connector: connector(config, tls.clone(), false)?,
            waiting: Arc::clone(&slot),
            offer: None,
            failed: Arc::default(),
        };
        let http1 = Client::builder(DriverExecutor).pool_timer(TokioTimer::new()).build(dial);
        let is_tls = config.cluster_url.scheme() == Some(&Scheme::HTTPS);
        let http2 = match options.http_version {
            HttpVersion::Auto if is_tls => {
                let offer = Arc::new(Mutex::new(Offer::Unknown));
                let connector = connector(config, tls, true)?;
                let dial = Dial {
                    connector,
                    waiting: Slot::default(),
                    offer: Some(Arc::clone(&offer)),
                    failed: Arc::default(),
                };
                Some(Http2 {
                    server: config.cluster_url.clone(),
                    dial,
                    http1: slot,
                    offer,
                    connections: Mutex::default(),
                    max_streams: options.max_streams,
                })
            }
            _ => None,
        };
        Ok(Self { inner: Arc::new(Inner { http1, http2 }) })
    }
}

impl Service<Request<Body>> for Connections {
    type Response = Answer;
    type Error = BoxError;
    type Future = BoxFuture<'static, Result<Answer, BoxError>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        let inner = Arc::clone(&self.inner);
        Box::pin(async move {
            // Only HTTP/1.1 connections can be upgraded.
            let http2 = inner.http2.as_ref().filter(|_| !request.headers().contains_key(UPGRADE));
            if let Some(http2) = http2
                && http2.is_offered().await?
            {
                let (client, stream) = http2.connection();
                let answer = client.request(request).await.map_err(|error| http2.reason(error))?;
                return Ok(answer.map(|body| Wire::direct(body, Some(stream))));
            }
            Ok(inner.http1.request(request).await?.map(|body| Wire::direct(body, None)))
        })
    }
}

impl Http2 {
    /// Finds out what the server offers; concurrent callers share one attempt.
    async fn is_offered(&self) -> Result<bool, BoxError> {
        let asked = {
            let mut offer = self.offer.lock().unwrap_or_else(PoisonError::into_inner);
            match &*offer {
                Offer::Known(offered) => return Ok(*offered),
                Offer::Asked(asked) => asked.clone(),
                Offer::Unknown => {
                    let asked = self.ask().boxed().shared();
                    *offer = Offer::Asked(asked.clone());
                    asked
                }
            }
        };
        asked.await.map_err(BoxError::from)
    }

    /// Opens the first connection and keeps it for the version that the server chose.
    fn ask(&self) -> impl Future<Output = Result<bool, SharedError>> + use<> {
        let (server, mut dial) = (self.server.clone(), self.dial.clone());
        let (http1, http2) = (Arc::clone(&self.http1), Arc::clone(&self.dial.waiting));
        let offer = Arc::clone(&self.offer);
        async move {
            let connected = dial.connector.call(server).await;
            let mut offer = offer.lock().unwrap_or_else(PoisonError::into_inner);
            let connected = match connected {
                Ok(connected) => connected,
                Err(error) => {
                    *offer = Offer::Unknown;
                    return Err(SharedError(error.into()));
                }
            };
            let is_http2 = connected.connected().is_negotiated_h2();
            let slot = if is_http2 { http2 } else { http1 };
            *slot.lock().unwrap_or_else(PoisonError::into_inner) = Some((connected, Instant::now()));
            *offer = Offer::Known(is_http2);
            Ok(is_http2)
        }
    }

    /// Returns the cause of a failed request. For requests that waited for another request's connection, hyper's
    /// error only states that there is none.
    fn reason(&self, error: legacy::Error) -> BoxError {
        let failed = self.dial.failed.lock().unwrap_or_else(PoisonError::into_inner).clone();
        match failed {
            Some(failed) if error.connect_info().is_none() && !error.is_connect() => failed.into(),
            _ => error.into(),
        }
    }

    /// Returns the first connection with a free stream, and the stream.
    fn connection(&self) -> (Client<Dial, Body>, Stream) {
        let mut connections = self.connections.lock().unwrap_or_else(PoisonError::into_inner);
        let has_room =
            |connection: &&Http2Connection| Arc::strong_count(&connection.streams) <= self.max_streams;
        if let Some(connection) = connections.iter().find(has_room) {
            return (connection.client.clone(), Arc::clone(&connection.streams));
        }
        let connection =
            Http2Connection { client: http2_client(self.dial.clone()), streams: Stream::default() };
        let place = (connection.client.clone(), Arc::clone(&connection.streams));
        connections.push(connection);
        place
    }
}

/// Makes a client that sends all requests over one connection.
fn http2_client(dial: Dial) -> Client<Dial, Body> {
    Builder::new(TokioExecutor::new())
        .timer(TokioTimer::new())
        .pool_timer(TokioTimer::new())
        .http2_only(true)
        .http2_initial_stream_window_size(STREAM_WINDOW)
        .http2_initial_connection_window_size(CONNECTION_WINDOW)
        .http2_keep_alive_interval(PING_AFTER)
        .http2_keep_alive_timeout(PING_TIMEOUT)
        .build(dial)
}

/// Makes a connector with kube's TLS and timeouts; kube's own connector does not offer HTTP/2.
fn connector(config: &kube::Config, tls: rustls::ClientConfig, http2: bool) -> kube::Result<Connector> {
    let mut tcp = HttpConnector::new();
    tcp.enforce_http(false);
    tcp.set_nodelay(true);
    let mut builder = HttpsConnectorBuilder::new().with_tls_config(tls).https_or_http();
    if let Some(name) = &config.tls_server_name {
        let name = name.clone().try_into().map_err(kube::client::RustlsTlsError::InvalidServerName);
        let name = name.map_err(kube::Error::RustlsTls)?;
        builder = builder.with_server_name_resolver(FixedServerNameResolver::new(name));
    }
    let builder = builder.enable_http1();
    let tls = if http2 { builder.enable_http2().wrap_connector(tcp) } else { builder.wrap_connector(tcp) };
    let mut connector = TimeoutConnector::new(tls);
    connector.set_connect_timeout(config.connect_timeout);
    connector.set_read_timeout(config.read_timeout);
    connector.set_write_timeout(config.write_timeout);
    connector.set_reset_reader_on_write(config.reset_reader_on_write);
    Ok(connector)
}

impl Service<Uri> for Dial {
    type Response = Connected;
    type Error = BoxError;
    type Future = BoxFuture<'static, Result<Connected, BoxError>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        self.connector.poll_ready(context)
    }

    fn call(&mut self, server: Uri) -> Self::Future {
        let waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some((connected, since)) = waiting
            && since.elapsed() < STALE_AFTER
        {
            return Box::pin(std::future::ready(Ok(connected)));
        }
        let (connecting, offer) = (self.connector.call(server), self.offer.clone());
        let failed = Arc::clone(&self.failed);
        Box::pin(async move {
            let connected = connecting.await.map_err(|error| SharedError(error.into()));
            *failed.lock().unwrap_or_else(PoisonError::into_inner) = connected.as_ref().err().cloned();
            let connected = connected?;
            if let Some(offer) = offer
                && !connected.connected().is_negotiated_h2()
            {
                *offer.lock().unwrap_or_else(PoisonError::into_inner) = Offer::Unknown;
                return Err(NoLongerOffered.into());
            }
            Ok(connected)
        })
    }
}

/// A failure that several requests share.
#[derive(Clone, Debug)]
struct SharedError(Arc<dyn std::error::Error + Send + Sync>);

impl fmt::Display for SharedError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "cannot connect: {}", self.0)
    }
}

impl std::error::Error for SharedError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.0.source()
    }
}
