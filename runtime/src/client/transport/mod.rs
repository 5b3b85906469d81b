//! The transport of a `kube::Client`: rate limit, retries, credentials, compression, connections.
//!
//! A request waits for the rate limit, passes kube's layers (address, credentials, headers), and is retried if the
//! server postpones it. If the server refuses the credentials, they are read again, at most every ten seconds; kube
//! reads them again only shortly before they expire.

mod body;
mod connections;
mod gzip;
mod limit;
mod metrics;
mod stack;

use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use futures::future::BoxFuture;
use http::header::{ACCEPT_ENCODING, RETRY_AFTER, UPGRADE};
use http::{HeaderValue, Method, Request, Response, StatusCode};
use http_body_util::{BodyExt, Limited};
use kube::client::Body;
use tokio::time::Instant;
use tower::{BoxError, Service, ServiceExt};
use tracing::field::Empty;
use tracing::{Instrument, Span};

use self::body::AnswerBody;
use self::limit::Limit;
use self::metrics::Metrics;
use self::stack::{Answer, Stack};
use super::{ClientOptions, Error};
use crate::deadline::after;
use crate::trace;

/// The minimum time between two reads of the credentials.
const RELOAD_INTERVAL: Duration = Duration::from_secs(10);

/// The longest time to wait for a server, whatever it asks for.
pub(crate) const LONGEST_WAIT: Duration = Duration::from_secs(3600);

/// The part of a refusal that is read to keep its connection usable.
const DRAINED: usize = 4 << 10;

/// Marks requests of a reflector, which retries by itself and reads compressed watches.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FromReflector;

/// The call exceeded its timeout.
#[derive(Debug, thiserror::Error)]
#[error("the request took longer than the timeout of {0:?}")]
pub(super) struct TimedOut(pub(super) Duration);

/// The transport of a client. Clones share it.
#[derive(Clone)]
pub(super) struct Transport {
    inner: Arc<Inner>,
}

struct Inner {
    config: kube::Config,
    options: ClientOptions,
    limit: Option<Limit>,
    metrics: Option<Metrics>,
    current: Mutex<Current>,
    /// Locked while credentials are read again.
    reloading: tokio::sync::Mutex<()>,
}

/// The present stack.
struct Current {
    stack: Stack,
    generation: u64,
    reloaded: Option<Instant>,
}

impl Transport {
    /// # Errors
    /// Options that exclude each other, and kube's errors about TLS and credentials.
    pub(super) fn new(mut config: kube::Config, mut options: ClientOptions) -> Result<Self, Error> {
        options.check()?;
        options.gzip &= !config.disable_compression;
        if !config.default_retry {
            options.max_retries = 0;
        }
        // This transport does both, even over kube's own stack.
        config.default_retry = false;
        config.disable_compression = true;
        let stack = Stack::new(&config, &options).map_err(|error| Error::Connect(Box::new(error)))?;
        let limit = options.rate_limit.map(|(qps, burst)| Limit::new(qps, burst));
        let metrics = options.metrics.as_ref().map(|registry| Metrics::new(registry, &config.cluster_url));
        let current = Mutex::new(Current { stack, generation: 0, reloaded: None });
        let reloading = tokio::sync::Mutex::new(());
        Ok(Self { inner: Arc::new(Inner { config, options, limit, metrics, current, reloading }) })
    }
}

impl Service<Request<Body>> for Transport {
    type Response = Response<AnswerBody>;
    type Error = BoxError;
    type Future = BoxFuture<'static, Result<Self::Response, BoxError>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        let inner = Arc::clone(&self.inner);
        Box::pin(async move { inner.call(request).await })
    }
}

impl Inner {
    async fn call(&self, mut request: Request<Body>) -> Result<Response<AnswerBody>, BoxError> {
        self.ask_for_gzip(&mut request);
        let is_endless = is_endless(&request);
        let timer = self.metrics.as_ref().filter(|_| !is_endless).map(|metrics| metrics.timer(&request));
        let Some(timeout) = self.options.timeout.filter(|_| !is_endless) else {
            return Ok(self.send(request).await?.map(|wire| AnswerBody::new(wire, None, timer)));
        };
        self.turn(request.method()).await;
        let deadline = after(timeout);
        let sending = self.send_in_turn(request, true);
        match tokio::time::timeout_at(deadline, sending).await {
            Ok(answer) => Ok(answer?.map(|wire| AnswerBody::new(wire, Some((deadline, timeout)), timer))),
            Err(_) => Err(TimedOut(timeout).into()),
        }
    }

    /// Waits for the rate limit.
    async fn turn(&self, method: &Method) {
        let Some(limit) = &self.limit else { return };
        let since = Instant::now();
        limit.turn().await;
        if let Some(metrics) = &self.metrics {
            metrics.waited(method.as_str(), since.elapsed());
        }
    }

    async fn send(&self, request: Request<Body>) -> Result<Answer, BoxError> {
        self.send_in_turn(request, false).await
    }

