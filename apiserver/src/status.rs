//! Errors as the API server words them: `Status` objects with a reason, details and causes.
//!
//! Texts follow kube-apiserver's `api/errors` package, since clients and their users read them.

use kubesmith_apimachinery::{errors, golang};
use serde_json::{Map, Value, json};

/// One field-level cause of an `Invalid` error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Cause {
    /// Machine-readable reason, such as `FieldValueInvalid`.
    pub(crate) reason: String,
    /// The fault, without the field.
    pub(crate) message: String,
    /// Path of the field, such as `spec.replicas`.
    pub(crate) field: String,
}

impl Cause {
    /// A value that breaks a rule; `value` is JSON text.
    pub(crate) fn invalid(field: impl Into<String>, value: impl std::fmt::Display, detail: &str) -> Self {
        Self::new("FieldValueInvalid", field, format!("Invalid value: {value}: {detail}"))
    }

    /// A value that is missing.
    pub(crate) fn required(field: impl Into<String>, detail: &str) -> Self {
        let message =
            if detail.is_empty() { "Required value".to_owned() } else { format!("Required value: {detail}") };
        Self::new("FieldValueRequired", field, message)
    }

    /// A value that is not allowed.
    pub(crate) fn forbidden(field: impl Into<String>, detail: &str) -> Self {
        Self::new("FieldValueForbidden", field, format!("Forbidden: {detail}"))
    }

    /// A value outside a closed set; `value` is JSON text.
    pub(crate) fn not_supported(field: impl Into<String>, value: &str, supported: &[&str]) -> Self {
        let list: Vec<String> = supported.iter().map(|s| format!("{s:?}")).collect();
        Self::new(
            "FieldValueNotSupported",
            field,
            format!("Unsupported value: {value}: supported values: {}", list.join(", ")),
        )
    }

    /// A cause with any reason.
    pub(crate) fn new(reason: &str, field: impl Into<String>, message: String) -> Self {
        Self { reason: reason.to_owned(), message, field: field.into() }
    }
}

impl From<kubesmith_apiextensions::structural::Cause> for Cause {
    fn from(cause: kubesmith_apiextensions::structural::Cause) -> Self {
        Self { reason: cause.reason().to_owned(), message: cause.message(), field: cause.field }
    }
}

/// The object of an error.
#[derive(Clone, Debug, Default)]
pub struct ErrorSubject {
    pub(crate) name: String,
    pub(crate) group: String,
    /// The plural resource name or the kind, as in kube-apiserver.
    pub(crate) kind: String,
}

impl ErrorSubject {
    /// Names an object by its group, its plural resource name or kind, and its name.
    #[must_use]
    pub fn new(group: &str, kind: &str, name: &str) -> Self {
        Self { name: name.to_owned(), group: group.to_owned(), kind: kind.to_owned() }
    }

    /// `kind.group`, or only the kind in the core group.
    fn qualified(&self) -> String {
        if self.group.is_empty() { self.kind.clone() } else { format!("{}.{}", self.kind, self.group) }
    }
}

/// The error of a failed request.
#[derive(Clone, Debug)]
pub enum ApiError {
    /// Sent as a `Status` object.
    Status(Box<StatusError>),
    /// Sent as the mux's plain `404 page not found`.
    NoSuchPath,
}

/// The content of a failed `Status`.
#[derive(Clone, Debug)]
pub struct StatusError {
    pub(crate) code: u16,
    pub(crate) reason: &'static str,
    pub(crate) message: String,
    pub(crate) about: Option<ErrorSubject>,
    pub(crate) causes: Vec<Cause>,
    pub(crate) warnings: Vec<String>,
    /// Seconds after which the client should retry.
    pub(crate) retry_after: Option<u32>,
    /// Whether the answer forbids browsers to guess its type.
    pub(crate) nosniff: bool,
    /// The token that continues an expired list; empty for other errors.
    continue_token: String,
    /// A whole `Status` from a webhook.
    given: Option<Value>,
}

/// The result of a request or of a part of one.
pub(crate) type ApiResult<T> = Result<T, ApiError>;

impl ApiError {
    fn status(code: u16, reason: &'static str, message: String) -> Self {
        Self::Status(Box::new(StatusError {
            code,
            reason,
            message,
            about: None,
            causes: Vec::new(),
            warnings: Vec::new(),
            retry_after: None,
            nosniff: false,
            continue_token: String::new(),
            given: None,
        }))
    }

