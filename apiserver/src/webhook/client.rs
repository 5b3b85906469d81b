//! The HTTP clients, and the tasks that their connections run in.

use std::collections::BTreeMap;
use std::fmt;
use std::future::Future;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use futures::future::BoxFuture;
use http::header::{ACCEPT, CONTENT_TYPE, HOST, USER_AGENT};
use http::{Request, Response};
use http_body_util::{BodyExt, Full, Limited};
use hyper_rustls::{ConfigBuilderExt as _, FixedServerNameResolver, HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use kubesmith_apimachinery::golang;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, ServerName};
use serde_json::Value;
use tokio::task::JoinSet;

use super::trust::Verifier;
use super::{Endpoint, WebhookHost, failure};
use crate::store::Store;

/// The size limit of responses, in bytes, which is that of requests too.
const ANSWER_LIMIT: usize = 3 * 1024 * 1024;

type Https = Client<HttpsConnector<HttpConnector>, Full<Bytes>>;

/// The settings of a client: the authorities, the name that the certificate has to have, and the one that it may have instead.
type Key = (Vec<u8>, Option<String>, Option<String>);

/// Calls webhooks without connections, such as those of the same process.
pub trait WebhookTransport: fmt::Debug + Send + Sync {
    /// Sends a request and returns the response.
    ///
    /// # Errors
    /// Returns the reason for a missing response.
    fn send(&self, request: Request<Bytes>) -> BoxFuture<'static, Result<Response<Bytes>, String>>;
}

/// The clients of all webhooks; connections are reused for later calls.
#[derive(Debug, Default)]
pub(crate) struct Clients {
    /// Reaches all webhooks in place of connections.
    transport: Option<Arc<dyn WebhookTransport>>,
    /// The place of the webhooks of services.
    host: Option<WebhookHost>,
    clients: Mutex<BTreeMap<Key, Https>>,
    tasks: Tasks,
}

/// The tasks of open connections. They end with their connection, at the latest when the server stops.
#[derive(Clone, Debug, Default)]
struct Tasks(Arc<Mutex<JoinSet<()>>>);

impl<F> hyper::rt::Executor<F> for Tasks
where
    F: Future<Output = ()> + Send + 'static,
{
    fn execute(&self, future: F) {
        let mut tasks = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        while tasks.try_join_next().is_some() {}
        tasks.spawn(future);
    }
}

impl Clients {
    /// Clients that reach webhooks by `transport`, if there is one, and those of services on `host`.
    pub(crate) fn new(transport: Option<Arc<dyn WebhookTransport>>, host: Option<WebhookHost>) -> Self {
        Self { transport, host, ..Self::default() }
    }

    /// Sends a review and reads the response within the timeout. The URL names this timeout, or the time that is left for the
    /// request if it is shorter.
    ///
    /// # Errors
    /// Returns the failure in client-go's words.
    ///
    /// # Cancel safety
    /// Dropping the future abandons the call; the webhook may have been called.
    pub(crate) async fn post(
        &self,
        store: &Store,
        endpoint: &Endpoint,
        (timeout, left): (Duration, Option<Duration>),
        review: &Value,
    ) -> Result<Value, String> {
        let on_host = self.host.as_ref().and_then(|host| endpoint.on(host));
        let endpoint = on_host.as_ref().unwrap_or(endpoint);
        // `callHook` of apiserver's pkg/admission/plugin/webhook rounds up.
        let told = left.map_or(timeout, |left| left.min(timeout));
        let seconds = told.as_secs() + u64::from(told.subsec_nanos() > 0);
        let url = format!("{}?timeout={seconds}s", endpoint.url());
        let failed = |text: String| format!("Post {}: {text}", golang::quote(&url));
        let request_to = |address: &str| {
            let request = Request::post(format!("{address}?timeout={seconds}s"))
                .header(CONTENT_TYPE, "application/json")
                .header(ACCEPT, "application/json, */*")
                .header(HOST, host(&url))
                .header(USER_AGENT, "kube-apiserver-admission");
            request.body(Bytes::from(review.to_string())).map_err(|e| failed(e.to_string()))
        };
        let call = async {
            if let Some(transport) = &self.transport {
                let answered = transport.send(request_to(&endpoint.url())?).await.map_err(failed)?;
                let (head, body) = answered.into_parts();
                return failure::answer(&head, &body);
            }
            let client = self.client(endpoint).map_err(failed)?;
            let address = endpoint.address(store).map_err(failed)?;
            let request = request_to(&address)?.map(Full::from);
            let response =
                client.request(request).await.map_err(|e| failed(failure::of_call(&e, &address)))?;
            let (head, body) = response.into_parts();
            let body = Limited::new(body, ANSWER_LIMIT).collect().await;
            let body = body.map_err(|e| {
                format!("unexpected error when reading response body. Please retry. Original error: {e}")
            })?;
            failure::answer(&head, &body.to_bytes())
        };
        match tokio::time::timeout(timeout, call).await {
            Ok(answer) => answer,
            Err(_) => Err(failed("context deadline exceeded".to_owned())),
        }
    }

    fn client(&self, endpoint: &Endpoint) -> Result<Https, String> {
        let key = (endpoint.authorities.clone(), endpoint.server_name(), endpoint.other_name.clone());
        let mut clients = self.clients.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(client) = clients.get(&key) {
            return Ok(client.clone());
        }
        let client = connect(&key, self.tasks.clone())?;
        clients.insert(key, client.clone());
        Ok(client)
    }

    /// Ends all connections and waits for their tasks.
    pub(crate) async fn stop(&self) {
        self.clients.lock().unwrap_or_else(PoisonError::into_inner).clear();
        let mut tasks = std::mem::take(&mut *self.tasks.0.lock().unwrap_or_else(PoisonError::into_inner));
        tasks.shutdown().await;
    }
}

/// The name and port of a URL.
fn host(url: &str) -> String {
    let uri: Option<http::Uri> = url.parse().ok();
    uri.and_then(|uri| uri.authority().map(|a| a.as_str().to_owned())).unwrap_or_default()
}

fn connect((authorities, name, other_name): &Key, tasks: Tasks) -> Result<Https, String> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = rustls::ClientConfig::builder_with_provider(provider.clone())
        .with_safe_default_protocol_versions()
        .map_err(|e| e.to_string())?;
    let config = if authorities.is_empty() {
        builder.with_native_roots().map_err(|e| e.to_string())?.with_no_client_auth()
    } else {
        let authorities = CertificateDer::pem_slice_iter(authorities).filter_map(Result::ok).collect();
        let other_name =
            other_name.clone().map(ServerName::try_from).transpose().map_err(|e| e.to_string())?;
        let verifier = Arc::new(Verifier::new(authorities, other_name, provider));
        builder.dangerous().with_custom_certificate_verifier(verifier).with_no_client_auth()
    };
    // Only HTTP/1.1, as in kube-apiserver's calls of services.
    let connector = HttpsConnectorBuilder::new().with_tls_config(config).https_only();
    let connector = match name {
        Some(name) => {
            let name = ServerName::try_from(name.clone()).map_err(|e| e.to_string())?;
            connector.with_server_name_resolver(FixedServerNameResolver::new(name))
        }
        None => connector,
    };
    Ok(Client::builder(tasks).build(connector.enable_http1().build()))
}
