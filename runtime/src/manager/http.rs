//! The endpoints: metrics, health and the state page, over HTTP/1.1.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use ::http::header::{CONTENT_TYPE, HeaderValue};
use ::http::{HeaderMap, Method, Response, StatusCode, Uri};
use bytes::Bytes;
use futures::future::OptionFuture;
use http_body_util::Full;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use super::authorization::{Authorizer, Refusal};
use super::debug::page;
use super::informers::Informers;
use super::log_levels::{self, LogLevels};
use super::tls::Tls;
use crate::controller::ControllerState;
use crate::leaderelection::LeaseView;
use crate::metrics::{CONTENT_TYPE as METRICS_TYPE, Registry};
use crate::sharding::Shard;

/// More connections are closed at once: probes and scrapes need few.
const MAX_CONNECTIONS: usize = 128;
/// The time limit of a request's head.
pub(super) const HEAD_TIMEOUT: Duration = Duration::from_secs(10);

/// The content type of everything but metrics and the state page.
const TEXT: &str = "text/plain; charset=utf-8";

type Check = Arc<dyn Fn() -> Result<(), String> + Send + Sync>;

/// The named checks of one endpoint.
#[derive(Clone, Default)]
pub(super) struct Checks(BTreeMap<String, Check>);

impl Checks {
    pub(super) fn add<F>(&mut self, name: impl Into<String>, check: F)
    where
        F: Fn() -> Result<(), String> + Send + Sync + 'static,
    {
        self.0.insert(name.into(), Arc::new(check));
    }

    /// Returns the response for `endpoint`, or for one of its checks, like Kubernetes' components.
    fn answer(&self, endpoint: &str, only: Option<&str>, query: &str) -> (StatusCode, String) {
        let parameters: Vec<(&str, &str)> =
            query.split('&').map(|pair| pair.split_once('=').unwrap_or((pair, ""))).collect();
        let is_excluded = |name: &str| parameters.contains(&("exclude", name));
        let mut lines = String::new();
        let mut found = false;
        let mut failed = false;
        for (name, check) in &self.0 {
            if only.is_some_and(|only| only != name) {
                continue;
            }
            found = true;
            if is_excluded(name) {
                lines.push_str(&format!("[+]{name} excluded: ok\n"));
                continue;
            }
            match check() {
                Ok(()) => lines.push_str(&format!("[+]{name} ok\n")),
                Err(error) => {
                    // The reason may contain details that are not for outsiders.
                    tracing::warn!(endpoint, check = name, error, "health check failed");
                    lines.push_str(&format!("[-]{name} failed: reason withheld\n"));
                    failed = true;
                }
            }
        }
        for (_, unknown) in parameters
            .iter()
            .filter(|(name, value)| *name == "exclude" && !value.is_empty() && !self.0.contains_key(*value))
        {
            lines.push_str(&format!(
                "warn: some health checks cannot be excluded: no matches for \"{unknown}\"\n"
            ));
        }
        if only.is_some() && !found {
            return (StatusCode::NOT_FOUND, "404 page not found\n".to_owned());
        }
        if failed {
            return (StatusCode::INTERNAL_SERVER_ERROR, format!("{lines}{endpoint} check failed\n"));
        }
        let is_verbose = parameters.iter().any(|(name, _)| *name == "verbose");
        if is_verbose {
            (StatusCode::OK, format!("{lines}{endpoint} check passed\n"))
        } else {
            (StatusCode::OK, "ok".to_owned())
        }
    }
}

/// The paths that an endpoint serves.
pub(super) enum Routes {
    Metrics(Registry, Option<Authorizer>),
    Health {
        healthz: Checks,
        readyz: Checks,
    },
    Debug {
        controllers: Vec<ControllerState>,
        informers: Informers,
        shard: Option<Shard>,
        lease: Option<LeaseView>,
        log_levels: Option<LogLevels>,
    },
}

impl Routes {
    pub(super) fn metrics(registry: Registry, authorizer: Option<Authorizer>) -> Self {
        Routes::Metrics(registry, authorizer)
    }

    pub(super) fn health(healthz: Checks, readyz: Checks) -> Self {
        Routes::Health { healthz, readyz }
    }

    pub(super) fn debug(
        controllers: Vec<ControllerState>,
        informers: Informers,
        shard: Option<Shard>,
        lease: Option<LeaseView>,
        log_levels: Option<LogLevels>,
    ) -> Self {
        Routes::Debug { controllers, informers, shard, lease, log_levels }
    }