    fn subject(mut self, about: ErrorSubject) -> Self {
        if let Self::Status(status) = &mut self {
            status.about = Some(about);
        }
        self
    }

    fn causes(mut self, causes: Vec<Cause>) -> Self {
        if let Self::Status(status) = &mut self {
            status.causes = causes;
        }
        self
    }

    /// Sets the causes.
    pub(crate) fn with_causes(self, causes: Vec<Cause>) -> Self {
        self.causes(causes)
    }

    /// Sets the token that continues a list.
    pub(crate) fn with_continue(mut self, token: String) -> Self {
        if let Self::Status(status) = &mut self {
            status.continue_token = token;
        }
        self
    }

    /// Prefixes the message.
    pub(crate) fn with_prefix(self, prefix: &str) -> Self {
        let text = format!("{prefix}{}", self.message());
        self.with_message(&text)
    }

    /// Replaces the message.
    pub(crate) fn with_message(mut self, message: &str) -> Self {
        if let Self::Status(status) = &mut self {
            status.message = message.to_owned();
        }
        self
    }

    /// Replaces code and reason.
    pub(crate) fn with_reason(mut self, code: u16, reason: &'static str) -> Self {
        if let Self::Status(status) = &mut self {
            (status.code, status.reason) = (code, reason);
        }
        self
    }

    /// Adds `Warning` headers.
    pub(crate) fn with_more_warnings(mut self, warnings: Vec<String>) -> Self {
        if let Self::Status(status) = &mut self {
            status.warnings.extend(warnings);
        }
        self
    }

    /// Puts `Warning` headers before the others.
    pub(crate) fn with_first_warnings(mut self, warnings: impl IntoIterator<Item = String>) -> Self {
        if let Self::Status(status) = &mut self {
            status.warnings.splice(0..0, warnings);
        }
        self
    }

    pub(crate) fn bad_request(message: impl Into<String>) -> Self {
        Self::status(400, "BadRequest", message.into())
    }

    /// The request is not allowed.
    pub fn forbidden(about: ErrorSubject, message: &str) -> Self {
        let name = if about.name.is_empty() { String::new() } else { format!(" {:?}", about.name) };
        let is = if about.kind.is_empty() { "forbidden" } else { " is forbidden" };
        let message = format!("{}{name}{is}: {message}", about.qualified());
        Self::status(403, "Forbidden", message).subject(about)
    }

    pub(crate) fn unauthorized() -> Self {
        Self::status(401, "Unauthorized", "Unauthorized".to_owned())
    }

    /// The object does not exist.
    pub fn not_found(about: ErrorSubject) -> Self {
        let message = format!("{} {:?} not found", about.qualified(), about.name);
        Self::status(404, "NotFound", message).subject(about)
    }

    pub(crate) fn no_such_resource() -> Self {
        Self::status(404, "NotFound", "the server could not find the requested resource".to_owned())
            .subject(ErrorSubject::default())
    }

    pub(crate) fn method_not_allowed() -> Self {
        let message = "the server does not allow this method on the requested resource".to_owned();
        Self::status(405, "MethodNotAllowed", message).subject(ErrorSubject::default())
    }

    pub(crate) fn method_not_supported(about: ErrorSubject, verb: &str) -> Self {
        let message = format!("{verb} is not supported on resources of kind {:?}", about.qualified());
        Self::status(405, "MethodNotAllowed", message).subject(about)
    }

    pub(crate) fn not_acceptable(accepted: &[&str]) -> Self {
        let message = format!("only the following media types are accepted: {}", accepted.join(", "));
        Self::status(406, "NotAcceptable", message)
    }

    /// No route has an accepted media type; in go-restful's words.
    pub(crate) fn not_routed(available: &[&str]) -> Self {
        let available = available.join(", ");
        let message = format!("406: Not Acceptable\n\nAvailable representations: {available}");
        Self::status(406, "NotAcceptable", message).subject(ErrorSubject::default())
    }

    /// The object does not have the requested form.
    pub(crate) fn no_such_form(message: String) -> Self {
        Self::status(406, "NotAcceptable", message)
    }

