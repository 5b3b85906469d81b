//! The requests of an exporter, sent by the runtime's own client: TLS and HTTP versions are the same.
//!
//! opentelemetry-otlp 0.32 is not used: it reads variables itself, refuses an empty compression, and lets empty headers for traces
//! hide the general ones.

use std::fmt;
use std::io::Write;
use std::time::Duration;

use flate2::Compression;
use flate2::write::GzEncoder;
use http::header::{CONTENT_ENCODING, CONTENT_TYPE, HeaderValue};
use http::uri::PathAndQuery;
use http::{HeaderMap, Method, Request, Uri};
use http_body_util::{BodyExt, Limited};
use kube::client::Body;
use opentelemetry_proto::tonic::collector::trace::v1::{
    ExportTraceServiceRequest, ExportTraceServiceResponse,
};
use opentelemetry_proto::transform::common::tonic::ResourceAttributesWithSchema;
use opentelemetry_proto::transform::trace::tonic::group_spans_by_resource_and_scope;
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::error::{OTelSdkError, OTelSdkResult};
use opentelemetry_sdk::trace::{SpanData, SpanExporter};
use prost::Message;
use tokio::runtime::Handle;
use tracing::instrument::WithSubscriber;
use tracing::subscriber::NoSubscriber;

use super::settings::Settings;
use crate::client::{ClientOptions, Error, connect_with_options};

/// The limit of a collector's response, in bytes.
const MAX_BYTES: usize = 1 << 20;

/// Sends spans to one collector, as OTLP over HTTP in binary.
pub(super) struct Collector {
    client: kube::Client,
    /// The path; the client adds the address of the collector.
    path: PathAndQuery,
    headers: HeaderMap,
    gzip: bool,
    resource: ResourceAttributesWithSchema,
    /// The exporter's thread is not one of tokio's, so requests are tasks of this runtime.
    runtime: Handle,
}

impl Collector {
    /// # Errors
    /// As [`connect_with_options`].
    pub(super) async fn new(
        address: Uri,
        path: PathAndQuery,
        timeout: Duration,
        settings: Settings,
        runtime: Handle,
    ) -> Result<Self, Error> {
        let options = ClientOptions::new().timeout(timeout);
        let mut config = kube::Config::new(address);
        config.root_cert_file = settings.authorities.map(Into::into);
        (config.auth_info.client_certificate, config.auth_info.client_key) = settings.client.unzip();
        let client = connect_with_options(config, options).await?;
        let mut headers = settings.headers;
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/x-protobuf"));
        if settings.gzip {
            headers.insert(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
        }
        let resource = ResourceAttributesWithSchema::default();
        Ok(Self { client, path, headers, gzip: settings.gzip, resource, runtime })
    }

    fn request(&self, spans: Vec<SpanData>) -> Result<Request<Body>, OTelSdkError> {
        let resource_spans = group_spans_by_resource_and_scope(spans, &self.resource);
        let mut body = ExportTraceServiceRequest { resource_spans }.encode_to_vec();
        if self.gzip {
            let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
            body = encoder.write_all(&body).and_then(|()| encoder.finish()).map_err(failed)?;
        }
        let mut request = Request::new(Body::from(body));
        *request.method_mut() = Method::POST;
        *request.uri_mut() = Uri::from(self.path.clone());
        *request.headers_mut() = self.headers.clone();
        Ok(request)
    }
}

impl SpanExporter for Collector {
    async fn export(&self, spans: Vec<SpanData>) -> OTelSdkResult {
        let (request, client) = (self.request(spans)?, self.client.clone());
        // A span of an export would be exported, and so on.
        let task = self.runtime.spawn(send(client, request).with_subscriber(NoSubscriber::new()));
        let rejected = task.await.map_err(failed)??;
        if let Some(reason) = rejected {
            tracing::warn!(reason, "the collector rejected spans");
        }
        Ok(())
    }

    fn set_resource(&mut self, resource: &Resource) {
        self.resource = resource.into();
    }
}

/// Sends a request; returns why the collector rejected some of its spans, if it did.
async fn send(client: kube::Client, request: Request<Body>) -> Result<Option<String>, OTelSdkError> {
    let response = client.send(request).await.map_err(failed)?;
    let (head, body) = response.into_parts();
    if !head.status.is_success() {
        return Err(failed(format!("the collector responds with {}", head.status)));
    }
    let body = Limited::new(body, MAX_BYTES).collect().await;
    let body = body.map_err(|error| failed(error.to_string()))?.to_bytes();
    // An unreadable response says nothing about the spans, which the collector has.
    let partial = ExportTraceServiceResponse::decode(body).unwrap_or_default().partial_success;
    Ok(partial
        .filter(|partial| partial.rejected_spans > 0 || !partial.error_message.is_empty())
        .map(|partial| format!("{} spans: {}", partial.rejected_spans, partial.error_message)))
}

fn failed(error: impl fmt::Display) -> OTelSdkError {
    OTelSdkError::InternalFailure(error.to_string())
}

impl fmt::Debug for Collector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Collector").field("path", &self.path).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use flate2::read::GzDecoder;

    use super::*;

    #[tokio::test]
    async fn request_is_compressed_with_the_headers_of_the_settings() {
        let headers = HeaderMap::from_iter([(CONTENT_TYPE, HeaderValue::from_static("text/plain"))]);
        let settings = Settings {
            url: String::new(),
            timeout: Duration::from_secs(1),
            headers,
            gzip: true,
            authorities: None,
            client: None,
            names_service: false,
        };
        let (address, path) =
            (Uri::from_static("http://127.0.0.1:1/"), PathAndQuery::from_static("/v1/traces"));
        let timeout = Duration::from_secs(1);
        let collector = Collector::new(address, path, timeout, settings, Handle::current()).await.unwrap();
        let (head, body) = collector.request(Vec::new()).unwrap().into_parts();
        assert_eq!(head.uri, "/v1/traces");
        assert_eq!(
            (&head.headers[CONTENT_TYPE], &head.headers[CONTENT_ENCODING]),
            (&HeaderValue::from_static("application/x-protobuf"), &HeaderValue::from_static("gzip"),)
        );
        let body = body.collect().await.unwrap().to_bytes();
        let mut plain = Vec::new();
        GzDecoder::new(&body[..]).read_to_end(&mut plain).unwrap();
        assert!(ExportTraceServiceRequest::decode(&plain[..]).unwrap().resource_spans.len() <= 1);
    }
}
