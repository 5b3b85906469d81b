//! The requests of an exporter, sent by the runtime's own client: TLS, proxies and HTTP versions are the same.

use std::fmt;
use std::pin::Pin;
use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response, Uri};
use http_body_util::{BodyExt, Limited};
use kube::client::Body;
use opentelemetry_http::{HttpClient, HttpError};
use tokio::runtime::Handle;
use tracing::instrument::WithSubscriber;
use tracing::subscriber::NoSubscriber;

use crate::client::{ClientOptions, Error, connect_with_options};

/// The limit of a collector's response, in bytes.
const MAX_BYTES: usize = 1 << 20;

/// Sends requests to one collector.
pub(super) struct CollectorClient {
    client: kube::Client,
    /// The exporter's thread is not one of tokio's, so requests are tasks of this runtime.
    runtime: Handle,
}

impl CollectorClient {
    /// # Errors
    /// As [`connect_with_options`].
    pub(super) async fn new(collector: Uri, timeout: Duration, runtime: Handle) -> Result<Self, Error> {
        let options = ClientOptions::new().timeout(timeout);
        let client = connect_with_options(kube::Config::new(collector), options).await?;
        Ok(Self { client, runtime })
    }
}

type Sending<'a> = Pin<Box<dyn Future<Output = Result<Response<Bytes>, HttpError>> + Send + 'a>>;

impl HttpClient for CollectorClient {
    fn send_bytes<'life0, 'async_trait>(&'life0 self, request: Request<Bytes>) -> Sending<'async_trait>
    where
        'life0: 'async_trait,
        Self: 'async_trait,
    {
        let client = self.client.clone();
        let sending = async move {
            let (mut head, body) = request.into_parts();
            // The client adds the address of the collector.
            if let Some(path) = head.uri.path_and_query().cloned() {
                head.uri = Uri::from(path);
            }
            let response = client.send(Request::from_parts(head, Body::from(body))).await?;
            let (head, body) = response.into_parts();
            let body = Limited::new(body, MAX_BYTES).collect().await?.to_bytes();
            Ok(Response::from_parts(head, body))
        };
        // A span of an export would be exported, and so on.
        let task = self.runtime.spawn(sending.with_subscriber(NoSubscriber::new()));
        Box::pin(async move { task.await? })
    }
}

impl fmt::Debug for CollectorClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CollectorClient").finish_non_exhaustive()
    }
}
