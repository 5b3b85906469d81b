//! `CertificateApproval`, `CertificateSigning` and `CertificateSubjectRestriction` (plugin/pkg/admission/certificates).

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use kubesmith_apimachinery::golang;
use serde_json::Value;

use super::super::{Attributes, Operation};
use crate::authorization::{self, MASTERS};
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
        ("", None) if attributes.operation == Operation::Create => names_masters(request)
            .then(|| format!("use of {CLIENT_SIGNER} signer with {MASTERS} group is not allowed")),
        _ => None,
    };
    let about = || call.def.about(&attributes.shown_name(Some(request)));
    refused.map_or(Ok(()), |text| Err(ApiError::forbidden(about(), &text)))
}

/// `IsAuthorizedForSignerName`: the user needs a right to the signer, or to all of its domain.
fn signer_fault(attributes: &Attributes<'_>, request: &Value, verb: &str) -> Option<String> {
    let signer = request["spec"]["signerName"].as_str().unwrap_or_default();
    let all = format!("{}/*", signer.split('/').next().unwrap_or_default());
    let call = attributes.call;
    let may = |name: &str| {
        let on = authorization::Resource {
            group: "certificates.k8s.io",
            resource: "signers",
            name,
            ..authorization::Resource::default()
        };
        authorization::may(&call.server, &call.user, verb, on)
    };
    let quoted = golang::quote(signer);
    (!may(signer) && !may(&all))
        .then(|| format!("user not permitted to {verb} requests with signerName {quoted}"))
}

/// Reports whether the request is for a client in the group of administrators.
fn names_masters(request: &Value) -> bool {
    let pem = request["spec"]["request"].as_str().and_then(|text| BASE64.decode(text).ok());
    let pem = pem.and_then(|bytes| String::from_utf8(bytes).ok()).unwrap_or_default();
    let body: String = pem.lines().filter(|line| !line.starts_with("-----")).map(str::trim).collect();
    let subject = BASE64.decode(body).ok().and_then(|request| der::requested_subject(&request));
    request["spec"]["signerName"] == CLIENT_SIGNER
        && subject.is_some_and(|subject| subject.groups.iter().any(|group| group == MASTERS))
}
