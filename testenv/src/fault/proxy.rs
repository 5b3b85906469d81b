//! The handle of a fault proxy.

use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use bytes::Bytes;
use futures::TryFutureExt as _;
use futures::future::{Either, ready};
use http::header::{self, HeaderMap};
use http::{Request, Response, Version};
use http_body::Body;
use http_body_util::BodyExt as _;
use http_body_util::combinators::UnsyncBoxBody;
use hyper::body::Incoming;
use hyper_util::client::legacy::Client as HttpClient;
use hyper_util::rt::TokioExecutor;
use kube::client::ConfigExt as _;
use kube::{Client, Config};
use kubesmith_apiserver::{Identity, Listener, Sockets};
use tower::util::BoxCloneSyncService;
use tower::{BoxError, Layer as _, Service, ServiceBuilder, ServiceExt as _, service_fn};

use super::answer::answer;
use super::body::FaultBody;
use super::rule::Rule;
use super::schedule::{Injection, Schedule};
use super::service::{FaultLayer, FaultService};
use crate::error::Error;
use crate::kubeconfig;

/// The body of a request or of the server's response.
pub(crate) type AnyBody = UnsyncBoxBody<Bytes, BoxError>;
/// A connection to the server, with all rights.
pub(crate) type Upstream = BoxCloneSyncService<Request<AnyBody>, Response<AnyBody>, BoxError>;

/// A connection to an environment's server with faults; see [the module](super).
///
/// Clients of a proxy have all rights. It does not support upgraded connections: exec, attach and port forwarding.
pub struct FaultProxy {
    faults: FaultLayer,
    upstream: Upstream,
    listener: Option<Listener>,
}

impl std::fmt::Debug for FaultProxy {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("FaultProxy")
            .field("faults", &self.faults)
            .field("listener", &self.listener)
            .finish_non_exhaustive()
    }
}

impl FaultProxy {
    pub(crate) fn new(upstream: Upstream, schedule: Schedule) -> Self {
        Self { faults: FaultLayer::new(schedule), upstream, listener: None }
    }

    /// Returns a client whose requests pass through the proxy, without a socket.
    ///
    /// Unlike the clients that kube creates from a configuration by default, it does not retry after 429, 503 or 504.
    ///
    /// # Panics
    /// Panics outside of a tokio runtime.
    #[must_use]
    pub fn client(&self) -> Client {
        let service = ServiceBuilder::new()
            .map_request(|request: Request<kube::client::Body>| {
                request.map(|body| body.map_err(BoxError::from).boxed_unsync())
            })
            .layer(&self.faults)
            .service(self.upstream.clone());
        Client::new(service, "default")
    }

    /// Opens a socket with TLS on `addr`; port 0 selects a free one. [`FaultProxy::kubeconfig`] then describes it.
    ///
    /// It uses HTTP/1.1, where a connection carries one request at a time, so that a broken one affects no other
    /// request.
    ///
    /// # Errors
    /// Returns an error when the address cannot be listened on.
    pub async fn serve(&mut self, addr: SocketAddr) -> Result<String, Error> {
        self.listen(addr, Some(Identity::new()?)).await
    }

    /// Opens a socket without TLS and without authentication.
    ///
    /// # Errors
    /// Returns an error when the address cannot be listened on.
    pub async fn serve_plain(&mut self, addr: SocketAddr) -> Result<String, Error> {
        self.listen(addr, None).await
    }

    async fn listen(&mut self, addr: SocketAddr, identity: Option<Identity>) -> Result<String, Error> {
        if let Some(old) = self.listener.take() {
            old.stop().await;
        }
        let token = identity.as_ref().map(|identity| format!("Bearer {}", identity.token));
        let service = self.faults.layer(self.upstream.clone());
        let service = service_fn(move |request| forward(service.clone(), request, token.as_deref()));
        let sockets = Sockets { identity, http2: false, grace: Duration::ZERO, certificate: None };
        let listener = Listener::start(addr, sockets, service).await?;
        let url = listener.url();
        self.listener = Some(listener);
        Ok(url)
    }

    /// Returns the proxy's address for other processes; `None` before [`FaultProxy::serve`].
    #[must_use]
    pub fn url(&self) -> Option<String> {
        self.listener.as_ref().map(Listener::url)
    }

