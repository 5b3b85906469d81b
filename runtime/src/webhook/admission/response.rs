//! Admission responses.

use std::collections::BTreeMap;
use std::fmt::Display;

use json_patch::Patch;
use k8s_openapi::ByteString;
use kube::core::response::Status;
use serde::Serialize;
use serde_json::Value;

use crate::webhook::FieldErrors;

/// The response to an [`AdmissionRequest`](super::AdmissionRequest); the server adds the request's `uid`.
///
/// ```
/// use kubesmith_runtime::webhook::AdmissionResponse;
///
/// let response = AdmissionResponse::denied("no pods on Fridays").with_warnings(["see example.com/fridays".to_owned()]);
/// assert!(!response.allowed);
/// ```
///
/// All kinds of responses:
///
/// ```
/// use kube::core::Status;
/// use kubesmith_runtime::webhook::{AdmissionResponse, FieldError, FieldErrors, FieldPath};
/// use serde_json::json;
///
/// let patched = AdmissionResponse::patched_from(&json!({"spec": {}}), &json!({"spec": {"paused": true}}))
///     .with_audit_annotation("paused-by", "policy");
/// assert!(patched.allowed && patched.patch.len() == 1);
///
/// let failed = AdmissionResponse::errored(500, "the policy cannot be read");
/// let full = AdmissionResponse::refused(Status::failure("no room for more", "TooManyRequests").with_code(429));
/// assert_eq!((failed.status.code, full.status.code), (500, 429));
///
/// let errors = FieldErrors::from(FieldError::required(FieldPath::new("spec").child("size"), ""));
/// let invalid = AdmissionResponse::validation_response_from_errors("example.com", "Widget", "a", &errors);
/// assert_eq!(invalid.status.code, 422);
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
#[must_use = "return it from the handler"]
pub struct AdmissionResponse {
    /// Whether the write is allowed.
    pub allowed: bool,
    /// The reason of a refusal, for the client. For an allowed write only the API server sees it.
    pub status: Status,
    /// Changes of the object, from a mutating webhook.
    pub patch: Patch,
    /// Entries for the audit log. The API server prefixes the keys with the webhook's name.
    pub audit_annotations: BTreeMap<String, String>,
    /// Warnings for the client, best at most 120 characters each.
    pub warnings: Vec<String>,
}

impl AdmissionResponse {
    /// Allows the write.
    pub fn allowed() -> Self {
        let status = Status { code: 200, ..Status::default() };
        AdmissionResponse { allowed: true, status, ..Self::default() }
    }

    /// Refuses the write: 403 `Forbidden` with this message.
    pub fn denied(message: impl Into<String>) -> Self {
        Self::refused(Status::failure(&message.into(), "Forbidden").with_code(403))
    }

    /// Refuses the write because of a failure. `code` is the client's status code, for instance 500.
    pub fn errored(code: u16, error: impl Display) -> Self {
        Self::refused(Status::failure(&error.to_string(), "").with_code(code))
    }

    /// Refuses the write with this `Status`.
    pub fn refused(status: Status) -> Self {
        AdmissionResponse { allowed: false, status, ..Self::default() }
    }

    /// Allows the write with these changes. An empty patch changes nothing.
    ///
    /// ```
    /// use kubesmith_runtime::webhook::{AdmissionResponse, Patch};
    /// use serde_json::json;
    ///
    /// let patch: Patch = serde_json::from_value(json!([{"op": "add", "path": "/spec/paused", "value": true}]))?;
    /// let response = AdmissionResponse::patched(patch);
    /// # assert_eq!(response.patch.len(), 1);
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    pub fn patched(patch: Patch) -> Self {
        AdmissionResponse { patch, ..Self::allowed() }
    }

    /// Allows the write with the changes from `original`, the object as sent, to `current`.
    pub fn patched_from(original: &Value, current: &Value) -> Self {
        Self::patched(json_patch::diff(original, current))
    }