    /// Sends a request, and again if it is postponed. With `has_turn` the first try has passed the rate limit.
    async fn send_in_turn(&self, mut request: Request<Body>, mut has_turn: bool) -> Result<Answer, BoxError> {
        let own_retries = request.extensions().get::<FromReflector>().is_some();
        let max_retries = if own_retries { 0 } else { self.options.max_retries };
        let (mut retries, mut has_reloaded) = (0, false);
        loop {
            let again = replay(&request);
            let (stack, generation) = self.current();
            if !std::mem::take(&mut has_turn) {
                self.turn(request.method()).await;
            }
            let method = request.method().clone();
            let span = self.span(&request);
            trace::inject(&span, request.headers_mut());
            let answer = requested(stack, request).instrument(span).await;
            if let Some(metrics) = &self.metrics {
                metrics.tried(method.as_str(), &answer);
            }
            let answer = answer?;
            let Some(next) = again else { return Ok(answer) };
            if answer.status() == StatusCode::UNAUTHORIZED && !has_reloaded && self.reload(generation).await {
                has_reloaded = true;
            } else if let Some(wait) = put_off(&answer).filter(|_| retries < max_retries) {
                retries += 1;
                // The result only decides whether the connection can be used again.
                let _ = Limited::new(answer.into_body(), DRAINED).collect().await;
                tokio::time::sleep(wait).await;
            } else {
                return Ok(answer);
            }
            request = next;
        }
    }

    /// Returns the span of one try, with the name and attributes of kube's client.
    fn span(&self, request: &Request<Body>) -> Span {
        tracing::debug_span!(
            "HTTP",
            http.method = %request.method(),
            http.url = format_args!("{}{}", self.config.cluster_url.to_string().trim_end_matches('/'), request.uri()),
            http.status_code = Empty,
            otel.name = %request.method(),
            otel.kind = "client",
            otel.status_code = Empty,
        )
    }

    fn ask_for_gzip(&self, request: &mut Request<Body>) {
        let is_readers = request.extensions().get::<FromReflector>().is_some();
        if self.options.gzip && (is_readers || !request.headers().contains_key(ACCEPT_ENCODING)) {
            request.headers_mut().insert(ACCEPT_ENCODING, HeaderValue::from_static("gzip"));
        }
    }

    fn current(&self) -> (Stack, u64) {
        let current = self.current.lock().unwrap_or_else(PoisonError::into_inner);
        (current.stack.clone(), current.generation)
    }

    /// Reads again the credentials that a request of this generation used; returns whether there are new ones.
    async fn reload(&self, generation: u64) -> bool {
        if !stack::can_change(&self.config.auth_info) {
            return false;
        }
        let _turn = self.reloading.lock().await;
        let stack = {
            let mut current = self.current.lock().unwrap_or_else(PoisonError::into_inner);
            if current.generation != generation {
                return true;
            }
            let now = Instant::now();
            if current.reloaded.is_some_and(|at| now < at + RELOAD_INTERVAL) {
                return false;
            }
            current.reloaded = Some(now);
            current.stack.clone()
        };
        let (config, options) = (self.config.clone(), self.options.clone());
        // This runs commands and reads files.
        let reloaded = tokio::task::spawn_blocking(move || stack.reload(&config, &options)).await;
        match reloaded {
            Ok(Ok(stack)) => {
                let mut current = self.current.lock().unwrap_or_else(PoisonError::into_inner);
                current.stack = stack;
                current.generation += 1;
                tracing::info!("the server refused the credentials; they were read again");
                true
            }
            Ok(Err(error)) => {
                let error = super::error::causes(&error);
                tracing::warn!(%error, "the server refused the credentials, and they cannot be read again");
                false
            }
            Err(_) => false,
        }
    }
}

/// Sends a request in its span.
async fn requested(stack: Stack, request: Request<Body>) -> Result<Answer, BoxError> {
    tracing::debug!("requesting");
    let answer = stack.oneshot(request).await;
    let span = Span::current();
    if let Ok(answer) = &answer {
        span.record("http.status_code", answer.status().as_u16());
    }
    let is_error = |answer: &Answer| answer.status().is_client_error() || answer.status().is_server_error();
    if answer.as_ref().map_or(true, is_error) {
        span.record("otel.status_code", "ERROR");
    }
    tracing::debug!("answered");
    answer
}

/// Returns how long the server asks to wait, by client-go's rule.
fn put_off(answer: &Answer) -> Option<Duration> {
    let status = answer.status();
    if status != StatusCode::TOO_MANY_REQUESTS && !status.is_server_error() {
        return None;
    }
    retry_after(answer.headers())
}

/// Returns the seconds of a `Retry-After` header, at most an hour. API servers do not send dates.
pub(crate) fn retry_after(headers: &http::HeaderMap) -> Option<Duration> {
    let seconds = headers.get(RETRY_AFTER)?.to_str().ok()?.trim().parse().ok()?;
    Some(Duration::from_secs(seconds).min(LONGEST_WAIT))
}

/// Returns a copy of the request, unless its body is a stream.
fn replay(request: &Request<Body>) -> Option<Request<Body>> {
    let mut again = Request::new(request.body().try_clone()?);
    request.method().clone_into(again.method_mut());
    request.uri().clone_into(again.uri_mut());
    request.headers().clone_into(again.headers_mut());
    request.extensions().clone_into(again.extensions_mut());
    *again.version_mut() = request.version();
    Some(again)
}

/// Reports whether the response lasts as long as the request specifies.
fn is_endless(request: &Request<Body>) -> bool {
    let query = request.uri().query().unwrap_or_default();
    let is_set = |pair: &str| {
        let (name, value) = pair.split_once('=').unwrap_or((pair, "true"));
        ["watch", "follow"].contains(&name) && !["false", "0"].contains(&value)
    };
    request.headers().contains_key(UPGRADE) || query.split('&').any(is_set)
}

#[cfg(test)]
mod tests;
