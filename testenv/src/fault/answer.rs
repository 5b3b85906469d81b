//! The proxy's own responses in place of a server's.

use bytes::Bytes;
use http::header::{CONTENT_TYPE, HeaderValue, RETRY_AFTER};
use http::{Response, StatusCode};
use http_body_util::Full;
use serde_json::{Value, json};

/// A failure in kube-apiserver's words.
pub(crate) fn status(code: u16) -> Value {
    let (reason, message) = match code {
        400 => ("BadRequest", "the server rejected our request for an unknown reason"),
        401 => ("Unauthorized", "Unauthorized"),
        403 => ("Forbidden", "forbidden by the fault proxy"),
        404 => ("NotFound", "the server could not find the requested resource"),
        409 => (
            "Conflict",
            "the object has been modified; please apply your changes to the latest version and try again",
        ),
        410 => ("Expired", "too old resource version"),
        429 => ("TooManyRequests", "Too many requests, please try again later."),
        500 => ("InternalError", "Internal error occurred: injected by the fault proxy"),
        503 => ("ServiceUnavailable", "the server is currently unable to handle the request"),
        504 => ("Timeout", "the server was unable to return a response in the time allotted"),
        _ => ("", "injected by the fault proxy"),
    };
    let mut status = json!({
        "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure", "message": message, "code": code,
    });
    if !reason.is_empty() {
        status["reason"] = reason.into();
    }
    status
}

/// Builds a response with a [`status`]; an invalid HTTP code becomes 500.
pub(crate) fn answer(code: u16, retry_after: Option<u64>) -> Response<Full<Bytes>> {
    let code = StatusCode::from_u16(code).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let mut status = status(code.as_u16());
    let mut response = Response::default();
    *response.status_mut() = code;
    if let Some(seconds) = retry_after {
        response.headers_mut().insert(RETRY_AFTER, HeaderValue::from(seconds));
        status["details"] = json!({"retryAfterSeconds": seconds});
    }
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response.map(|()| Full::from(status.to_string()))
}

/// Returns the watch event for an expired version, with the line's end.
pub(crate) fn expired() -> Bytes {
    let event = json!({"type": "ERROR", "object": status(410)});
    format!("{event}\n").into()
}
