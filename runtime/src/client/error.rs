//! The error of the typed clients.

use std::fmt;

use kube::core::Status;

use super::conflict::{FieldConflict, conflicts};

/// A request failed.
///
/// ```
/// use kubesmith_runtime::client::Error;
///
/// fn describe(error: &Error) -> &'static str {
///     if error.is_not_found() { "gone" } else if error.is_conflict() { "changed meanwhile" } else { "failed" }
/// }
///
/// // What a controller that creates its objects does about it.
/// fn next_step(error: &Error) -> String {
///     match error.status() {
///         None => format!("not answered: {error}"),
///         Some(_) if error.is_already_exists() => "update it instead".to_owned(),
///         Some(_) if error.is_gone() => "list anew".to_owned(),
///         Some(_) if error.is_invalid() || error.is_forbidden() => "tell the user, and do not try again".to_owned(),
///         Some(_) if error.is_too_many_requests() => {
///             format!("wait for {} s", error.retry_after_seconds().unwrap_or(1))
///         }
///         Some(status) => format!("try again: {} {}", status.code, status.message),
///     }
/// }
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The server responded with a failure.
    #[error("cannot {request}: {}", describe(.status))]
    Api {
        /// The request.
        request: Request,
        /// The server's response: reason, code, details.
        status: Box<Status>,
    },
    /// Server-side apply without `force` found fields of other field managers. [`Error::is_conflict`] holds.
    #[error("cannot {request}: {}", describe(.status))]
    ApplyConflict {
        /// The request.
        request: Request,
        /// The fields with their managers, in the server's order.
        conflicts: Vec<FieldConflict>,
        /// The server's response.
        status: Box<Status>,
    },
    /// The request could not be built or sent, or its response not be read.
    #[error("cannot {request}: {}", causes(.source))]
    Transport {
        /// The request.
        request: Request,
        /// The underlying error.
        #[source]
        source: Box<kube::Error>,
    },
    /// The request was not sent because a part of it is missing or wrong.
    #[error("cannot {request}: {reason}")]
    BadRequest {
        /// The request.
        request: Request,
        /// The fault, and how to correct it.
        reason: &'static str,
    },
    /// The object exists, but its kind has no such subresource. Only [`unless_deleted`](super::unless_deleted)
    /// finds this.
    #[error("cannot {request}: the object exists, but the subresource does not; install a CRD that has it")]
    NoSubresource {
        /// The request.
        request: Request,
    },
    /// Neither a kubeconfig nor an in-cluster environment could be used.
    #[error("cannot find the configuration of a cluster (set KUBECONFIG, or run in a pod): {0}")]
    Config(#[source] Box<kube::config::InferConfigError>),
    /// A configuration was found, but a client cannot be made from it.
    #[error("cannot create a client from the configuration: {}", causes(.0))]
    Connect(#[source] Box<kube::Error>),
    /// The options exclude each other.
    #[error("cannot create a client: {0}")]
    Options(String),
}

/// The request that failed: verb, resource and object, for messages.
///
/// ```
/// use kubesmith_runtime::client::Request;
///
/// let namespace = Some("default".to_owned());
/// let request = Request { verb: "get", resource: "configmaps".to_owned(), namespace, name: Some("a".to_owned()) };
/// assert_eq!(request.to_string(), "get configmaps \"default/a\"");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// The verb as RBAC spells it.
    pub verb: &'static str,
    /// `plural.group`, or a path for requests that are not about a resource.
    pub resource: String,
    /// The namespace, if the request has one.
    pub namespace: Option<String>,
    /// The object's name, if the request has one.
    pub name: Option<String>,
}

impl fmt::Display for Request {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.verb, self.resource)?;
        match (&self.namespace, &self.name) {
            (Some(namespace), Some(name)) => write!(f, " \"{namespace}/{name}\""),
            (None, Some(name)) => write!(f, " \"{name}\""),
            (Some(namespace), None) => write!(f, " in namespace \"{namespace}\""),
            (None, None) => Ok(()),
        }
    }
}

impl Error {
    /// Separates the server's failures from other failures of `kube`.
    pub(crate) fn from_kube(request: Request, source: kube::Error) -> Self {
        match source {
            kube::Error::Api(mut status) => {
                // kube's text for a response that is not a `Status`, as sent by proxies and servers without the
                // group.
                if status.reason == "Failed to parse error data" {
                    status.reason = reason_of(status.code).to_owned();
                }
                match conflicts(&status) {
                    conflicts if conflicts.is_empty() => Self::Api { request, status },
                    conflicts => Self::ApplyConflict { request, conflicts, status },
                }
            }
            source => Self::Transport { request, source: Box::new(source) },
        }
    }

    /// Returns the server's `Status`, if the server responded.
    #[must_use]
    pub fn status(&self) -> Option<&Status> {
        match self {
            Self::Api { status, .. } | Self::ApplyConflict { status, .. } => Some(status),
            _ => None,
        }
    }

