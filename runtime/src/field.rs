//! Errors of fields, as Kubernetes words them: paths, kinds of mistakes, and the `Status` they become.

use std::error::Error as StdError;
use std::fmt::{self, Display};

use kube::core::response::{Status, StatusCause, StatusDetails};
use kubesmith_apimachinery::field::{BadValue, Cause, CauseKind, aggregate, invalid_message};
use serde::Serialize;
use serde_json::Value;

#[doc(inline)]
pub use kubesmith_apimachinery::field::Path as FieldPath;

/// A mistake in one field: apimachinery's `field.Error`. It reads
/// `spec.replicas: Invalid value: -1: must not be negative`.
///
/// ```
/// use kubesmith_runtime::field::{FieldError, FieldPath};
///
/// let error = FieldError::invalid(FieldPath::new("spec").child("replicas"), -1, "must not be negative");
/// assert_eq!(error.to_string(), "spec.replicas: Invalid value: -1: must not be negative");
/// assert_eq!((error.path().as_str(), error.reason()), ("spec.replicas", "FieldValueInvalid"));
/// assert_eq!(error.message(), "Invalid value: -1: must not be negative");
/// ```
///
/// Every kind of mistake:
///
/// ```
/// use kubesmith_runtime::field::{FieldError, FieldPath};
///
/// let at = || FieldPath::new("spec").child("a");
/// for (error, text) in [
///     (FieldError::required(at(), "say one"), "spec.a: Required value: say one"),
///     (FieldError::not_supported(at(), "c", &["b"]), r#"spec.a: Unsupported value: "c": supported values: "b""#),
///     (FieldError::duplicate(at(), 80), "spec.a: Duplicate value: 80"),
///     (FieldError::forbidden(at(), "is immutable"), "spec.a: Forbidden: is immutable"),
///     (FieldError::not_found(at(), "m"), r#"spec.a: Not found: "m""#),
///     (FieldError::too_long(at(), 63), "spec.a: Too long: may not be more than 63 bytes"),
///     (FieldError::too_many(at(), 2, 1), "spec.a: Too many: 2: must have at most 1 item"),
///     (FieldError::internal(at(), "no disk"), "spec.a: Internal error: no disk"),
/// ] {
///     assert_eq!(error.to_string(), text);
/// }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldError(Cause);

impl FieldError {
    fn new(kind: CauseKind, path: FieldPath, value: BadValue, detail: impl Into<String>) -> Self {
        FieldError(Cause { value, ..Cause::new(kind, path, Value::Null, detail) })
    }

    fn plain(kind: CauseKind, path: FieldPath, detail: impl Into<String>) -> Self {
        FieldError::new(kind, path, BadValue::Omitted, detail)
    }

    /// A field is missing or empty.
    pub fn required(path: FieldPath, detail: impl Into<String>) -> Self {
        Self::plain(CauseKind::Required, path, detail)
    }

    /// A value is malformed or out of its bounds; `detail` describes a valid one.
    pub fn invalid(path: FieldPath, value: impl Serialize, detail: impl Into<String>) -> Self {
        Self::new(CauseKind::Invalid, path, json(value), detail)
    }

    /// A value is outside of the supported ones.
    pub fn not_supported(path: FieldPath, value: impl Serialize, supported: &[&str]) -> Self {
        let supported: Vec<String> = supported.iter().map(|&value| value.to_owned()).collect();
        let cause = Cause::not_supported(path, Value::Null, &supported);
        FieldError(Cause { value: json(value), ..cause })
    }

    /// A value that has to be unique stands there twice.
    pub fn duplicate(path: FieldPath, value: impl Serialize) -> Self {
        Self::new(CauseKind::Duplicate, path, json(value), "")
    }

    /// A field must not be set, or not be changed, as things are; `detail` says why.
    pub fn forbidden(path: FieldPath, detail: impl Into<String>) -> Self {
        Self::plain(CauseKind::Forbidden, path, detail)
    }

    /// The value refers to something that does not exist.
    pub fn not_found(path: FieldPath, value: impl Serialize) -> Self {
        Self::new(CauseKind::NotFound, path, json(value), "")
    }

    /// A text has more than `most` bytes.
    pub fn too_long(path: FieldPath, most: usize) -> Self {
        FieldError(Cause::too_long(path, count(most)))
    }

    /// A list has more than `most` items.
    pub fn too_many(path: FieldPath, found: usize, most: usize) -> Self {
        FieldError(Cause::too_many(path, count(found), count(most)))
    }

    /// The check itself failed.
    pub fn internal(path: FieldPath, error: impl Display) -> Self {
        Self::plain(CauseKind::Internal, path, error.to_string())
    }

    /// The field; `<nil>` if the error belongs to none, and empty for a refusal by an admission policy.
    #[must_use]
    pub fn path(&self) -> FieldPath {
        FieldPath::new(self.0.field.as_str())
    }

    /// The reason that clients match on: `FieldValueInvalid`. Empty for a refusal by an admission policy.
    #[must_use]
    pub fn reason(&self) -> &'static str {
        self.0.reason()
    }

    /// The error without its path.
    #[must_use]
    pub fn message(&self) -> String {
        self.0.message()
    }
}

impl Display for FieldError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl From<Cause> for FieldError {
    fn from(cause: Cause) -> Self {
        FieldError(cause)
    }
}

/// Values that JSON cannot hold were not in the received object.
fn json(value: impl Serialize) -> BadValue {
    BadValue::Json(serde_json::to_value(value).unwrap_or(Value::Null))
}

fn count(number: usize) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

impl StdError for FieldError {}

