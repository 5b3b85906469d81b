//! The options of a client's communication with the server.

use std::time::Duration;

use http::HeaderValue;

use super::Error;
use crate::metrics::Registry;

/// Streams on one HTTP/2 connection before another is opened; servers allow at least this many (RFC 9113, 6.5.2).
const STREAMS_PER_CONNECTION: usize = 100;

/// The limit of retries of a request that the server postpones (client-go's number).
const MAX_RETRIES: u32 = 10;

/// The HTTP version that a client uses with a server behind TLS. Without TLS it is always HTTP/1.1.
/// [`ClientOptions`] has an example.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum HttpVersion {
    /// HTTP/2 if the server offers it, otherwise HTTP/1.1. Up to [`ClientOptions::max_streams_per_connection`]
    /// requests and watches share a connection.
    #[default]
    Auto,
    /// HTTP/1.1: each watch has a connection of its own, which its informer polls in its own task. Faster for a few
    /// informers with very many changes; more expensive for the server, and for many informers.
    Http1,
}

/// The options of a client's communication with the server; the argument of
/// [`connect_with_options`](super::connect_with_options).
///
/// | option | client-go | here |
/// |---|---|---|
/// | HTTP/2 | if offered | if offered |
/// | gzip | on | off |
/// | QPS and burst | 5 and 10 | no limit, as in controller-runtime |
/// | retries of postponed requests | 10 | 10 |
/// | timeout | none | none |
///
/// ```
/// use std::time::Duration;
/// use kubesmith_runtime::client::{ClientOptions, HttpVersion};
///
/// let options = ClientOptions::new()
///     .user_agent("balancer/1.2")
///     .http_version(HttpVersion::Auto)
///     .gzip(true)
///     .max_streams_per_connection(250)
///     .rate_limit(20.0, 30)
///     .max_retries(3)
///     .timeout(Duration::from_secs(30));
/// ```
#[derive(Clone, Debug)]
pub struct ClientOptions {
    pub(super) user_agent: Option<String>,
    pub(super) http_version: HttpVersion,
    pub(super) max_streams: usize,
    pub(super) gzip: bool,
    pub(super) rate_limit: Option<(f64, u32)>,
    pub(super) max_retries: u32,
    pub(super) timeout: Option<Duration>,
    pub(super) metrics: Option<Registry>,
}

impl ClientOptions {
    /// Returns the defaults: HTTP/2 if the server offers it, no gzip, no rate limit, ten retries, no timeout.
    #[must_use]
    pub fn new() -> Self {
        Self {
            user_agent: None,
            http_version: HttpVersion::Auto,
            max_streams: STREAMS_PER_CONNECTION,
            gzip: false,
            rate_limit: None,
            max_retries: MAX_RETRIES,
            timeout: None,
            metrics: None,
        }
    }

    /// Sets the user agent, instead of the configuration's or [`default_user_agent`](super::default_user_agent).
    #[must_use]
    pub fn user_agent(mut self, user_agent: impl Into<String>) -> Self {
        self.user_agent = Some(user_agent.into());
        self
    }

    /// Sets the HTTP version. A client behind a proxy uses HTTP/1.1.
    #[must_use]
    pub fn http_version(mut self, version: HttpVersion) -> Self {
        self.http_version = version;
        self
    }

    /// Sets how many requests and watches share one HTTP/2 connection before another is opened; 100 by default,
    /// which every server allows, and at least one. With more than the server allows, requests wait for watches to
    /// end.
    #[must_use]
    pub fn max_streams_per_connection(mut self, streams: usize) -> Self {
        self.max_streams = streams.max(1);
        self
    }

    /// Requests compressed responses, including lists and watches. Off by default: the CPU time on both sides exceeds
    /// the time saved on a fast network, so it pays on slow or metered networks. A configuration with
    /// `disable_compression` overrides it.
    #[must_use]
    pub fn gzip(mut self, wanted: bool) -> Self {
        self.gzip = wanted;
        self
    }

    /// At most `qps` requests per second, after `burst` at once: client-go's token bucket, shared by all clones of the
    /// client. Requests wait for their turn in the order in which they came. Watches take a token when they begin, and
    /// retries one each. Leader election wants a client of its own, so that a renewal does not wait behind other requests.
    #[must_use]
    pub fn rate_limit(mut self, qps: f64, burst: u32) -> Self {
        self.rate_limit = Some((qps, burst));
        self
    }

    /// Sets how often a request is retried that the server postpones, by 429 or 5xx with a time to wait in `Retry-After`.
    /// Ten by default; zero leaves retries to the caller. Requests of all verbs are retried, except streamed uploads,
    /// whose body is gone. A configuration without `default_retry` overrides it. Informers wait by their own backoff, and
    /// no shorter than the server requests.
    #[must_use]
    pub fn max_retries(mut self, retries: u32) -> Self {
        self.max_retries = retries;
        self
    }

    /// Sets the time limit of a call, from its turn under the rate limit to the end of the response, including
    /// retries. Watches, followed logs and upgraded connections are not limited: they last as long as requested.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }

    /// Counts requests in `registry`, under client-go's names. `host` is the server's host and port.
    ///
    /// - `rest_client_requests_total{code,method,host}`: requests sent, including retries; the code of one without a
    ///   response is `<error>`
    /// - `rest_client_request_duration_seconds{verb,host}`: time from the start of a call to the end of its response,
    ///   with all waits and retries. Watches, followed logs and upgraded connections are left out.
    /// - `rest_client_rate_limiter_duration_seconds{verb,host}`: time that a request waited for its turn under the
    ///   [rate limit](Self::rate_limit)
    ///
    /// A manager shows them if it has the [same registry](crate::manager::ManagerBuilder::metrics):
    ///
    /// ```no_run
    /// use kubesmith_runtime::client::{ClientOptions, connect_with_options};
    /// use kubesmith_runtime::manager::Manager;
    /// use kubesmith_runtime::metrics::Registry;
    ///
    /// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
    /// let registry = Registry::new();
    /// let options = ClientOptions::new().metrics(&registry);
    /// let client = connect_with_options(kube::Config::infer().await?, options).await?;
    /// let manager = Manager::builder(client).metrics(&registry).metrics_address(([0, 0, 0, 0], 8080)).build();
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn metrics(mut self, registry: &Registry) -> Self {
        self.metrics = Some(registry.clone());
        self
    }

    /// Refuses what cannot be done.
    pub(super) fn check(&self) -> Result<(), Error> {
        if let Some((qps, burst)) = self.rate_limit
            && (!qps.is_finite() || qps <= 0.0 || burst == 0)
        {
            return Err(Error::Options(format!(
                "a rate limit of {qps} requests per second and {burst} at once lets nothing pass: both must be positive; \
                 without a limit, leave it out"
            )));
        }
        if let Some(agent) = &self.user_agent
            && HeaderValue::from_str(agent).is_err()
        {
            return Err(Error::Options(format!(
                "the user agent {agent:?} cannot be sent: use visible ASCII"
            )));
        }
        if self.timeout == Some(Duration::ZERO) {
            return Err(Error::Options("a timeout of zero lets no call succeed: leave it out".to_owned()));
        }
        Ok(())
    }
}

impl Default for ClientOptions {
    fn default() -> Self {
        Self::new()
    }
}
