//! Webhooks in the simulation: the server calls them in the same process, unless they are in fault.

use std::fmt;
use std::future::pending;
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use futures::FutureExt as _;
use futures::future::BoxFuture;
use http::{Request, Response, StatusCode};
use http_body_util::{BodyExt as _, Full};
use kubesmith_apiserver::WebhookTransport;
use serde_json::Value;
use tower::{BoxError, Service, ServiceExt as _};

/// The faults of webhooks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WebhookFault {
    /// Nobody listens.
    Down,
    /// They answer with 500.
    Fails,
    /// They do not answer in time.
    Slow,
}

impl fmt::Display for WebhookFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Down => "down",
            Self::Fails => "fails",
            Self::Slow => "slow",
        })
    }
}

/// Answers a call.
pub(super) type Answer =
    Arc<dyn Fn(Request<Bytes>) -> BoxFuture<'static, Result<Response<Bytes>, String>> + Send + Sync>;

/// A service as webhooks are called.
pub(super) fn answer<S, B>(service: S) -> Answer
where
    S: Service<Request<Full<Bytes>>, Response = Response<B>> + Clone + Send + 'static,
    S::Error: Into<BoxError>,
    S::Future: Send,
    B: http_body::Body + Send + 'static,
    B::Data: Send,
    B::Error: Into<BoxError>,
{
    let service = Mutex::new(service);
    Arc::new(move |request: Request<Bytes>| {
        let service = service.lock().unwrap_or_else(PoisonError::into_inner).clone();
        async move {
            let failed = |error: BoxError| error.to_string();
            let response = service.oneshot(request.map(Full::new)).await.map_err(|e| failed(e.into()))?;
            let (parts, body) = response.into_parts();
            let body = body.collect().await.map_err(|e| failed(e.into()))?.to_bytes();
            Ok(Response::from_parts(parts, body))
        }
        .boxed()
    })
}

#[derive(Default)]
struct State {
    services: Vec<Answer>,
    fault: Option<WebhookFault>,
    calls: usize,
}

/// All webhooks of a run.
#[derive(Clone, Default)]
pub(super) struct Hooks(Arc<Mutex<State>>);

impl fmt::Debug for Hooks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Hooks").finish_non_exhaustive()
    }
}

impl Hooks {
    fn with<T>(&self, look: impl FnOnce(&mut State) -> T) -> T {
        look(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Adds a service. A path that it does not know is the next one's.
    pub(super) fn add(&self, service: Answer) {
        self.with(|state| state.services.push(service));
    }

    /// From now on, calls are troubled, or not any more.
    pub(super) fn set_fault(&self, fault: Option<WebhookFault>) {
        self.with(|state| state.fault = fault);
    }

    /// How often a webhook was called.
    pub(super) fn calls(&self) -> usize {
        self.with(|state| state.calls)
    }
}

impl WebhookTransport for Hooks {
    fn send(&self, request: Request<Bytes>) -> BoxFuture<'static, Result<Response<Bytes>, String>> {
        let (services, fault) = self.with(|state| {
            state.calls += 1;
            (state.services.clone(), state.fault)
        });
        async move {
            match fault {
                Some(WebhookFault::Down) => Err("connect: connection refused".to_owned()),
                Some(WebhookFault::Slow) => pending().await,
                Some(WebhookFault::Fails) => Ok(failed("the webhook failed")),
                None => first(&services, request).await,
            }
        }
        .boxed()
    }
}

fn failed(text: &'static str) -> Response<Bytes> {
    let mut response = Response::new(Bytes::from_static(text.as_bytes()));
    *response.status_mut() = StatusCode::INTERNAL_SERVER_ERROR;
    response
}

/// The answer of the first service that knows the path.
async fn first(services: &[Answer], request: Request<Bytes>) -> Result<Response<Bytes>, String> {
    let mut last = Err("no webhook is served: call `webhooks`".to_owned());
    for service in services {
        last = service(copy(&request)).await;
        if last.as_ref().map_or(true, |response| response.status() != StatusCode::NOT_FOUND) {
            break;
        }
    }
    last
}

fn copy(request: &Request<Bytes>) -> Request<Bytes> {
    let mut copy = Request::new(request.body().clone());
    *copy.method_mut() = request.method().clone();
    *copy.uri_mut() = request.uri().clone();
    *copy.headers_mut() = request.headers().clone();
    copy
}

/// Whether a document configures admission webhooks.
pub(super) fn is_configuration(value: &Value) -> bool {
    matches!(value["kind"].as_str(), Some("MutatingWebhookConfiguration" | "ValidatingWebhookConfiguration"))
}

/// Whether objects may go unchanged past a mutating webhook of these configurations when it is in fault.
pub(super) fn may_skip(configurations: &[Value]) -> bool {
    let mutating = configurations.iter().filter(|value| value["kind"] == "MutatingWebhookConfiguration");
    let mut hooks = mutating.flat_map(|value| value["webhooks"].as_array().into_iter().flatten());
    hooks.any(|hook| hook["failurePolicy"] == "Ignore")
}