/// All mistakes found in an object.
///
/// As an error of a webhook's `Validator` it becomes a `Status` with code 422, reason `Invalid`
/// and one cause for each.
///
/// ```
/// use kubesmith_runtime::field::{FieldError, FieldErrors, FieldPath};
///
/// fn check(replicas: i32) -> Result<(), FieldErrors> {
///     let mut errors = FieldErrors::new();
///     if replicas < 0 {
///         errors.push(FieldError::invalid(FieldPath::new("spec").child("replicas"), replicas, "must not be negative"));
///     }
///     errors.into_result()
/// }
/// assert!(check(1).is_ok());
/// assert!(check(-1).is_err());
///
/// let errors = check(-1).unwrap_err();
/// assert!(!errors.is_empty() && errors.iter().all(|error| error.path().to_string() == "spec.replicas"));
/// let status = errors.to_status("example.com", "Widget", "a");
/// assert!(status.message.starts_with(r#"Widget.example.com "a" is invalid: spec.replicas: "#));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FieldErrors(Vec<FieldError>);

impl FieldErrors {
    /// Makes an empty list.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds one.
    pub fn push(&mut self, error: FieldError) {
        self.0.push(error);
    }

    /// Reports whether there are no errors.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The errors in the order in which they were added.
    pub fn iter(&self) -> impl Iterator<Item = &FieldError> {
        self.0.iter()
    }

    fn causes(&self) -> impl Iterator<Item = &Cause> {
        self.iter().map(|error| &error.0)
    }

    /// Fine if nothing is wrong.
    ///
    /// # Errors
    ///
    /// These errors, if there are any.
    pub fn into_result(self) -> Result<(), FieldErrors> {
        if self.is_empty() { Ok(()) } else { Err(self) }
    }

    /// The `Status` that an API server gives for an invalid object of this group, kind and name.
    #[must_use]
    pub fn to_status(&self, group: &str, kind: &str, name: &str) -> Status {
        let qualified = if group.is_empty() { kind.to_owned() } else { format!("{kind}.{group}") };
        let cause = |error: &FieldError| StatusCause {
            reason: error.reason().to_owned(),
            message: error.message(),
            field: error.0.field.clone(),
        };
        let details = StatusDetails {
            name: name.to_owned(),
            group: group.to_owned(),
            kind: kind.to_owned(),
            uid: String::new(),
            causes: self.iter().map(cause).collect(),
            retry_after_seconds: 0,
        };
        Status::failure(&invalid_message(&qualified, name, self.causes()), "Invalid")
            .with_code(422)
            .with_details(details)
    }
}

impl Display for FieldErrors {
    /// One error as it is, several in brackets, each text once.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&aggregate(self.causes()))
    }
}

impl StdError for FieldErrors {}

impl From<FieldError> for FieldErrors {
    fn from(error: FieldError) -> Self {
        FieldErrors(vec![error])
    }
}

impl Extend<FieldError> for FieldErrors {
    fn extend<I: IntoIterator<Item = FieldError>>(&mut self, errors: I) {
        self.0.extend(errors);
    }
}

impl FromIterator<FieldError> for FieldErrors {
    fn from_iter<I: IntoIterator<Item = FieldError>>(errors: I) -> Self {
        FieldErrors(errors.into_iter().collect())
    }
}

impl IntoIterator for FieldErrors {
    type Item = FieldError;
    type IntoIter = std::vec::IntoIter<FieldError>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn field_errors_have_the_text_of_kubernetes() {
        let at = || FieldPath::new("spec").child("a");
        for (error, text) in [
            (FieldError::required(at(), ""), "spec.a: Required value"),
            (FieldError::required(at(), "say one"), "spec.a: Required value: say one"),
            (FieldError::invalid(at(), "x\"y", "no quotes"), "spec.a: Invalid value: \"x\\\"y\": no quotes"),
            (
                FieldError::not_supported(at(), "c", &["a", "b"]),
                "spec.a: Unsupported value: \"c\": supported values: \"a\", \"b\"",
            ),
            (FieldError::duplicate(at(), 80), "spec.a: Duplicate value: 80"),
            (FieldError::forbidden(at(), "is immutable"), "spec.a: Forbidden: is immutable"),
            (FieldError::not_found(at(), "m"), "spec.a: Not found: \"m\""),
            (FieldError::too_long(at(), 63), "spec.a: Too long: may not be more than 63 bytes"),
            (FieldError::too_many(at(), 2, 1), "spec.a: Too many: 2: must have at most 1 item"),
            (FieldError::internal(at(), "no disk"), "spec.a: Internal error: no disk"),
        ] {
            assert_eq!(error.to_string(), text);
        }
    }

    #[test]
    fn status_message_names_the_object_and_each_cause_once() {
        let error = FieldError::required(FieldPath::new("spec").child("a"), "");
        let errors: FieldErrors =
            [error.clone(), error, FieldError::duplicate(FieldPath::new("b"), 1)].into_iter().collect();
        let status = errors.to_status("example.com", "Widget", "w");
        assert_eq!((status.code, status.reason.as_str()), (422, "Invalid"));
        assert_eq!(
            status.message,
            "Widget.example.com \"w\" is invalid: [spec.a: Required value, b: Duplicate value: 1]"
        );
        let details = status.details.unwrap();
        assert_eq!((details.group.as_str(), details.kind.as_str()), ("example.com", "Widget"));
        let causes: Vec<_> = details.causes.iter().map(|c| (c.reason.as_str(), c.field.as_str())).collect();
        assert_eq!(
            causes,
            [
                ("FieldValueRequired", "spec.a"),
                ("FieldValueRequired", "spec.a"),
                ("FieldValueDuplicate", "b")
            ]
        );
        let one = FieldErrors::from(FieldError::required(FieldPath::new("a"), ""));
        assert_eq!(one.to_status("", "Pod", "p").message, "Pod \"p\" is invalid: a: Required value");
    }
}
