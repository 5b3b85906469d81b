//! Sends spans to a collector in OpenTelemetry's protocol, OTLP over HTTP.

use std::time::Duration;

use http::Uri;
use http::uri::PathAndQuery;
use opentelemetry::trace::TracerProvider;
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::error::OTelSdkError;
use opentelemetry_sdk::trace::{SdkTracer, SdkTracerProvider};
use tokio::runtime::Handle;
use tokio::task::spawn_blocking;
use tracing_opentelemetry::OpenTelemetryLayer;

use super::collector::Collector;
use super::settings::{Settings, traces_below};
use crate::client;

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
    /// `OTEL_EXPORTER_OTLP_COMPRESSION`, or the variable for traces, is neither `gzip` nor `none`.
    #[error("the compression {value:?} of {variable} is unknown: set gzip or none")]
    Compression {
        /// The name of the variable.
        variable: String,
        /// Its value.
        value: String,
    },
    /// `OTEL_EXPORTER_OTLP_PROTOCOL`, or the variable for traces, is not `http/protobuf`.
    #[error(
        "the protocol {value:?} of {variable} is not supported: set http/protobuf, and the collector's address for it, whose port is usually 4318"
    )]
    Protocol {
        /// The name of the variable.
        variable: String,
        /// Its value.
        value: String,
    },
    /// Only one of `OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE` and `OTEL_EXPORTER_OTLP_CLIENT_KEY` is set.
    #[error("{variable} is set alone: set both the client's certificate and its key")]
    ClientCertificate {
        /// The name of the variable.
        variable: String,
    },
    /// `OTEL_EXPORTER_OTLP_TIMEOUT`, or the variable for traces, is not a number of milliseconds.
    #[error("the timeout {value:?} of {variable} is not a whole number of milliseconds, such as 10000")]
    Timeout {
        /// The name of the variable.
        variable: String,
        /// Its value.
        value: String,
    },
    /// `OTEL_EXPORTER_OTLP_HEADERS`, or the variable for traces, has a malformed part. The error does not contain it, as
    /// headers are often credentials.
    #[error(
        "part {part} of {variable} is not a header: write name=value, with a percent-encoded value, and commas between headers"
    )]
    Header {
        /// The name of the variable.
        variable: String,
        /// The number of the part between commas, counted from 1.
        part: usize,
    },
    /// The last spans did not reach the collector.
    #[error("the last spans did not reach the collector: {0}")]
    Shutdown(#[source] OTelSdkError),
}

/// Sends the spans of a program to an OpenTelemetry collector, in batches.
///
/// The settings come from OpenTelemetry's environment variables: `OTEL_EXPORTER_OTLP_ENDPOINT`,
/// `OTEL_EXPORTER_OTLP_TRACES_ENDPOINT`, `OTEL_EXPORTER_OTLP_HEADERS`, `OTEL_EXPORTER_OTLP_TIMEOUT`,
/// `OTEL_EXPORTER_OTLP_COMPRESSION`, `OTEL_EXPORTER_OTLP_PROTOCOL`, `OTEL_EXPORTER_OTLP_CERTIFICATE`,
/// `OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE`, `OTEL_EXPORTER_OTLP_CLIENT_KEY`, `OTEL_SERVICE_NAME`, `OTEL_RESOURCE_ATTRIBUTES`,
/// `OTEL_TRACES_SAMPLER`, `OTEL_BSP_*` and `OTEL_SDK_DISABLED`. An empty variable counts as unset.
/// [`start`](TraceExporterBuilder::start) refuses malformed endpoints, headers, timeouts and compressions, and other protocols than
/// `http/protobuf`. OpenTelemetry's specification lets a program fail at its start for a bad environment; a warning would
/// be lost, as the program installs its log after the start. A collector that is slow or away delays nothing: spans that do not
/// fit the queue are dropped.
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
    /// An address that is not a URL, a malformed timeout or header, an unknown compression or protocol, and files of certificates that
    /// cannot be read.
    ///
    /// # Panics
    /// Outside a tokio runtime.
    pub async fn start(self) -> Result<TraceExporter, TraceExporterError> {
        let Some(settings) = Settings::from_env()? else {
            return Ok(TraceExporter { provider: SdkTracerProvider::builder().build() });
        };
        let url = self.endpoint.as_deref().map_or_else(|| settings.url.clone(), traces_below);
        let (address, path) = collector(&url)?;
        let timeout = self.timeout.unwrap_or(settings.timeout);
        let names_service = settings.names_service;
        let collector = Collector::new(address, path, timeout, settings, Handle::current())
            .await
            .map_err(TraceExporterError::Client)?;
        let mut resource = Resource::builder();
        if !names_service {
            resource = resource.with_service_name(self.service_name);
        }
        let provider = SdkTracerProvider::builder()
            .with_resource(resource.build())
            .with_batch_exporter(collector)
            .build();
        Ok(TraceExporter { provider })
    }
}

/// Returns the address of the collector and the path of traces.
fn collector(url: &str) -> Result<(Uri, PathAndQuery), TraceExporterError> {
    let wrong = || TraceExporterError::Endpoint(url.to_owned());
    let parts = url.parse::<Uri>().map_err(|_| wrong())?.into_parts();
    let (Some(scheme), Some(authority)) = (parts.scheme, parts.authority) else { return Err(wrong()) };
    if !["http", "https"].contains(&scheme.as_str()) {
        return Err(wrong());
    }
    let address = Uri::builder().scheme(scheme).authority(authority).path_and_query("/").build();
    let path = parts.path_and_query.unwrap_or_else(|| PathAndQuery::from_static("/"));
    Ok((address.map_err(|_| wrong())?, path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn collector_needs_a_scheme_and_a_host() {
        let (address, path) = collector(&traces_below("https://collector/otlp/")).unwrap();
        assert_eq!((address.to_string().as_str(), path.as_str()), ("https://collector/", "/otlp/v1/traces"));
        for wrong in ["collector:4318", "", "ftp://collector", "http://"] {
            let error = collector(&traces_below(wrong)).unwrap_err();
            assert!(matches!(error, TraceExporterError::Endpoint(_)), "{error}");
        }
    }
}