    /// The paths in words.
    fn paths(&self) -> &'static str {
        match self {
            Routes::Metrics(..) => "/metrics",
            Routes::Health { .. } => "/healthz and /readyz",
            Routes::Debug { log_levels: None, .. } => "/debug/controllers",
            Routes::Debug { .. } => "/debug/controllers and /debug/flags/v",
        }
    }

    fn answer(&self, method: &Method, uri: &Uri) -> (StatusCode, &'static str, String) {
        if method != Method::GET && method != Method::HEAD {
            return (StatusCode::METHOD_NOT_ALLOWED, TEXT, "405 method not allowed\n".to_owned());
        }
        let path = uri.path().trim_matches('/');
        let (endpoint, only) =
            path.split_once('/').map_or((path, None), |(endpoint, only)| (endpoint, Some(only)));
        let query = uri.query().unwrap_or_default();
        let (status, text) = match (self, endpoint) {
            (Routes::Metrics(registry, _), "metrics") if only.is_none() => {
                return (StatusCode::OK, METRICS_TYPE, registry.encode());
            }
            (Routes::Debug { log_levels: Some(levels), .. }, _) if uri.path() == log_levels::PATH => {
                (StatusCode::OK, levels.shown())
            }
            (Routes::Debug { controllers, informers, shard, lease, .. }, "debug")
                if only == Some("controllers") =>
            {
                let (shard, lease) = (shard.as_ref().map(Shard::state), lease.as_ref().map(LeaseView::get));
                let page = page(controllers, &informers.states(), shard.as_ref(), lease.as_ref());
                return (StatusCode::OK, "text/html; charset=utf-8", page);
            }
            (Routes::Health { healthz, .. }, "healthz") => healthz.answer("healthz", only, query),
            (Routes::Health { readyz, .. }, "readyz") => readyz.answer("readyz", only, query),
            _ => {
                let text = format!("404 page not found; this address serves {}\n", self.paths());
                (StatusCode::NOT_FOUND, text)
            }
        };
        (status, TEXT, text)
    }
}

impl Routes {
    /// The log levels, if a request changes them.
    fn changed_levels(&self, method: &Method, uri: &Uri) -> Option<&LogLevels> {
        let Routes::Debug { log_levels: Some(levels), .. } = self else { return None };
        (method == Method::PUT && uri.path() == log_levels::PATH).then_some(levels)
    }

    /// Returns the refusal of this request, if it is not authorized.
    async fn refusal(&self, headers: &HeaderMap, method: &Method, uri: &Uri) -> Option<Refusal> {
        let Routes::Metrics(_, Some(authorizer)) = self else { return None };
        authorizer.check(headers, &method.as_str().to_ascii_lowercase(), uri.path()).await.err()
    }
}

/// Serves until `stop` is cancelled, and then closes open connections.
pub(super) async fn serve(
    listener: TcpListener,
    routes: Arc<Routes>,
    tls: Option<Tls>,
    stop: CancellationToken,
) {
    let mut connections = JoinSet::new();
    let reload = OptionFuture::from(tls.as_ref().map(|tls| tls.reload(stop.clone())));
    let mut reload = std::pin::pin!(reload);
    loop {
        tokio::select! {
            () = stop.cancelled() => return connections.shutdown().await,
            Some(()) = reload.as_mut(), if !stop.is_cancelled() => {}
            Some(_) = connections.join_next() => {}
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) if connections.len() < MAX_CONNECTIONS => {
                    connections.spawn(connection(stream, tls.clone(), routes.clone()));
                }
                Ok(_) => tracing::warn!("too many connections to an endpoint"),
                Err(error) => {
                    // For instance, there are no file descriptors left: an immediate retry would only spin.
                    tracing::warn!(%error, "cannot accept a connection");
                    tokio::time::sleep(Duration::from_millis(100)).await;
                }
            },
        }
    }
}

async fn connection(stream: TcpStream, tls: Option<Tls>, routes: Arc<Routes>) {
    let Some(tls) = tls else { return answer_requests(stream, routes).await };
    match timeout(HEAD_TIMEOUT, tls.accept(stream)).await {
        Ok(Ok(stream)) => answer_requests(stream, routes).await,
        Ok(Err(error)) => tracing::debug!(%error, "TLS handshake failed"),
        Err(_) => tracing::debug!("a client did not finish its TLS handshake"),
    }
}

