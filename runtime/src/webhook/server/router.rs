//! Routes a request to its webhook, enforces its limits, and responds if the webhook does not.

use std::any::Any;
use std::collections::BTreeMap;
use std::convert::Infallible;
use std::error::Error as StdError;
use std::panic::AssertUnwindSafe;
use std::pin::pin;
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use futures::FutureExt;
use http::header::{ALLOW, CONTENT_TYPE, HeaderValue};
use http::{Method, Request, Response, StatusCode, request};
use http_body::Body;
use http_body_util::{BodyExt, Full};
use kube::core::response::Status;
use serde::Serialize;
use tokio::time::{Instant, timeout_at};
use tokio_util::sync::CancellationToken;

use super::super::hook::{Call, Hook, Refusal};
use super::metrics::Metrics;
use super::timeout;
use crate::metrics::Registry;

const JSON: HeaderValue = HeaderValue::from_static("application/json");

/// The hooks by path.
pub(super) type Hooks = BTreeMap<String, Box<dyn Hook>>;

impl Refusal {
    fn into_response(self) -> Response<Full<Bytes>> {
        #[derive(Serialize)]
        #[serde(rename_all = "camelCase")]
        struct Typed<'a> {
            kind: &'a str,
            api_version: &'a str,
            #[serde(flatten)]
            status: &'a Status,
        }
        let status = Status::failure(&self.message, self.reason).with_code(self.code.as_u16());
        let typed = Typed { kind: "Status", api_version: "v1", status: &status };
        // Strings and numbers always serialise.
        let body = serde_json::to_vec(&typed).unwrap_or_default();
        let mut response = response(self.code, body);
        if self.code == StatusCode::METHOD_NOT_ALLOWED {
            response.headers_mut().insert(ALLOW, HeaderValue::from_static("POST"));
        }
        response
    }
}

fn response(code: StatusCode, body: Vec<u8>) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(Bytes::from(body)));
    *response.status_mut() = code;
    response.headers_mut().insert(CONTENT_TYPE, JSON);
    response
}

struct Mounted {
    hook: Box<dyn Hook>,
    metrics: Metrics,
}

/// Routes requests to their webhooks.
pub(super) struct Router {
    hooks: BTreeMap<String, Mounted>,
    timeout: Duration,
}

impl Router {
    pub(super) fn new(hooks: Hooks, timeout: Duration, registry: &Registry) -> Self {
        let mounted = hooks.into_iter().map(|(path, hook)| {
            let metrics = Metrics::register(registry, &path, hook.panics_metric());
            (path, Mounted { hook, metrics })
        });
        Router { hooks: mounted.collect(), timeout }
    }

    /// Answers any request.
    pub(super) async fn serve<B>(&self, request: Request<B>) -> Result<Response<Full<Bytes>>, Infallible>
    where
        B: Body<Data = Bytes>,
        B::Error: Into<Box<dyn StdError + Send + Sync>>,
    {
        let (head, body) = request.into_parts();
        let path = head.uri.path();
        let Some(mounted) = self.hooks.get(path) else {
            let message = format!("there is no webhook at {path}");
            return Ok(Refusal::new(StatusCode::NOT_FOUND, "NotFound", message).into_response());
        };
        let start = Instant::now();
        let running = mounted.metrics.begin();
        let answer = mounted.answer(&head, body, self.timeout).await;
        drop(running);
        let response = answer.map_or_else(
            |refusal| {
                tracing::warn!(path, code = refusal.code.as_u16(), error = refusal.message, "webhook failed");
                refusal.into_response()
            },
            |body| response(StatusCode::OK, body),
        );
        mounted.metrics.answered(response.status());
        mounted.metrics.latency.observe(start.elapsed().as_secs_f64());
        Ok(response)
    }
}

impl Mounted {
    async fn answer<B>(&self, head: &request::Parts, body: B, longest: Duration) -> Result<Vec<u8>, Refusal>
    where
        B: Body<Data = Bytes>,
        B::Error: Into<Box<dyn StdError + Send + Sync>>,
    {
        let limit = self.hook.body_limit();
        check(head)?;
        let timeout = timeout::of_query(head.uri.query(), longest)?;
        let call = Call { deadline: Instant::now() + timeout, ended: CancellationToken::new() };
        // Cancelled too if this future is dropped because the client disconnected.
        let _ended = call.ended.clone().drop_guard();
        let answer = async {
            let body = read(body, limit).await?;
            AssertUnwindSafe(async { self.hook.answer(&body, &call).await })
                .catch_unwind()
                .await
                .unwrap_or_else(|panic| Err(self.panicked(&*panic)))
        };
        timeout_at(call.deadline, answer).await.unwrap_or_else(|_| Err(Refusal::too_slow(timeout)))
    }

    /// The client learns that there was a panic, but not its message.
    fn panicked(&self, panic: &(dyn Any + Send)) -> Refusal {
        let text = panic.downcast_ref::<&str>().copied();
        let text = text.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
        tracing::error!(panic = text.unwrap_or("no message"), "a webhook panicked");
        self.metrics.panics.inc();
        Refusal::internal("the webhook panicked; its log says more")
    }
}

fn check(head: &request::Parts) -> Result<(), Refusal> {
    if head.method != Method::POST {
        let message = format!("webhooks take POST, not {}", head.method);
        return Err(Refusal::new(StatusCode::METHOD_NOT_ALLOWED, "MethodNotAllowed", message));
    }
    let kind = head.headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let media_type = kind.split(';').next().unwrap_or_default().trim();
    if !media_type.eq_ignore_ascii_case("application/json") {
        let message = format!("the content type is {kind:?}; expected application/json");
        return Err(Refusal::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "UnsupportedMediaType", message));
    }
    Ok(())
}

/// Reads the body. An oversized body is read to its end, because a client that is still sending when the connection
/// closes does not see the response.
async fn read<B>(body: B, limit: usize) -> Result<Bytes, Refusal>
where
    B: Body<Data = Bytes>,
    B::Error: Into<Box<dyn StdError + Send + Sync>>,
{
    let mut body = pin!(body);
    let (mut all, mut is_too_large) = (BytesMut::new(), false);
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|error| {
            let error: Box<dyn StdError + Send + Sync> = error.into();
            Refusal::bad_request(format!("cannot read the request: {error}"))
        })?;
        // Skip trailers.
        let Ok(data) = frame.into_data() else { continue };
        is_too_large |= all.len() + data.len() > limit;
        if is_too_large {
            all = BytesMut::new();
        } else {
            all.extend_from_slice(&data);
        }
    }
    if is_too_large {
        return Err(Refusal::too_large(limit));
    }
    if all.is_empty() { Err(Refusal::bad_request("the request has no body")) } else { Ok(all.freeze()) }
}
