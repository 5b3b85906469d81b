//! Sockets: a listener that owns and awaits all of its connections and tasks.

use std::io;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response};
use http_body::Body;
use hyper::body::Incoming;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto::Builder;
use hyper_util::service::TowerToHyperService;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch as signal;
use tokio::task::{JoinHandle, JoinSet};
use tokio_rustls::TlsAcceptor;
use tower::{BoxError, Service, ServiceExt as _};

use crate::der;
use crate::error::Error;
use crate::identity::Identity;
use crate::kubeconfig::{self, Credentials};
use crate::tls::Pair;

/// The timeout of a TLS handshake.
const HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(20);
/// The timeout of a request's head, which for hyper begins with the end of the request before it. Shorter than clients keep
/// idle connections, it would end one that a client is about to use. `IdleTimeout` of kube-apiserver's
/// `secure_serving.go`.
const IDLE_TIMEOUT: Duration = Duration::from_secs(90);
/// The pause after a failed accept.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// The settings of a listener.
pub struct Sockets {
    /// The server's identity for TLS; `None` for plain HTTP without authentication.
    pub identity: Option<Identity>,
    /// Whether the listener supports HTTP/2 beside HTTP/1.1.
    pub http2: bool,
    /// The time that connections have to end when the listener stops.
    pub grace: Duration,
    /// A certificate for the kubeconfig, beside the token.
    pub certificate: Option<Pair>,
}

/// A running listener.
#[derive(Debug)]
pub struct Listener {
    addr: SocketAddr,
    /// The bearer token of this listener; `None` over plain HTTP.
    token: Option<Arc<str>>,
    /// The authority's certificate as PEM; `None` over plain HTTP.
    authority: Option<String>,
    /// A client's certificate for the kubeconfig.
    certificate: Option<Pair>,
    stop: signal::Sender<bool>,
    task: JoinHandle<()>,
}

/// A service that handles requests from sockets. It has to check the token itself.
pub trait Answers:
    Service<Request<Incoming>, Response = Response<Self::Body>, Error: Into<BoxError>, Future: Send + 'static>
    + Clone
    + Send
    + 'static
{
    /// The body of its responses.
    type Body: Body<Data = Bytes, Error: Into<BoxError>> + Send + 'static;
}

impl<S, B> Answers for S
where
    S: Service<Request<Incoming>, Response = Response<B>, Error: Into<BoxError>, Future: Send + 'static>
        + Clone
        + Send
        + 'static,
    B: Body<Data = Bytes, Error: Into<BoxError>> + Send + 'static,
{
    type Body = B;
}

impl Listener {
    /// Listens on `addr`.
    ///
    /// # Errors
    /// Returns an error if the address cannot be listened on, or certificates cannot be made.
    pub async fn start(addr: SocketAddr, sockets: Sockets, service: impl Answers) -> Result<Self, Error> {
        let failed = |source| Error::Listen { addr, source };
        let socket = TcpListener::bind(addr).await.map_err(failed)?;
        let addr = socket.local_addr().map_err(failed)?;
        let acceptor = |identity: &Identity| identity.authority.acceptor(hosts(addr), sockets.http2);
        let acceptor = sockets.identity.as_ref().map(acceptor).transpose()?;
        let (token, authority) =
            sockets.identity.map(|identity| (identity.token, identity.authority.pem)).unzip();
        let (stop, stopped) = signal::channel(false);
        let connections = Connections { service, http2: sockets.http2, grace: sockets.grace, stopped };
        let task = tokio::spawn(accept(socket, connections, acceptor));
        Ok(Self { addr, token, authority, certificate: sockets.certificate, stop, task })
    }

    /// Returns the listener's URL for clients on this machine.
    #[must_use]
    pub fn url(&self) -> String {
        let scheme = if self.token.is_some() { "https" } else { "http" };
        let mut addr = self.addr;
        if addr.ip().is_unspecified() {
            // Clients cannot connect to the unspecified address, and no certificate names it.
            addr.set_ip(if addr.is_ipv4() { Ipv4Addr::LOCALHOST.into() } else { Ipv6Addr::LOCALHOST.into() });
        }
        format!("{scheme}://{addr}")
    }

    /// Returns a kubeconfig for the listener.
    #[must_use]
    pub fn kubeconfig(&self) -> String {
        let credentials = match (&self.token, &self.certificate) {
            (Some(token), Some(pair)) => Credentials::Both(token, pair),
            (Some(token), None) => Credentials::Token(token),
            (None, _) => Credentials::None,
        };
        self.kubeconfig_for(&credentials)
    }

    /// Returns a kubeconfig with these credentials.
    #[must_use]
    pub fn kubeconfig_for(&self, credentials: &Credentials<'_>) -> String {
        kubeconfig::write(&self.url(), self.authority.as_deref(), credentials)
    }

    /// Ends all connections and waits for them.
    pub async fn stop(self) {
        self.stop.send_replace(true);
        // The task neither panics nor is cancelled elsewhere; in any case it has ended.
        let _ = self.task.await;
    }
}