async fn answer_requests(stream: impl AsyncRead + AsyncWrite + Unpin, routes: Arc<Routes>) {
    let service = service_fn(move |request: ::http::Request<hyper::body::Incoming>| {
        let routes = routes.clone();
        async move {
            let (head, body) = request.into_parts();
            let refusal = routes.refusal(&head.headers, &head.method, &head.uri).await;
            let (status, content_type, text) = match (refusal, routes.changed_levels(&head.method, &head.uri))
            {
                (Some((status, text)), _) => (status, TEXT, text.to_owned()),
                (None, Some(levels)) => {
                    let (status, text) = levels.put(body).await;
                    (status, TEXT, text)
                }
                (None, None) => routes.answer(&head.method, &head.uri),
            };
            let mut response = Response::new(Full::new(Bytes::from(text)));
            *response.status_mut() = status;
            response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
            Ok::<_, Infallible>(response)
        }
    });
    let mut server = http1::Builder::new();
    server.timer(TokioTimer::new()).header_read_timeout(HEAD_TIMEOUT);
    // It is normal that clients disconnect.
    if let Err(error) = server.serve_connection(TokioIo::new(stream), service).await {
        tracing::debug!(%error, "connection ended");
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    use super::*;
    use crate::informer::SharedInformerFactory;

    fn health() -> Routes {
        let mut healthz = Checks::default();
        healthz.add("ping", || Ok(()));
        healthz.add("disk", || Err("secret".to_owned()));
        Routes::health(healthz, Checks::default())
    }

    fn get(routes: &Routes, uri: &str) -> (u16, String) {
        let (status, _, text) = routes.answer(&Method::GET, &uri.parse().unwrap());
        (status.as_u16(), text)
    }

    #[test]
    fn health_checks_respond_like_kubernetes_components() {
        let routes = health();
        let failed = "[-]disk failed: reason withheld\n[+]ping ok\nhealthz check failed\n";
        assert_eq!(get(&routes, "/healthz"), (500, failed.to_owned()));
        assert_eq!(get(&routes, "/healthz?exclude=disk"), (200, "ok".to_owned()));
        let verbose = "[+]disk excluded: ok\n[+]ping ok\nhealthz check passed\n";
        assert_eq!(get(&routes, "/healthz?verbose&exclude=disk"), (200, verbose.to_owned()));
        let unknown = get(&routes, "/healthz?verbose&exclude=disk&exclude=dsk").1;
        assert!(unknown.contains("no matches for \"dsk\"\n"), "{unknown}");
        assert_eq!(get(&routes, "/healthz/ping"), (200, "ok".to_owned()));
        assert_eq!(get(&routes, "/healthz/none").0, 404);
        assert_eq!(get(&routes, "/readyz"), (200, "ok".to_owned()));
        assert_eq!(get(&routes, "/metrics").0, 404);
        let (status, ..) = routes.answer(&Method::POST, &Uri::from_static("/healthz"));
        assert_eq!(status, StatusCode::METHOD_NOT_ALLOWED);
    }

    #[tokio::test]
    async fn state_page_is_html() {
        let client =
            kube::Client::try_from(kube::Config::new(Uri::from_static("http://127.0.0.1:1"))).unwrap();
        let informers = Informers(vec![SharedInformerFactory::builder(client).build()]);
        let routes = Routes::debug(Vec::new(), informers, None, None, None);
        let answer = |path| routes.answer(&Method::GET, &Uri::from_static(path));
        let (status, kind, text) = answer("/debug/controllers");
        assert_eq!((status, kind), (StatusCode::OK, "text/html; charset=utf-8"));
        assert!(text.contains("<h2>Controllers</h2>") && text.contains("<h2>Caches</h2>"), "{text}");
        let (status, _, text) = answer("/");
        assert_eq!(status, StatusCode::NOT_FOUND);
        assert_eq!(text, "404 page not found; this address serves /debug/controllers\n");
        assert_eq!(answer("/metrics").0, StatusCode::NOT_FOUND);
    }

    #[tokio::test]
    async fn log_levels_are_changed_over_http() {
        let set = |text: &str| if text == "debug" { Ok(()) } else { Err("no filter".to_owned()) };
        let levels = LogLevels::new(|| "info".to_owned(), set);
        let routes = Arc::new(Routes::debug(Vec::new(), Informers(Vec::new()), None, None, Some(levels)));
        assert_eq!(get(&routes, "/debug/flags/v"), (200, "info\n".to_owned()));
        for (request, status) in [
            ("PUT /debug/flags/v HTTP/1.1\r\ncontent-length: 5\r\n", "HTTP/1.1 200"),
            ("PUT /debug/flags/v HTTP/1.1\r\ncontent-length: 4\r\n", "HTTP/1.1 400"),
            ("PUT /debug/controllers HTTP/1.1\r\ncontent-length: 5\r\n", "HTTP/1.1 405"),
        ] {
            let (mut client, server) = tokio::io::duplex(4096);
            let connection = tokio::spawn(answer_requests(server, routes.clone()));
            let text = format!("{request}host: x\r\nconnection: close\r\n\r\ndebug");
            client.write_all(text.as_bytes()).await.unwrap();
            let mut answer = String::new();
            client.read_to_string(&mut answer).await.unwrap();
            connection.await.unwrap();
            assert!(answer.starts_with(status), "{request}: {answer}");
        }
    }

    #[tokio::test]
    async fn metrics_are_served_until_the_stop() {
        let registry = Registry::new();
        registry.counter("a_total", "A.", &[]).inc();
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let address = listener.local_addr().unwrap();
        let stop = CancellationToken::new();
        let server =
            tokio::spawn(serve(listener, Arc::new(Routes::metrics(registry, None)), None, stop.clone()));
        let mut stream = TcpStream::connect(address).await.unwrap();
        stream.write_all(b"GET /metrics HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n").await.unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.unwrap();
        assert!(answer.starts_with("HTTP/1.1 200 OK\r\n"), "{answer}");
        assert!(answer.contains("content-type: application/openmetrics-text"), "{answer}");
        assert!(answer.ends_with("a_total 1\n# EOF\n"), "{answer}");
        let mut idle = TcpStream::connect(address).await.unwrap();
        stop.cancel();
        server.await.unwrap();
        assert_eq!(idle.read(&mut [0]).await.unwrap_or(0), 0, "closed");
    }
}
