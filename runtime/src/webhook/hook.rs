//! What the server calls: the handler of a path, its calls, and its refusals.

use std::time::Duration;

use bytes::Bytes;
use futures::future::BoxFuture;
use http::StatusCode;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// The handler of one path.
pub(super) trait Hook: Send + Sync {
    /// Returns the size limit of a request's body, in bytes.
    fn body_limit(&self) -> usize;

    /// Returns name and help of the counter of its panics.
    fn panics_metric(&self) -> (&'static str, &'static str);

    /// Returns the body of the response.
    fn answer<'a>(&'a self, body: &'a Bytes, call: &'a Call) -> BoxFuture<'a, Result<Vec<u8>, Refusal>>;
}

/// A call, and the time limit of its response.
pub(super) struct Call {
    pub(super) deadline: Instant,
    /// Cancelled when the client no longer waits.
    pub(super) ended: CancellationToken,
}

/// A request without a response from its webhook. The API server treats it as a failure of the webhook, so the
/// failure policy decides, and shows the message.
#[derive(Debug)]
pub(super) struct Refusal {
    pub(super) code: StatusCode,
    pub(super) reason: &'static str,
    pub(super) message: String,
}

impl Refusal {
    pub(super) fn new(code: StatusCode, reason: &'static str, message: impl Into<String>) -> Self {
        Refusal { code, reason, message: message.into() }
    }

    pub(super) fn bad_request(message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, "BadRequest", message)
    }

    pub(super) fn internal(message: impl Into<String>) -> Self {
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, "InternalError", message)
    }

    pub(super) fn too_large(limit: usize) -> Self {
        let message = format!("the request is too large; the limit is {limit} bytes");
        Self::new(StatusCode::PAYLOAD_TOO_LARGE, "RequestEntityTooLarge", message)
    }

    pub(super) fn too_slow(timeout: Duration) -> Self {
        let message = format!("the webhook did not answer within {} s", timeout.as_secs_f64());
        Self::new(StatusCode::GATEWAY_TIMEOUT, "Timeout", message)
    }
}
