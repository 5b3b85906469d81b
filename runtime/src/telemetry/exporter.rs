//! Sends spans to a collector in OpenTelemetry's protocol, OTLP over HTTP.

use std::env::var;
use std::time::Duration;

use http::Uri;
use opentelemetry::trace::TracerProvider;
use opentelemetry_otlp::{ExporterBuildError, Protocol, SpanExporter, WithExportConfig, WithHttpConfig};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::error::OTelSdkError;
use opentelemetry_sdk::trace::{SdkTracer, SdkTracerProvider};
use tokio::runtime::Handle;
use tokio::task::spawn_blocking;
use tracing_opentelemetry::OpenTelemetryLayer;

use super::http_client::CollectorClient;
use crate::client;

/// OpenTelemetry's default of the collector's address.
const ENDPOINT: &str = "http://localhost:4318";
/// OpenTelemetry's default for the time of one export.
const TIMEOUT: Duration = Duration::from_secs(10);
const TRACES_PATH: &str = "/v1/traces";

/// The spans cannot be exported. [`TraceExporterBuilder`] and [`TraceExporter::shutdown`] return it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TraceExporterError {
    /// The collector's address is not a URL with a host.
    #[error("the collector's address `{0}` is not a URL such as `http://collector:4318`")]
    Endpoint(String),
    /// The client to the collector cannot be made.
    #[error("the client to the collector: {0}")]
    Client(#[source] client::Error),
    /// OpenTelemetry refused a setting.
    #[error("the OpenTelemetry exporter: {0}")]
    Settings(#[source] ExporterBuildError),
    /// The last spans did not reach the collector.
    #[error("the last spans did not reach the collector: {0}")]
    Shutdown(#[source] OTelSdkError),
}

/// Sends the spans of a program to an OpenTelemetry collector, in batches.
///
/// The settings come from OpenTelemetry's environment variables: `OTEL_EXPORTER_OTLP_ENDPOINT`,
/// `OTEL_EXPORTER_OTLP_TRACES_ENDPOINT`, `OTEL_EXPORTER_OTLP_HEADERS`, `OTEL_EXPORTER_OTLP_TIMEOUT`,
/// `OTEL_SERVICE_NAME`, `OTEL_RESOURCE_ATTRIBUTES`, `OTEL_TRACES_SAMPLER` and `OTEL_BSP_*`. A collector that is slow
/// or away delays nothing: spans that do not fit the queue are dropped.
///
/// ```no_run
/// use std::time::Duration;
///
/// use kubesmith_runtime::telemetry::TraceExporter;
/// use tracing_subscriber::filter::Targets;
/// use tracing_subscriber::prelude::*;
///
/// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
/// let exporter = TraceExporter::builder("bakery").start().await?;
/// // Requests are spans of level DEBUG.
/// let spans = Targets::new().with_target("kubesmith_runtime", tracing::Level::DEBUG);
/// tracing_subscriber::registry()
///     .with(tracing_subscriber::fmt::layer())
///     .with(exporter.layer().with_filter(spans))
///     .init();
/// // … the manager runs …
/// exporter.shutdown(Duration::from_secs(5)).await?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
#[must_use = "spans are exported until `shutdown`"]
pub struct TraceExporter {
    provider: SdkTracerProvider,
}

/// The settings of a [`TraceExporter`].
///
/// ```no_run
/// use std::time::Duration;
///
/// use kubesmith_runtime::telemetry::{TraceExporter, TraceExporterBuilder, TraceExporterError};
///
/// async fn start() -> Result<TraceExporter, TraceExporterError> {
///     let builder: TraceExporterBuilder = TraceExporter::builder("bakery").endpoint("http://collector:4318");
///     builder.timeout(Duration::from_secs(2)).start().await
/// }
/// ```
#[derive(Clone, Debug)]
#[must_use = "`start` makes the exporter"]
pub struct TraceExporterBuilder {
    service_name: String,
    endpoint: Option<String>,
    timeout: Option<Duration>,
}

impl TraceExporter {
    /// Starts the settings. `service_name` names the program, unless `OTEL_SERVICE_NAME` does.
    pub fn builder(service_name: impl Into<String>) -> TraceExporterBuilder {
        TraceExporterBuilder { service_name: service_name.into(), endpoint: None, timeout: None }
    }

    /// Returns the layer for a `tracing_subscriber::Registry`, which takes the spans. A filter of the layer decides
    /// which are exported.
    pub fn layer<S>(&self) -> OpenTelemetryLayer<S, SdkTracer>
    where
        S: tracing::Subscriber + for<'span> tracing_subscriber::registry::LookupSpan<'span>,
    {
        tracing_opentelemetry::layer().with_tracer(self.provider.tracer("kubesmith"))
    }

    /// Sends the spans that wait, for at most `timeout`, and ends the export.
    ///
    /// # Errors
    /// [`TraceExporterError::Shutdown`] when they do not reach the collector in time.
    pub async fn shutdown(self, timeout: Duration) -> Result<(), TraceExporterError> {
        let provider = self.provider;
        // OpenTelemetry waits for a thread of its own.
        let done = spawn_blocking(move || provider.shutdown_with_timeout(timeout)).await;
        done.unwrap_or_else(|error| Err(OTelSdkError::InternalFailure(error.to_string())))
            .map_err(TraceExporterError::Shutdown)
    }
}

impl TraceExporterBuilder {
    /// Sets the collector's address, such as `http://collector:4318`, in place of the environment's. Spans go to the
    /// path `/v1/traces` below it.
    pub fn endpoint(mut self, endpoint: impl Into<String>) -> Self {
        self.endpoint = Some(endpoint.into());
        self
    }

    /// Sets the limit for the time of one export, in place of the environment's; 10 seconds by default.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }

    /// Starts the export. The collector need not be there yet.
    ///
    /// # Errors
    /// An address that is not a URL, and settings that OpenTelemetry refuses.
    ///
    /// # Panics
    /// Outside a tokio runtime.
    pub async fn start(self) -> Result<TraceExporter, TraceExporterError> {
        let url = self.url();
        let collector = collector(&url)?;
        let timeout = self.timeout.unwrap_or_else(timeout_from_env);
        let client = CollectorClient::new(collector, timeout, Handle::current())
            .await
            .map_err(TraceExporterError::Client)?;
        let exporter = SpanExporter::builder()
            .with_http()
            .with_http_client(client)
            .with_protocol(Protocol::HttpBinary)
            .with_endpoint(url)
            .with_timeout(timeout)
            .build()
            .map_err(TraceExporterError::Settings)?;
        let mut resource = Resource::builder();
        if var("OTEL_SERVICE_NAME").is_err() {
            resource = resource.with_service_name(self.service_name);
        }
        let provider = SdkTracerProvider::builder()
            .with_resource(resource.build())
            .with_batch_exporter(exporter)
            .build();
        Ok(TraceExporter { provider })
    }

    /// Returns the URL of traces, by OpenTelemetry's rule: the variable for traces is the whole URL, and the general
    /// one is the base.
    fn url(&self) -> String {
        let below = |base: &str| format!("{}{TRACES_PATH}", base.trim_end_matches('/'));
        match &self.endpoint {
            Some(endpoint) => below(endpoint),
            None => var("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT").unwrap_or_else(|_| {
                below(&var("OTEL_EXPORTER_OTLP_ENDPOINT").unwrap_or_else(|_| ENDPOINT.to_owned()))
            }),
        }
    }
}

/// Returns the scheme and the host of a URL.
fn collector(url: &str) -> Result<Uri, TraceExporterError> {
    let wrong = || TraceExporterError::Endpoint(url.to_owned());
    let parts = url.parse::<Uri>().map_err(|_| wrong())?.into_parts();
    let (Some(scheme), Some(authority)) = (parts.scheme, parts.authority) else { return Err(wrong()) };
    if !["http", "https"].contains(&scheme.as_str()) {
        return Err(wrong());
    }
    Uri::builder().scheme(scheme).authority(authority).path_and_query("/").build().map_err(|_| wrong())
}

/// Returns the time of one export from the environment, in milliseconds there.
fn timeout_from_env() -> Duration {
    ["OTEL_EXPORTER_OTLP_TRACES_TIMEOUT", "OTEL_EXPORTER_OTLP_TIMEOUT"]
        .into_iter()
        .find_map(|name| var(name).ok()?.parse().ok())
        .map_or(TIMEOUT, Duration::from_millis)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn collector_needs_a_scheme_and_a_host() {
        let url = |endpoint: &str| TraceExporter::builder("x").endpoint(endpoint).url();
        assert_eq!(url("http://collector:4318/"), "http://collector:4318/v1/traces");
        assert_eq!(collector(&url("https://collector/otlp")).unwrap(), "https://collector/");
        for wrong in ["collector:4318", "", "ftp://collector", "http://"] {
            let error = collector(&url(wrong)).unwrap_err();
            assert!(matches!(error, TraceExporterError::Endpoint(_)), "{error}");
        }
    }
}
