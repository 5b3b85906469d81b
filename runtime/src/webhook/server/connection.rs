//! Connections: handshake, requests, shutdown.

use std::future::Future;
use std::pin::pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use hyper_util::server::conn::auto;
use tokio::net::TcpStream;
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::timeout;
use tokio_rustls::TlsAcceptor;
use tokio_util::sync::CancellationToken;

use super::router::Router;
use crate::webhook::CertWatcher;

/// The time limit of a client's handshake, and then of the head of its first request (controller-runtime's
/// `ReadHeaderTimeout`).
const FIRST_HEAD: Duration = Duration::from_secs(32);
/// The time limit of an idle connection between requests, and of the head of a later request (controller-runtime's
/// `IdleTimeout`).
const IDLE: Duration = Duration::from_secs(90);
/// The time limit of closing a connection.
const GOODBYE: Duration = Duration::from_secs(5);
/// The size limit of a request's head (Go's).
const MAX_HEAD: u32 = 1 << 20;

/// State shared by all connections.
pub(super) struct Shared {
    pub(super) router: Arc<Router>,
    pub(super) watcher: Arc<CertWatcher>,
    /// Cancelled when no new requests are taken.
    pub(super) draining: CancellationToken,
    /// The requests of HTTP/2 connections.
    pub(super) streams: Streams,
}

/// The tasks in which HTTP/2 runs its requests. They end with their connection, or on shutdown.
#[derive(Clone, Default)]
pub(super) struct Streams(Arc<Mutex<JoinSet<()>>>);

impl Streams {
    /// Ends all tasks and waits for them.
    pub(super) async fn shutdown(&self) {
        let mut tasks = std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner));
        tasks.shutdown().await;
    }
}

impl<F> hyper::rt::Executor<F> for Streams
where
    F: Future<Output = ()> + Send + 'static,
{
    fn execute(&self, future: F) {
        let mut tasks = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        while tasks.try_join_next().is_some() {}
        tasks.spawn(future);
    }
}

/// The requests of a connection.
#[derive(Clone, Copy, Default)]
struct Load {
    running: usize,
    has_served: bool,
}

/// A running request.
struct Running(watch::Sender<Load>);

impl Running {
    fn begin(load: &watch::Sender<Load>) -> Self {
        load.send_modify(|load| load.running += 1);
        Running(load.clone())
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.0.send_modify(|load| *load = Load { running: load.running.saturating_sub(1), has_served: true });
    }
}

/// Returns when no request has run for `between`, or for `first` if there was none at all.
async fn idle(mut load: watch::Receiver<Load>, first: Duration, between: Duration) {
    loop {
        let now = *load.borrow_and_update();
        let patience = match (now.running, now.has_served) {
            (0, false) => first,
            (0, true) => between,
            _ => Duration::MAX,
        };
        match timeout(patience, load.changed()).await {
            Ok(Ok(())) => {}
            // The sender is dropped with the connection.
            Ok(Err(_)) | Err(_) => return,
        }
    }
}

/// Serves a connection until it ends.
pub(super) async fn serve(stream: TcpStream, shared: Arc<Shared>) {
    // Answers are small, and clients wait for them.
    if let Err(error) = stream.set_nodelay(true) {
        tracing::debug!(%error, "connection without TCP_NODELAY");
    }
    let handshake = TlsAcceptor::from(shared.watcher.server_config()).accept(stream);
    let stream = tokio::select! {
        () = shared.draining.cancelled() => return,
        done = timeout(FIRST_HEAD, handshake) => match done {
            Ok(Ok(stream)) => stream,
            Ok(Err(error)) => return tracing::debug!(%error, "no TLS on a connection for webhooks"),
            Err(_) => return tracing::debug!("a client did not finish its TLS handshake"),
        },
    };
    let is_http2 = stream.get_ref().1.alpn_protocol() == Some(b"h2");
    let (load, seen) = watch::channel(Load::default());
    let router = shared.router.clone();
    let service = service_fn(move |request: http::Request<Incoming>| {
        let running = Running::begin(&load);
        let router = router.clone();
        async move {
            let response = router.serve(request).await;
            drop(running);
            response
        }
    });
    let server = builder(&shared.streams, is_http2);
    let mut connection = pin!(server.serve_connection(TokioIo::new(stream), service));
    let ended = tokio::select! {
        result = connection.as_mut() => Some(result),
        () = shared.draining.cancelled() => None,
        () = idle(seen.clone(), FIRST_HEAD, IDLE) => None,
    };
    let result = match ended {
        Some(result) => result,
        None => {
            connection.as_mut().graceful_shutdown();
            tokio::select! {
                result = connection => result,
                // Do not wait for a request whose head is incomplete.
                () = idle(seen, GOODBYE, GOODBYE) => Ok(()),
            }
        }
    };
    // It is normal that clients disconnect.
    if let Err(error) = result {
        tracing::debug!(%error, "a connection for webhooks ended");
    }
}

fn builder(streams: &Streams, is_http2: bool) -> auto::Builder<Streams> {
    let mut builder = auto::Builder::new(streams.clone());
    builder.http2().max_header_list_size(MAX_HEAD);
    // `idle` enforces both timeouts, for both protocols.
    builder.http1().header_read_timeout(None).max_buf_size(MAX_HEAD as usize);
    if is_http2 { builder.http2_only() } else { builder.http1_only() }
}