    /// The object exists already.
    pub fn already_exists(about: ErrorSubject) -> Self {
        let message = format!("{} {:?} already exists", about.qualified(), about.name);
        Self::status(409, "AlreadyExists", message).subject(about)
    }

    /// Adds to [`Self::already_exists`] that the name may have been generated: the client should try again.
    pub(crate) fn not_generated(self) -> Self {
        let text =
            format!("{}, the server was not able to generate a unique name for the object", self.message());
        let mut error = self.with_message(&text);
        if let Self::Status(status) = &mut error {
            status.retry_after = Some(1);
        }
        error
    }

    pub(crate) fn conflict(about: ErrorSubject, message: &str) -> Self {
        let message =
            format!("Operation cannot be fulfilled on {} {:?}: {message}", about.qualified(), about.name);
        Self::status(409, "Conflict", message).subject(about)
    }

    /// Another client changed the object since it was read.
    pub fn modified(about: ErrorSubject) -> Self {
        Self::conflict(
            about,
            "the object has been modified; please apply your changes to the latest version and try again",
        )
    }

    /// A server-side apply has conflicts.
    pub(crate) fn apply_conflict(message: String, causes: Vec<Cause>) -> Self {
        Self::status(409, "Conflict", message).subject(ErrorSubject::default()).causes(causes)
    }

    /// A version that has not been given out; clients try again, after a second if a watch cache answers
    /// (`NewTooLargeResourceVersionError` of apiserver/pkg/storage/errors.go).
    pub(crate) fn future_version(asked: u64, current: u64, cached: bool) -> Self {
        let text = "Too large resource version";
        let message = format!("Timeout: {text}: {asked}, current: {current}");
        let cause = Cause::new("ResourceVersionTooLarge", "", text.to_owned());
        let mut error =
            Self::status(504, "Timeout", message).subject(ErrorSubject::default()).causes(vec![cause]);
        if let Self::Status(status) = &mut error {
            status.retry_after = cached.then_some(1);
        }
        error
    }

    /// The requested version is older than the kept history.
    pub fn expired(message: impl Into<String>) -> Self {
        Self::status(410, "Expired", message.into())
    }

    pub(crate) fn too_large(limit: usize) -> Self {
        Self::entity_too_large(&format!("limit is {limit}"))
    }

    /// A disruption budget forbids the eviction of a pod; the client should retry after `seconds`, unless 0.
    pub(crate) fn budget(detail: &str, seconds: u32) -> Self {
        let text = "Cannot evict pod as it would violate the pod's disruption budget.".to_owned();
        let cause = Cause::new("DisruptionBudget", "", detail.to_owned());
        let mut error =
            Self::status(429, "TooManyRequests", text).subject(ErrorSubject::default()).causes(vec![cause]);
        if let Self::Status(status) = &mut error {
            status.retry_after = Some(seconds).filter(|seconds| *seconds > 0);
        }
        error
    }

    pub(crate) fn entity_too_large(message: &str) -> Self {
        Self::status(413, "RequestEntityTooLarge", format!("Request entity too large: {message}"))
    }

    pub(crate) fn unroutable_media_type() -> Self {
        let message = "415: Unsupported Media Type".to_owned();
        Self::status(415, "UnsupportedMediaType", message).subject(ErrorSubject::default())
    }

    pub(crate) fn unsupported_media_type(accepted: &[&str]) -> Self {
        let message = format!(
            "the body of the request was in an unknown format - accepted media types include: {}",
            accepted.join(", ")
        );
        Self::status(415, "UnsupportedMediaType", message)
    }

    /// A patch cannot be applied to the object.
    pub(crate) fn unprocessable_patch() -> Self {
        let message = "the server rejected our request due to an error in our request".to_owned();
        Self::status(422, "Invalid", message).subject(ErrorSubject::default())
    }

    pub(crate) fn invalid(about: ErrorSubject, causes: Vec<Cause>) -> Self {
        let texts = causes.iter().map(|cause| format!("{}: {}", cause.field, cause.message));
        let (kind, name) = (about.qualified(), golang::quote(&about.name));
        let message = format!("{kind} {name} is invalid: {}", errors::aggregate(texts));
        Self::status(422, "Invalid", message).subject(about).causes(causes)
    }

