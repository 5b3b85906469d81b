//! Errors of defaulters and validators.

use std::error::Error as StdError;
use std::fmt;

use kube::core::response::Status;

use super::{AdmissionRequest, AdmissionResponse};
use crate::client;
#[cfg(feature = "validation")]
use crate::field::FieldPath;
use crate::field::{FieldError, FieldErrors};

/// A write is refused. Every error converts into it with `?`, so it cannot be a [`std::error::Error`] itself.
///
/// | from | the client gets |
/// |---|---|
/// | [`FieldErrors`], a [`FieldError`] | 422 `Invalid`, with a cause for each field |
/// | a response of an API server ([`client::Error`], [`kube::Error`]), a `Status` | that `Status` |
/// | an error with one of these among its sources | the same |
/// | any other error, or [`AdmissionError::denied`] | 403 `Forbidden` with its message |
///
/// ```
/// use kubesmith_runtime::webhook::{AdmissionError, FieldError, FieldErrors, FieldPath};
///
/// fn check(image: &str) -> Result<(), AdmissionError> {
///     let mut errors = FieldErrors::new();
///     if image.is_empty() {
///         errors.push(FieldError::required(FieldPath::new("spec").child("image"), ""));
///     }
///     errors.into_result()?;
///     Ok(())
/// }
/// # assert!(check("").is_err());
/// ```
///
/// Other responses:
///
/// ```
/// use kube::core::Status;
/// use kubesmith_runtime::webhook::AdmissionError;
///
/// let closed = AdmissionError::denied("no changes on Fridays").with_warnings(["see example.com/fridays".to_owned()]);
/// assert_eq!(closed.to_string(), "no changes on Fridays");
/// let full = AdmissionError::status(Status::failure("no room for more", "TooManyRequests").with_code(429));
/// assert_eq!(full.to_string(), "no room for more");
/// ```
pub struct AdmissionError {
    cause: Cause,
    warnings: Vec<String>,
}

#[derive(Debug)]
enum Cause {
    Denied(String),
    Status(Box<Status>),
    Invalid(FieldErrors),
}

impl AdmissionError {
    /// Makes 403 `Forbidden` with this message.
    pub fn denied(message: impl Into<String>) -> Self {
        Cause::Denied(message.into()).into_error()
    }

    /// Makes this `Status`.
    #[must_use]
    pub fn status(status: Status) -> Self {
        Cause::Status(status.boxed()).into_error()
    }

    /// Adds warnings for the client.
    #[must_use]
    pub fn with_warnings(mut self, warnings: impl IntoIterator<Item = String>) -> Self {
        self.warnings.extend(warnings);
        self
    }

    /// Merges this error with earlier field errors. A refusal of the whole object takes the place of field errors.
    #[cfg(feature = "validation")]
    pub(crate) fn after(mut self, mut errors: FieldErrors) -> Self {
        let whole = |text: String| FieldError::forbidden(FieldPath::root(), text).into();
        errors.extend(match self.cause {
            Cause::Invalid(own) => own,
            Cause::Denied(text) => whole(text),
            Cause::Status(status) => whole(status.message),
        });
        self.cause = Cause::Invalid(errors);
        self
    }

    /// Returns the response to the request.
    pub(super) fn into_response(self, request: &AdmissionRequest) -> AdmissionResponse {
        let response = match self.cause {
            Cause::Denied(message) => AdmissionResponse::denied(message),
            Cause::Status(status) => AdmissionResponse::refused(*status),
            Cause::Invalid(errors) => {
                let kind = &request.kind;
                AdmissionResponse::refused(errors.to_status(&kind.group, &kind.kind, &request.name))
            }
        };
        response.with_warnings(self.warnings)
    }
}

impl Cause {
    /// Returns the `Status` of an error that has one.
    fn of(error: &(dyn StdError + 'static)) -> Option<Self> {
        if let Some(errors) = error.downcast_ref::<FieldErrors>() {
            return Some(Cause::Invalid(errors.clone()));
        }
        if let Some(one) = error.downcast_ref::<FieldError>() {
            return Some(Cause::Invalid(one.clone().into()));
        }
        let status = match (error.downcast_ref(), error.downcast_ref()) {
            (Some(client::Error::Api { status, .. }), _) | (_, Some(kube::Error::Api(status))) => {
                Some(&**status)
            }
            _ => error.downcast_ref::<Status>(),
        };
        status.map(|status| Cause::Status(status.clone().boxed()))
    }

    fn into_error(self) -> AdmissionError {
        AdmissionError { cause: self, warnings: Vec::new() }
    }
}

impl<E: StdError + Send + Sync + 'static> From<E> for AdmissionError {
    fn from(error: E) -> Self {
        let first: &(dyn StdError + 'static) = &error;
        let mut causes = std::iter::successors(Some(first), |error| StdError::source(*error));
        let cause = causes.find_map(Cause::of).unwrap_or_else(|| Cause::Denied(error.to_string()));
        cause.into_error()
    }
}

impl fmt::Display for AdmissionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.cause {
            Cause::Denied(message) => f.write_str(message),
            Cause::Status(status) => f.write_str(&status.message),
            Cause::Invalid(errors) => errors.fmt(f),
        }
    }
}

impl fmt::Debug for AdmissionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AdmissionError")
            .field("cause", &self.cause)
            .field("warnings", &self.warnings)
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use std::io;

    use serde_json::json;

    use super::*;
    use crate::webhook::{FieldError, FieldPath};

    #[derive(Debug, thiserror::Error)]
    #[error("cannot look")]
    struct Wrapped(#[source] Status);

    fn answer(error: impl Into<AdmissionError>) -> (u16, String) {
        let request = serde_json::from_value(json!({
            "uid": "u", "operation": "CREATE", "name": "w",
            "kind": {"group": "a.example", "version": "v1", "kind": "Widget"},
            "resource": {"group": "a.example", "version": "v1", "resource": "widgets"},
        }));
        let status = error.into().into_response(&request.unwrap()).status;
        (status.code, status.message)
    }

    #[test]
    fn error_type_decides_the_clients_status() {
        let not_found = || Status::failure("no such map", "NotFound").with_code(404);
        let request = client::Request {
            verb: "get",
            resource: "configmaps".to_owned(),
            namespace: None,
            name: Some("m".to_owned()),
        };
        let of_client = client::Error::Api { request, status: not_found().boxed() };
        let found = (404, "no such map".to_owned());
        assert_eq!(answer(of_client), found);
        assert_eq!(answer(kube::Error::Api(not_found().boxed())), found);
        assert_eq!(answer(not_found()), found);
        assert_eq!(answer(io::Error::other("no disk")), (403, "no disk".to_owned()));
        assert_eq!(answer(Wrapped(not_found())), found, "also where it is the source of another");
        let invalid: FieldErrors = FieldError::required(FieldPath::new("spec"), "").into();
        let message = "Widget.a.example \"w\" is invalid: spec: Required value";
        assert_eq!(answer(invalid), (422, message.to_owned()));
    }
}