    /// Returns the fields of other managers that prevented a server-side apply; empty for other failures.
    ///
    /// ```
    /// # fn example(error: kubesmith_runtime::client::Error) {
    /// for conflict in error.apply_conflicts() {
    ///     println!("{} belongs to {}", conflict.field, conflict.manager);
    /// }
    /// # }
    /// ```
    #[must_use]
    pub fn apply_conflicts(&self) -> &[FieldConflict] {
        match self {
            Self::ApplyConflict { conflicts, .. } => conflicts,
            _ => &[],
        }
    }

    /// Reports whether the object does not exist.
    #[must_use]
    pub fn is_not_found(&self) -> bool {
        self.status().is_some_and(Status::is_not_found)
    }

    /// Reports whether another writer changed the object since it was read.
    #[must_use]
    pub fn is_conflict(&self) -> bool {
        self.status().is_some_and(Status::is_conflict)
    }

    /// Reports whether an object with this name exists.
    #[must_use]
    pub fn is_already_exists(&self) -> bool {
        self.status().is_some_and(Status::is_already_exists)
    }

    /// Reports whether the requested resource version is no longer available (code 410, reason `Gone` or `Expired`).
    #[must_use]
    pub fn is_gone(&self) -> bool {
        self.status().is_some_and(is_expired)
    }

    /// Reports whether the object failed validation.
    #[must_use]
    pub fn is_invalid(&self) -> bool {
        self.status().is_some_and(Status::is_invalid)
    }

    /// Reports whether the credentials do not permit the request.
    #[must_use]
    pub fn is_forbidden(&self) -> bool {
        self.status().is_some_and(Status::is_forbidden)
    }

    /// Reports whether the server asks to slow down.
    #[must_use]
    pub fn is_too_many_requests(&self) -> bool {
        self.status().is_some_and(|status| status.code == 429 || status.reason == "TooManyRequests")
    }

    /// Returns the number of seconds to wait before the next try, if the server gave one.
    #[must_use]
    pub fn retry_after_seconds(&self) -> Option<u32> {
        let seconds = self.status()?.details.as_ref()?.retry_after_seconds;
        (seconds > 0).then_some(seconds)
    }
}

/// Returns the reason for a code, as apimachinery's `NewGenericServerResponse` does.
fn reason_of(code: u16) -> &'static str {
    match code {
        400 => "BadRequest",
        401 => "Unauthorized",
        403 => "Forbidden",
        404 => "NotFound",
        405 => "MethodNotAllowed",
        409 => "Conflict",
        410 => "Gone",
        413 => "RequestEntityTooLarge",
        422 => "Invalid",
        429 => "TooManyRequests",
        500 => "InternalError",
        503 => "ServiceUnavailable",
        504 => "Timeout",
        _ => "",
    }
}

/// Reports whether apimachinery's `IsGone` or `IsResourceExpired` holds.
pub(crate) fn is_expired(status: &Status) -> bool {
    status.code == 410 || status.reason == "Gone" || status.reason == "Expired"
}

/// Returns an error with its causes, unless it contains them: `client error (Connect): connection refused`.
pub(crate) fn causes(error: &dyn std::error::Error) -> String {
    let text = error.to_string();
    // kube's prefix for errors from lower layers.
    let mut text = text.strip_prefix("ServiceError: ").map_or_else(|| text.clone(), str::to_owned);
    let mut cause = error.source();
    while let Some(error) = cause {
        let said = error.to_string();
        if !text.contains(&said) {
            text.push_str(": ");
            text.push_str(&said);
        }
        cause = error.source();
    }
    text
}

/// Returns message, reason and code, unlike `kube::Error`, which prints its `Debug` output.
pub(crate) fn describe(status: &Status) -> String {
    let message = if status.message.is_empty() { "the server gave no message" } else { &status.message };
    match (status.reason.as_str(), status.code) {
        ("", 0) => message.to_owned(),
        ("", code) => format!("{message} (code {code})"),
        (reason, 0) => format!("{message} ({reason})"),
        (reason, code) => format!("{message} ({reason}, code {code})"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn api(code: u16, reason: &str) -> Error {
        let status = Status::failure("no such thing", reason).with_code(code);
        Error::Api {
            request: Request {
                verb: "get",
                resource: "ecsbinding.hopegi.com".to_owned(),
                namespace: None,
                name: Some("x".to_owned()),
            },
            status: status.boxed(),
        }
    }

    #[test]
    fn message_names_verb_resource_name_and_reason() {
        assert_eq!(
            api(404, "NotFound").to_string(),
            "cannot get ecsbinding.hopegi.com \"x\": no such thing (NotFound, code 404)"
        );
    }

    #[test]
    fn predicates_follow_reason_and_code() {
        assert!(api(404, "NotFound").is_not_found());
        assert!(api(409, "Conflict").is_conflict());
        assert!(api(409, "AlreadyExists").is_already_exists());
        assert!(!api(409, "AlreadyExists").is_conflict());
        assert!(api(410, "Expired").is_gone());
        assert!(api(410, "Gone").is_gone());
        assert!(api(422, "Invalid").is_invalid());
        assert!(api(403, "Forbidden").is_forbidden());
        assert!(api(429, "TooManyRequests").is_too_many_requests());
    }
}
