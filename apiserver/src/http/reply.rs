//! Responses.

use std::convert::Infallible;

use ::http::header::{CONTENT_TYPE, HeaderName, HeaderValue, RETRY_AFTER, WARNING, X_CONTENT_TYPE_OPTIONS};
use ::http::{Response, StatusCode};
use bytes::Bytes;
use futures::Stream;
use http_body::Frame;
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, Full, StreamBody};
use kubesmith_apimachinery::yaml::to_yaml;
use serde_json::{Value, json};

use super::negotiate::{self, Form};
use super::{protobuf, warning};
use crate::encode;
use crate::status::ApiError;

/// The body of every response.
pub type Body = UnsyncBoxBody<Bytes, Infallible>;

/// A response before it becomes HTTP.
pub struct Reply {
    code: u16,
    content_type: &'static str,
    body: Body,
    headers: Vec<(HeaderName, HeaderValue)>,
    warnings: Vec<String>,
}

impl Reply {
    fn new(code: u16, content_type: &'static str, body: impl Into<Bytes>) -> Self {
        let body = Full::new(body.into()).boxed_unsync();
        Self { code, content_type, body, headers: Vec::new(), warnings: Vec::new() }
    }

    /// Builds a response without content.
    pub(crate) fn empty(code: u16) -> Self {
        Self::new(code, "", Bytes::new())
    }

    /// Builds a response of rendered content.
    pub(crate) fn rendered(content_type: &'static str, body: impl Into<Bytes>) -> Self {
        Self::new(200, content_type, body)
    }

    /// Builds a response of rendered JSON.
    pub(crate) fn json_bytes(code: u16, body: impl Into<Bytes>) -> Self {
        Self::new(code, Form::Json.media_type(), body)
    }

    /// Builds a response of JSON.
    #[must_use]
    pub fn json(code: u16, value: &Value) -> Self {
        Self::json_bytes(code, encode::to_vec(value))
    }

    /// Builds a response of JSON under another content type.
    pub(crate) fn typed(content_type: &'static str, value: &Value) -> Self {
        Self::new(200, content_type, encode::to_vec(value))
    }

    /// Builds a response of an object in the client's form.
    pub(crate) fn value(code: u16, value: &Value, form: Form) -> Self {
        let body = match form {
            Form::Json => encode::line(value),
            Form::Yaml => to_yaml(value).into(),
            Form::Protobuf => match protobuf::encode(value) {
                Some(body) => body,
                None => return Self::error(&negotiate::without_protobuf()),
            },
        };
        Self::new(code, form.media_type(), body)
    }

    pub(crate) fn text(code: u16, text: impl Into<Bytes>) -> Self {
        Self::new(code, "text/plain; charset=utf-8", text)
    }

    /// Builds the response of a request that has reached its deadline. It has no kind, and the type that Go sees in it
    /// (`timeout` of apiserver's pkg/server/filters/timeout.go).
    pub(crate) fn timed_out() -> Self {
        let message = "Timeout: request did not complete within the allotted timeout";
        let status = json!({"metadata": {}, "status": "Failure", "message": message, "reason": "Timeout",
                            "details": {}, "code": 504});
        Self::text(504, encode::line(&status))
    }

    /// Builds a response of text with this content type.
    pub(crate) fn text_of(content_type: &'static str, text: impl Into<Bytes>) -> Self {
        Self::new(200, content_type, text)
    }

    /// Builds a response of watch events in JSON.
    pub fn stream(frames: impl Stream<Item = Bytes> + Send + 'static) -> Self {
        Self::stream_in(Form::Json, frames)
    }

    /// Builds a response of watch events in the client's form.
    pub(crate) fn stream_in(form: Form, frames: impl Stream<Item = Bytes> + Send + 'static) -> Self {
        Self::streamed(form.stream_type(), frames)
    }

    /// Builds a response of content in parts.
    pub(crate) fn streamed(
        content_type: &'static str,
        frames: impl Stream<Item = Bytes> + Send + 'static,
    ) -> Self {
        use futures::StreamExt as _;
        let body = StreamBody::new(frames.map(|bytes| Ok(Frame::data(bytes)))).boxed_unsync();
        let (headers, warnings) = (Vec::new(), Vec::new());
        Self { code: 200, content_type, body, headers, warnings }
    }

    /// Sets a header, unless its value is invalid.
    pub(crate) fn with_header(mut self, name: HeaderName, value: &str) -> Self {
        self.headers.extend(HeaderValue::from_str(value).ok().map(|value| (name, value)));
        self
    }

    fn without_sniffing(self) -> Self {
        self.with_header(X_CONTENT_TYPE_OPTIONS, "nosniff")
    }

    pub(crate) fn with_warnings(mut self, warnings: Vec<String>) -> Self {
        self.warnings.extend(warnings);
        self
    }

    /// Puts `Warning` headers before the others.
    pub(crate) fn with_first_warnings(mut self, warnings: impl IntoIterator<Item = String>) -> Self {
        self.warnings.splice(0..0, warnings);
        self
    }

    /// Builds the response of a failed request.
    #[must_use]
    pub fn error(error: &ApiError) -> Self {
        Self::error_in(error, Form::Json)
    }

    /// Builds the response of a failed request in the client's form.
    pub(crate) fn error_in(error: &ApiError, form: Form) -> Self {
        match error {
            // `Error` of Go's net/http.
            ApiError::NoSuchPath => Self::text(404, "404 page not found\n").without_sniffing(),
            ApiError::Status(status) => {
                let reply = Self::value(status.code, &error.to_value(), form);
                let reply = if status.nosniff { reply.without_sniffing() } else { reply };
                // client-go waits for this time, and then tries again (`ErrorNegotiated` of apiserver's pkg/endpoints).
                let reply = match status.retry_after {
                    Some(seconds) => reply.with_header(RETRY_AFTER, &seconds.to_string()),
                    None => reply,
                };
                reply.with_warnings(status.warnings.clone())
            }
        }
    }

    /// Converts the response to HTTP.
    #[must_use]
    pub fn into_response(self) -> Response<Body> {
        let mut response = Response::new(self.body);
        *response.status_mut() = StatusCode::from_u16(self.code).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let headers = response.headers_mut();
        if !self.content_type.is_empty() {
            headers.insert(CONTENT_TYPE, HeaderValue::from_static(self.content_type));
        }
        headers.insert(http::header::CACHE_CONTROL, HeaderValue::from_static("no-cache, private"));
        for (name, value) in self.headers {
            headers.insert(name, value);
        }
        for warning in warning::headers(&self.warnings) {
            headers.append(WARNING, warning);
        }
        response
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn yaml_strings_are_quoted_when_yaml_1_1_reads_another_type() {
        let reply = Reply::value(200, &json!({"b": "yes", "a": ["0777", "1_000"]}), Form::Yaml);
        let body = reply.body.collect().await.unwrap().to_bytes();
        assert_eq!(body, "a:\n- \"0777\"\n- \"1_000\"\nb: \"yes\"\n");
    }
}
