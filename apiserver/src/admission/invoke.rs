//! One call of one webhook, and its errors.

use kubesmith_apimachinery::golang;
use serde_json::{Value, json};
use tokio::time::Instant;

use super::attributes::{Attributes, Versioned};
use super::review::{self, Verdict};
use crate::hooks::Hook;
use crate::meta;
use crate::status::ApiError;

/// The reason why a webhook blocks a request.
#[derive(Debug)]
pub(super) enum Failure {
    /// The call failed or the response is malformed. It counts unless the webhook's failures are ignored.
    Calling(String),
    /// The webhook refused the request, or the request cannot be sent to it.
    Refused(ApiError),
}

impl Failure {
    /// Returns the error for the client; `None` if the failure is ignored.
    pub(super) fn outcome(self, hook: &Hook) -> Option<ApiError> {
        match self {
            Self::Refused(error) => Some(error),
            Self::Calling(reason) => {
                let text = format!("failed calling webhook {}: {reason}", golang::quote(&hook.name));
                if hook.ignores_failure {
                    tracing::warn!("{text}; its failure policy is to go on");
                    return None;
                }
                Some(ApiError::internal_of(text))
            }
        }
    }
}

/// Sends the request to a webhook.
///
/// # Errors
/// Returns the refusal or the failure of the call.
pub(super) async fn invoke(
    hook: &Hook,
    attributes: &Attributes<'_>,
    versioned: &Versioned,
    mutating: bool,
) -> Result<Verdict, Failure> {
    if attributes.dry_run && !hook.bears_dry_run {
        let text = format!("admission webhook {} does not support dry run", golang::quote(&hook.name));
        return Err(Failure::Refused(ApiError::bad_request(text)));
    }
    let Some(version) = hook.review_version else {
        let text = "could not create admission objects: webhook does not accept known AdmissionReview versions (v1, \
                    v1beta1)";
        return Err(Failure::Calling(text.to_owned()));
    };
    let server = &attributes.call.server;
    let uid = server.ids.uid();
    let question = review::question(attributes, versioned, &uid, version);
    let left = attributes.call.deadline.map(|deadline| deadline.duration_since(Instant::now()));
    let answer = server.webhooks.post(&server.store, &hook.endpoint, (hook.timeout, left), &question).await;
    let answer = answer.and_then(|mut answer| review::decode(&mut answer, version).map(|()| answer));
    let answer = answer.map_err(|e| Failure::Calling(format!("failed to call webhook: {e}")))?;
    let verdict = review::verdict(&answer, &uid, version, mutating)
        .map_err(|e| Failure::Calling(format!("received invalid webhook response: {e}")))?;
    for warning in &verdict.warnings {
        attributes.call.warn(warning);
    }
    if verdict.allowed { Ok(verdict) } else { Err(Failure::Refused(refusal(&hook.name, verdict.result))) }
}

/// A webhook's refusal: its own `Status` with the webhook's name before the message (`ToStatusErr` of
/// admission/plugin/webhook/errors/statuserror.go).
fn refusal(name: &str, result: Value) -> ApiError {
    let denied = format!("admission webhook {} denied the request", golang::quote(name));
    let mut status = if result.is_object() { result } else { json!({}) };
    let text = |key: &str| status[key].as_str().unwrap_or_default().to_owned();
    let message = match (text("message"), text("reason")) {
        (message, _) if !message.is_empty() => format!("{denied}: {message}"),
        (_, reason) if !reason.is_empty() => format!("{denied}: {reason}"),
        _ => format!("{denied} without explanation"),
    };
    let code = status["code"].as_u64().and_then(|code| u16::try_from(code).ok()).unwrap_or(0).max(400);
    status["kind"] = json!("Status");
    status["apiVersion"] = json!("v1");
    if matches!(meta::member(&status, "status"), "" | "Success") {
        status["status"] = json!("Failure");
    }
    if status["metadata"].is_null() {
        status["metadata"] = json!({});
    }
    status["message"] = json!(message);
    status["code"] = json!(code);
    ApiError::given(code, status)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn webhook_refusal_has_kube_apiservers_message_and_code() {
        for (result, code, message) in [
            (json!(null), 400, "admission webhook \"a.b.c\" denied the request without explanation"),
            (
                json!({"code": 403, "message": "no"}),
                403,
                "admission webhook \"a.b.c\" denied the request: no",
            ),
            (
                json!({"code": 200, "reason": "Forbidden"}),
                400,
                "admission webhook \"a.b.c\" denied the request: Forbidden",
            ),
        ] {
            let error = refusal("a.b.c", result);
            assert_eq!((error.code(), error.to_value()["message"].as_str().unwrap()), (code, message));
        }
    }
}