    /// Allows the write if there are no errors. Otherwise refuses it with 422 `Invalid` and a cause for each error,
    /// for an object of this group, kind and name.
    pub fn validation_response_from_errors(
        group: &str,
        kind: &str,
        name: &str,
        errors: &FieldErrors,
    ) -> Self {
        if errors.is_empty() { Self::allowed() } else { Self::refused(errors.to_status(group, kind, name)) }
    }

    /// Adds warnings.
    pub fn with_warnings(mut self, warnings: impl IntoIterator<Item = String>) -> Self {
        self.warnings.extend(warnings);
        self
    }

    /// Adds an entry for the audit log.
    pub fn with_audit_annotation(mut self, key: impl Into<String>, value: impl Into<String>) -> Self {
        self.audit_annotations.insert(key.into(), value.into());
        self
    }
}

/// A response in the form of the API.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Sent<'a> {
    uid: &'a str,
    allowed: bool,
    status: &'a Status,
    #[serde(skip_serializing_if = "Option::is_none")]
    patch: Option<ByteString>,
    #[serde(skip_serializing_if = "Option::is_none")]
    patch_type: Option<&'static str>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    audit_annotations: &'a BTreeMap<String, String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    warnings: &'a Vec<String>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Review<'a> {
    api_version: &'static str,
    kind: &'static str,
    response: Sent<'a>,
}

/// Returns the review with the response to the request with this `uid`.
pub(super) fn review(uid: &str, response: &AdmissionResponse) -> Result<Vec<u8>, serde_json::Error> {
    let is_patched = response.allowed && !response.patch.is_empty();
    let patch = is_patched.then(|| serde_json::to_vec(&response.patch)).transpose()?.map(ByteString);
    serde_json::to_vec(&Review {
        api_version: super::review::REVIEW.api_version,
        kind: super::review::REVIEW.kind,
        response: Sent {
            uid,
            allowed: response.allowed,
            status: &response.status,
            patch_type: patch.as_ref().map(|_| "JSONPatch"),
            patch,
            audit_annotations: &response.audit_annotations,
            warnings: &response.warnings,
        },
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::webhook::{FieldError, FieldPath};

    fn sent(response: &AdmissionResponse) -> Value {
        serde_json::from_slice(&review("u", response).unwrap()).unwrap()
    }

    #[test]
    fn responses_serialize_in_the_api_format() {
        let allowed = AdmissionResponse::allowed().with_warnings(["careful".to_owned()]);
        assert_eq!(
            sent(&allowed.with_audit_annotation("a", "b")),
            json!({"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "response": {
                "uid": "u", "allowed": true, "status": {"code": 200}, "auditAnnotations": {"a": "b"}, "warnings": ["careful"]}})
        );
        assert_eq!(
            sent(&AdmissionResponse::denied("no"))["response"],
            json!({"uid": "u", "allowed": false,
                "status": {"status": "Failure", "code": 403, "message": "no", "reason": "Forbidden"}})
        );
        let errored = sent(&AdmissionResponse::errored(507, "full"));
        assert_eq!(
            errored["response"]["status"],
            json!({"status": "Failure", "code": 507, "message": "full"})
        );
        let patched = sent(&AdmissionResponse::patched_from(&json!({}), &json!({"a": 1})));
        let base64 = "W3sib3AiOiJhZGQiLCJwYXRoIjoiL2EiLCJ2YWx1ZSI6MX1d";
        assert_eq!(
            (&patched["response"]["patchType"], &patched["response"]["patch"]),
            (&json!("JSONPatch"), &json!(base64))
        );
        let unchanged = sent(&AdmissionResponse::patched_from(&json!({}), &json!({})));
        assert_eq!(unchanged["response"].get("patchType"), None);
    }

    #[test]
    fn field_errors_give_status_invalid() {
        let respond = |errors: FieldErrors| {
            AdmissionResponse::validation_response_from_errors("a.example", "Widget", "w", &errors)
        };
        assert!(respond(FieldErrors::new()).allowed);
        let response = respond(FieldError::required(FieldPath::new("spec"), "").into());
        assert_eq!((response.allowed, response.status.code), (false, 422));
    }
}