    /// Returns a kubeconfig for the proxy's socket, as YAML; opens one on a free loopback port if there is none.
    ///
    /// # Errors
    /// Returns an error when no socket can be opened.
    pub async fn kubeconfig(&mut self) -> Result<String, Error> {
        if self.listener.is_none() {
            self.serve(SocketAddr::from((Ipv4Addr::LOCALHOST, 0))).await?;
        }
        Ok(self.listener.as_ref().map(Listener::kubeconfig).unwrap_or_default())
    }

    /// Returns a client configuration for the proxy's socket; opens one on a free loopback port if there is none.
    ///
    /// Its `default_retry` is off, so that faults reach the code under test; turn it on to test a client with kube's
    /// retries.
    ///
    /// # Errors
    /// Returns an error when no socket can be opened.
    pub async fn config(&mut self) -> Result<Config, Error> {
        let mut config = kubeconfig::read(&self.kubeconfig().await?).await?;
        config.default_retry = false;
        Ok(config)
    }

    /// As [`FaultLayer::set_schedule`].
    pub fn set_schedule(&self, schedule: Schedule) {
        self.faults.set_schedule(schedule);
    }

    /// As [`FaultLayer::add_rule`].
    pub fn add_rule(&self, rule: Rule) {
        self.faults.add_rule(rule);
    }

    /// As [`FaultLayer::injections`].
    #[must_use]
    pub fn injections(&self) -> Vec<Injection> {
        self.faults.injections()
    }

    /// As [`FaultLayer::report`].
    #[must_use]
    pub fn report(&self) -> String {
        self.faults.report()
    }

    /// Closes the socket and breaks its connections. Clients without a socket continue to work.
    pub async fn stop(mut self) {
        if let Some(listener) = self.listener.take() {
            listener.stop().await;
        }
    }
}

/// Passes a request from the socket on, if it has the token.
fn forward(
    service: FaultService<Upstream>,
    mut request: Request<Incoming>,
    token: Option<&str>,
) -> impl Future<Output = Result<Response<FaultBody>, BoxError>> + Send + use<> {
    let given = request.headers_mut().remove(header::AUTHORIZATION);
    if token.is_some_and(|token| given.is_none_or(|given| given.as_bytes() != token.as_bytes())) {
        return Either::Left(ready(Ok(answer(401, None).map(|body| FaultBody::new(body, None)))));
    }
    request.headers_mut().remove(header::HOST);
    one_hop(request.headers_mut());
    let request = request.map(|body| body.map_err(BoxError::from).boxed_unsync());
    Either::Right(service.oneshot(request).map_ok(|mut response| {
        *response.version_mut() = Version::HTTP_11;
        one_hop(response.headers_mut());
        response
    }))
}

/// Removes the headers of one connection (RFC 9110, section 7.6.1).
fn one_hop(headers: &mut HeaderMap) {
    for name in [header::CONNECTION, header::TE, header::TRANSFER_ENCODING, header::UPGRADE] {
        headers.remove(name);
    }
    headers.remove("keep-alive");
    headers.remove("proxy-connection");
}

/// Returns the connection to a server, from a client configuration.
pub(crate) fn upstream(config: &Config) -> Result<Upstream, Error> {
    let failed = |e: kube::Error| Error::Config(e.to_string());
    let connector = config.rustls_https_connector().map_err(failed)?;
    let http: HttpClient<_, AnyBody> = HttpClient::builder(TokioExecutor::new()).build(connector);
    let service = ServiceBuilder::new()
        .layer(config.base_uri_layer())
        .option_layer(config.auth_layer().map_err(failed)?)
        .layer(config.extra_headers_layer().map_err(failed)?)
        .map_err(BoxError::from)
        .service(http);
    Ok(boxed(service))
}

/// Returns the connection to a service in this process, or to any other.
pub(crate) fn boxed<S, R>(service: S) -> Upstream
where
    S: Service<Request<AnyBody>, Response = Response<R>> + Clone + Send + Sync + 'static,
    S::Error: Into<BoxError>,
    S::Future: Send + 'static,
    R: Body<Data = Bytes> + Send + 'static,
    R::Error: Into<BoxError>,
{
    let service = service.map_err(Into::into);
    let any = |response: Response<R>| response.map(|body| body.map_err(Into::into).boxed_unsync());
    BoxCloneSyncService::new(service.map_response(any))
}
