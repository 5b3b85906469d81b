//! `CertificateApproval`, `CertificateSigning` and `CertificateSubjectRestriction` (plugin/pkg/admission/certificates).

use kubesmith_apimachinery::golang;
use serde_json::Value;

use super::super::{Attributes, Operation};
use crate::access::{MASTERS, Resource};
use crate::authorization;
use crate::builtin::certificates;
use crate::der;
use crate::status::{ApiError, ApiResult};

/// The signer of clients of the API server.
const CLIENT_SIGNER: &str = "kubernetes.io/kube-apiserver-client";

pub(super) fn validate(attributes: &Attributes<'_>, object: Option<&Value>) -> ApiResult<()> {
    let call = attributes.call;
    if call.def.collection != certificates::COLLECTION {
        return Ok(());
    }
    let Some(request) = object else { return Ok(()) };
    let is_update = attributes.operation == Operation::Update;
    let refused = match (call.path.subresource.as_str(), attributes.old) {
        ("approval", Some(old)) if is_update => signer_fault(attributes, old, "approve"),
        ("status", Some(old)) if is_update => {
            let changes = |part: &str| old["status"][part] != request["status"][part];
            let is_signed = changes("certificate") || changes("conditions");
            is_signed.then(|| signer_fault(attributes, old, "sign")).flatten()
        }
        ("", None) if attributes.operation == Operation::Create => subject_fault(&request["spec"]),
        _ => None,
    };
    let about = || call.def.subject(&attributes.shown_name(Some(request)));
    refused.map_or(Ok(()), |text| Err(ApiError::forbidden(about(), &text)))
}

/// `IsAuthorizedForSignerName`: the user needs a right to the signer, or to all of its domain.
fn signer_fault(attributes: &Attributes<'_>, request: &Value, verb: &str) -> Option<String> {
    let signer = request["spec"]["signerName"].as_str().unwrap_or_default();
    let all = format!("{}/*", signer.split('/').next().unwrap_or_default());
    let call = attributes.call;
    let may = |name: &str| {
        let on = Resource { group: "certificates.k8s.io", resource: "signers", name, ..Resource::default() };
        authorization::may(&call.server, &call.user, verb, on)
    };
    let quoted = golang::quote(signer);
    (!may(signer) && !may(&all))
        .then(|| format!("user not permitted to {verb} requests with signerName {quoted}"))
}

/// Refuses a request for a client in the group of administrators, or whose groups cannot be read
/// (`CertificateSubjectRestriction`).
fn subject_fault(spec: &Value) -> Option<String> {
    if spec["signerName"] != CLIENT_SIGNER {
        return None;
    }
    let request = certificates::decoded_request(spec);
    match request.and_then(|request| der::requested_subject(&request).ok_or(certificates::MALFORMED)) {
        Err(fault) => Some(format!("failed to parse CSR: {fault}")),
        Ok(subject) => subject
            .groups
            .iter()
            .any(|group| group == MASTERS)
            .then(|| format!("use of {CLIENT_SIGNER} signer with {MASTERS} group is not allowed")),
    }
}