fn hosts(addr: SocketAddr) -> Vec<String> {
    let mut hosts = vec!["localhost".to_owned(), "127.0.0.1".to_owned(), "::1".to_owned()];
    let own = addr.ip().to_string();
    if !addr.ip().is_unspecified() && !hosts.contains(&own) {
        hosts.push(own);
    }
    hosts
}

/// The shared state of a listener's connections.
#[derive(Clone)]
struct Connections<S> {
    service: S,
    http2: bool,
    grace: Duration,
    stopped: signal::Receiver<bool>,
}

async fn accept(socket: TcpListener, all: Connections<impl Answers>, acceptor: Option<TlsAcceptor>) {
    let mut connections = JoinSet::new();
    let mut stopped = all.stopped.clone();
    loop {
        tokio::select! {
            _ = stopped.changed() => break,
            _ = connections.join_next(), if !connections.is_empty() => {}
            accepted = socket.accept() => {
                match accepted {
                    Ok((stream, _)) => {
                        connections.spawn(connection(stream, acceptor.clone(), all.clone()));
                    }
                    // A connection that broke before it was accepted only concerns its client.
                    Err(error) if broke_off(&error) => {}
                    // The process may have no free file descriptors; retrying at once would burn time.
                    Err(_) => tokio::time::sleep(ACCEPT_PAUSE).await,
                }
            }
        }
    }
    while connections.join_next().await.is_some() {}
}

fn broke_off(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset};
    matches!(error.kind(), ConnectionAborted | ConnectionRefused | ConnectionReset)
}

async fn connection(stream: TcpStream, acceptor: Option<TlsAcceptor>, mut all: Connections<impl Answers>) {
    // Without it small watch events are delayed; a socket that refuses the option still works.
    let _ = stream.set_nodelay(true);
    let Some(acceptor) = acceptor else {
        serve(stream, all, None).await;
        return;
    };
    let handshake = tokio::time::timeout(HANDSHAKE_TIMEOUT, acceptor.accept(stream));
    let accepted = tokio::select! {
        accepted = handshake => accepted,
        _ = all.stopped.changed() => return,
    };
    if let Ok(Ok(stream)) = accepted {
        let shown = stream.get_ref().1.peer_certificates().and_then(<[_]>::first);
        let certified = shown.and_then(|certificate| der::subject(certificate)).map(Certified);
        serve(stream, all, certified).await;
    }
}

/// The subject of a connection's client certificate; an extension of its requests.
#[derive(Clone, Debug)]
pub(crate) struct Certified(pub(crate) der::Subject);

async fn serve<T>(stream: T, mut all: Connections<impl Answers>, certified: Option<Certified>)
where
    T: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let mut builder = Builder::new(TokioExecutor::new());
    if !all.http2 {
        builder = builder.http1_only();
    }
    builder.http1().timer(TokioTimer::new()).header_read_timeout(IDLE_TIMEOUT);
    builder.http2().timer(TokioTimer::new()).max_concurrent_streams(1000);
    let service = all.service.map_request(move |mut request: Request<Incoming>| {
        if let Some(certified) = &certified {
            request.extensions_mut().insert(certified.clone());
        }
        request
    });
    let connection =
        builder.serve_connection_with_upgrades(TokioIo::new(stream), TowerToHyperService::new(service));
    let mut connection = std::pin::pin!(connection);
    tokio::select! {
        // A client's errors only end its own connection.
        _ = connection.as_mut() => {}
        _ = all.stopped.changed() => {
            connection.as_mut().graceful_shutdown();
            let _ = tokio::time::timeout(all.grace, connection).await;
        }
    }
}

#[cfg(test)]
mod tests {
    use http_body_util::Empty;
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    use tower::service_fn;

    use super::*;

    /// Sends a request and returns the response up to the end of its head.
    async fn ask(client: &mut tokio::io::DuplexStream) -> String {
        client.write_all(b"GET / HTTP/1.1\r\nhost: a\r\n\r\n").await.unwrap();
        let mut answer = Vec::new();
        while !answer.ends_with(b"\r\n\r\n") {
            answer.push(client.read_u8().await.unwrap());
        }
        String::from_utf8(answer).unwrap()
    }

    #[tokio::test(start_paused = true)]
    async fn connection_is_kept_as_long_as_clients_keep_idle_ones() {
        let service = service_fn(async |_: Request<Incoming>| {
            Ok::<_, std::convert::Infallible>(Response::new(Empty::<Bytes>::new()))
        });
        let (_stop, stopped) = signal::channel(false);
        let all = Connections { service, http2: false, grace: Duration::ZERO, stopped };
        let (mut client, server) = tokio::io::duplex(4096);
        let serving = tokio::spawn(serve(server, all, None));
        assert!(ask(&mut client).await.starts_with("HTTP/1.1 200"));
        tokio::time::sleep(Duration::from_secs(85)).await;
        assert!(ask(&mut client).await.starts_with("HTTP/1.1 200"));
        // The end of an idle connection.
        assert_eq!(client.read(&mut [0]).await.unwrap_or_default(), 0);
        serving.await.unwrap();
    }
}