    /// Query options are invalid.
    pub(crate) fn invalid_options(kind: &str, causes: Vec<Cause>) -> Self {
        Self::invalid(ErrorSubject::new("meta.k8s.io", kind, ""), causes)
    }

    /// The server failed.
    pub fn internal(message: impl Into<String>) -> Self {
        Self::status(500, "InternalError", message.into())
    }

    /// A failure without a reason in Kubernetes, such as a strategic merge patch that does not fit the object.
    pub(crate) fn unknown(message: String) -> Self {
        Self::status(500, "", message)
    }

    /// The server failed, with a cause as in Go's `NewInternalError`.
    pub fn internal_of(error: impl Into<String>) -> Self {
        let error = error.into();
        let cause = Cause::new("", "", error.clone());
        Self::internal(format!("Internal error occurred: {error}"))
            .subject(ErrorSubject::default())
            .causes(vec![cause])
    }

    /// A webhook returned this `Status`.
    pub(crate) fn given(code: u16, value: Value) -> Self {
        let message = value["message"].as_str().unwrap_or_default().to_owned();
        let mut error = Self::status(code, "", message);
        if let Self::Status(status) = &mut error {
            status.given = Some(value);
        }
        error
    }

    /// Returns the message for humans.
    pub fn message(&self) -> &str {
        match self {
            Self::Status(status) => &status.message,
            Self::NoSuchPath => "404 page not found",
        }
    }

    /// An error without a reason, which kube-apiserver returns for unexpected failures.
    pub(crate) fn unexpected(message: impl Into<String>) -> Self {
        Self::status(500, "", message.into())
    }

    /// The HTTP status code.
    pub fn code(&self) -> u16 {
        match self {
            Self::Status(status) => status.code,
            Self::NoSuchPath => 404,
        }
    }

    /// Returns the `Status` object; a missing path has kube-apiserver's text of watches.
    pub fn to_value(&self) -> Value {
        match self {
            Self::Status(status) => status.to_value(),
            Self::NoSuchPath => Self::no_such_resource().to_value(),
        }
    }
}

impl StatusError {
    fn to_value(&self) -> Value {
        if let Some(given) = &self.given {
            return given.clone();
        }
        let mut out = json!({
            "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure", "message": self.message,
        });
        if !self.continue_token.is_empty() {
            out["metadata"]["continue"] = json!(self.continue_token);
        }
        if !self.reason.is_empty() {
            out["reason"] = json!(self.reason);
        }
        if let Some(about) = &self.about {
            out["details"] = self.details(about);
        }
        out["code"] = json!(self.code);
        out
    }

    fn details(&self, about: &ErrorSubject) -> Value {
        let mut details = Map::new();
        for (key, value) in [("name", &about.name), ("group", &about.group), ("kind", &about.kind)] {
            if !value.is_empty() {
                details.insert(key.to_owned(), json!(value));
            }
        }
        if !self.causes.is_empty() {
            let causes: Vec<Value> = self
                .causes
                .iter()
                .map(|c| {
                    let mut cause = json!({});
                    for (key, value) in [("reason", &c.reason), ("message", &c.message), ("field", &c.field)]
                    {
                        if !value.is_empty() {
                            cause[key] = json!(value);
                        }
                    }
                    cause
                })
                .collect();
            details.insert("causes".to_owned(), Value::Array(causes));
        }
        if let Some(seconds) = self.retry_after {
            details.insert("retryAfterSeconds".to_owned(), json!(seconds));
        }
        Value::Object(details)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repeated_cause_appears_once_in_the_message() {
        let cause = Cause::forbidden("metadata.finalizers", "no");
        let error = ApiError::invalid(ErrorSubject::new("g", "K", "n"), vec![cause.clone(), cause]);
        let value = error.to_value();
        assert_eq!(value["message"], "K.g \"n\" is invalid: metadata.finalizers: Forbidden: no");
        assert_eq!(value["details"]["causes"].as_array().map(Vec::len), Some(2));
    }

    #[test]
    fn core_group_is_omitted_from_status() {
        let value = ApiError::not_found(ErrorSubject::new("", "pods", "p")).to_value();
        assert_eq!(value["message"], "pods \"p\" not found");
        assert!(value["details"].get("group").is_none());
    }
}
