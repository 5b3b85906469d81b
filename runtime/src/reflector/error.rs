//! Failures of lists and watches.

use std::time::Duration;

use kube::core::Status;

use super::machine::Failure;
use crate::client::error::{describe, is_expired};
use crate::client::transport::LONGEST_WAIT;
use crate::object::ObjectKey;

/// A list or watch failed, or an object could not be read. The reflector continues by itself.
///
/// ```no_run
/// use k8s_openapi::api::core::v1::Pod;
/// use kubesmith_runtime::informer::{InformerError, SharedInformer};
/// use kubesmith_runtime::informer::WatchError;
///
/// fn report(pods: &SharedInformer<Pod>) -> Result<(), InformerError> {
///     pods.set_watch_error_handler(|error| match error {
///         WatchError::Refused { status, .. } if status.code == 403 => eprintln!("the role lacks a right: {error}"),
///         WatchError::Undecodable { key: Some(key), .. } => eprintln!("{key} is left out: {error}"),
///         // It is retried.
///         _ => eprintln!("{error}"),
///     })
/// }
/// ```
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WatchError {
    /// The server refused the request.
    #[error("cannot {verb} {resource}: {}{}", describe(.status), next_step(.verb, .resource, .status))]
    Refused {
        /// `list` or `watch`.
        verb: &'static str,
        /// `plural.group`.
        resource: String,
        /// The server's response.
        status: Box<Status>,
    },
    /// The server could not be reached, or the connection broke.
    #[error("cannot {verb} {resource}: {message}")]
    Transport {
        /// `list` or `watch`.
        verb: &'static str,
        /// `plural.group`.
        resource: String,
        /// The transport's error.
        message: String,
    },
    /// The response does not follow the protocol.
    #[error(
        "cannot {verb} {resource}: the response cannot be read: {message}; if this repeats, check the proxies to the server"
    )]
    Malformed {
        /// `list` or `watch`.
        verb: &'static str,
        /// `plural.group`.
        resource: String,
        /// Its fault.
        message: String,
    },
    /// No response came in time.
    #[error("cannot {verb} {resource}: the server has been silent for too long")]
    Silent {
        /// `list` or `watch`.
        verb: &'static str,
        /// `plural.group`.
        resource: String,
    },
    /// An object does not fit its type; other objects are not affected. Compare the type with the CRD's schema.
    #[error("cannot decode {resource} {}: {message}; compare its type with the CRD's schema", name(.key.as_ref()))]
    Undecodable {
        /// `plural.group`.
        resource: String,
        /// The object, if its name could be read.
        key: Option<ObjectKey>,
        /// The decoder's message.
        message: String,
    },
}

/// Returns advice, if waiting does not help.
fn next_step(verb: &str, resource: &str, status: &Status) -> String {
    match status.code {
        401 => "; renew the credentials: the client reads them again after a refusal".to_owned(),
        403 => {
            format!("; grant {verb} on {resource} to the client's account: informers need list and watch")
        }
        404 => format!("; install {resource}, or request a served version"),
        _ => String::new(),
    }
}

fn name(key: Option<&ObjectKey>) -> String {
    key.map_or_else(|| "(of unknown name)".to_owned(), |key| format!("\"{key}\""))
}

/// The part of a refusal that the state machine needs.
pub(super) fn failure(status: &Status, header: Option<Duration>) -> Failure {
    let details = status.details.as_ref();
    let named = details.map(|details| details.retry_after_seconds).filter(|seconds| *seconds > 0);
    let named = named.map(|seconds| Duration::from_secs(seconds.into()).min(LONGEST_WAIT));
    let retry_after = named.or(header);
    let causes = details.map(|details| details.causes.as_slice()).unwrap_or_default();
    let too_large = causes.iter().any(|cause| cause.reason == "ResourceVersionTooLarge")
        || status.message.contains("Too large resource version");
    if is_expired(status) {
        Failure::Expired
    } else if too_large {
        Failure::TooLarge
    } else if status.code == 429 || status.reason == "TooManyRequests" {
        Failure::TooManyRequests { retry_after }
    } else {
        Failure::Refused { code: status.code, retry_after }
    }
}
