//! Certificate signing requests: requester, approval and issuance.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde_json::{Value, json};

use crate::der;
use crate::meta;
use crate::names::{NameRule, quoted};
use crate::status::Cause;

/// The store's collection of certificate signing requests.
pub(crate) const COLLECTION: &str = "certificatesigningrequests.certificates.k8s.io";

/// The valid usages of a certificate.
const USAGES: &[&str] = &[
    "any",
    "cert sign",
    "client auth",
    "code signing",
    "content commitment",
    "crl sign",
    "data encipherment",
    "decipher only",
    "digital signature",
    "email protection",
    "encipher only",
    "ipsec end system",
    "ipsec tunnel",
    "ipsec user",
    "key agreement",
    "key encipherment",
    "microsoft sgc",
    "netscape sgc",
    "ocsp signing",
    "s/mime",
    "server auth",
    "signing",
    "timestamping",
];

/// Sets the requester of a new request; the client's own statement is overwritten.
pub(crate) fn requested_by(user: &Value, request: &mut Value) {
    let spec = meta::map_at(request, "spec");
    for field in ["username", "uid", "groups", "extra"] {
        match &user[field] {
            Value::Null => spec.remove(field),
            value => spec.insert(field.to_owned(), value.clone()),
        };
    }
}

/// Keeps spec and status on updates of the object itself.
pub(super) fn keep(current: &Value, wanted: &mut Value) {
    wanted["spec"] = current["spec"].clone();
    wanted["status"] = current["status"].clone();
}

/// Keeps all but the conditions: an approval issues nothing.
pub(super) fn keep_all_but_conditions(current: &Value, wanted: &mut Value, now: &str) {
    let conditions = wanted["status"].get("conditions").cloned();
    keep(current, wanted);
    let status = meta::map_at(wanted, "status");
    match conditions {
        Some(conditions) => status.insert("conditions".to_owned(), conditions),
        None => status.remove("conditions"),
    };
    settle_times(current, wanted, now);
}

/// Keeps the conditions of approval and denial on updates of the status. Added or removed ones are refused later.
pub(super) fn keep_decisions(current: &Value, wanted: &mut Value, now: &str) {
    wanted["spec"] = current["spec"].clone();
    for kind in DECISIONS {
        let old: Vec<Value> = of_type(current, kind).cloned().collect();
        let new =
            wanted.pointer_mut("/status/conditions").and_then(Value::as_array_mut).into_iter().flatten();
        let new: Vec<&mut Value> = new.filter(|condition| condition["type"] == kind).collect();
        if new.len() == old.len() {
            for (new, old) in new.into_iter().zip(old) {
                *new = old;
            }
        }
    }
    settle_times(current, wanted, now);
}

fn settle_times(current: &Value, wanted: &mut Value, now: &str) {
    let old = conditions(current);
    let given = wanted.pointer_mut("/status/conditions").and_then(Value::as_array_mut);
    for condition in given.into_iter().flatten() {
        set_times(condition, old, now);
    }
}

fn set_times(condition: &mut Value, old: &[Value], now: &str) {
    if condition["lastUpdateTime"].is_null() {
        condition["lastUpdateTime"] = now.into();
    }
    if condition["lastTransitionTime"].is_null() {
        let same = old.iter().find(|o| o["type"] == condition["type"] && o["status"] == condition["status"]);
        let since = same.map(|old| &old["lastTransitionTime"]).filter(|time| !time.is_null());
        condition["lastTransitionTime"] = since.cloned().unwrap_or_else(|| now.into());
    }
}

const DECISIONS: [&str; 2] = ["Approved", "Denied"];

fn conditions(request: &Value) -> &[Value] {
    request["status"]["conditions"].as_array().map_or(&[], Vec::as_slice)
}

fn of_type<'a>(request: &'a Value, kind: &'a str) -> impl Iterator<Item = &'a Value> {
    conditions(request).iter().filter(move |condition| condition["type"] == kind)
}

/// The faults of a new request.
pub(super) fn check(request: &Value, old: Option<&Value>) -> Vec<Cause> {
    let mut causes = Vec::new();
    if old.is_none() {
        check_spec(&request["spec"], &mut causes);
    }
    check_conditions(request, &mut causes);
    let certificate =
        |request: &Value| request["status"]["certificate"].as_str().unwrap_or_default().to_owned();
    let (new, old) = (certificate(request), old.map(certificate).unwrap_or_default());
    // What is stored already is tolerated.
    let fault = certificate_fault(&new).filter(|_| new != old && certificate_fault(&old).is_none());
    causes.extend(
        fault.map(|fault| Cause::invalid("status.certificate", quoted("<certificate data>"), &fault)),
    );
    causes
}

/// The faults of an approval.
pub(super) fn check_approval(request: &Value, old: &Value) -> Vec<Cause> {
    let mut causes = check(request, Some(old));
    kept_conditions(request, old, &mut causes);
    causes
}

/// The faults of an issuance.
pub(super) fn check_issuance(request: &Value, old: &Value) -> Vec<Cause> {
    let mut causes = check_approval(request, old);
    for kind in DECISIONS {
        if of_type(request, kind).count() > of_type(old, kind).count() {
            let text = format!("updates may not add a condition of type {}", quoted(kind));
            causes.push(Cause::forbidden("status.conditions", &text));
        }
    }
    let certificate =
        |request: &Value| request["status"]["certificate"].as_str().unwrap_or_default().to_owned();
    if !certificate(old).is_empty() && certificate(old) != certificate(request) {
        let text = "updates may not modify existing certificate content";
        causes.push(Cause::forbidden("status.certificate", text));
    }
    causes
}

/// Refuses the removal of decisions and failures.
fn kept_conditions(request: &Value, old: &Value, causes: &mut Vec<Cause>) {
    for kind in ["Approved", "Denied", "Failed"] {
        if of_type(request, kind).count() < of_type(old, kind).count() {
            let text = format!("updates may not remove a condition of type {}", quoted(kind));
            causes.push(Cause::forbidden("status.conditions", &text));
        }
    }
}

/// Returns the request for a certificate in DER: the first PEM block (`ParseCSR` of pkg/apis/certificates).
///
/// # Errors
/// Returns the fault of a request that is no PEM or has not the outer form of a request.
pub(crate) fn decoded_request(spec: &Value) -> Result<Vec<u8>, &'static str> {
    let pem = BASE64.decode(spec["request"].as_str().unwrap_or_default()).unwrap_or_default();
    let block = pem::blocks(&pem).into_iter().next().filter(|block| block.kind == "CERTIFICATE REQUEST");
    let block = block.ok_or("PEM block type must be CERTIFICATE REQUEST")?;
    if der::is_signed(&block.bytes) { Ok(block.bytes) } else { Err(MALFORMED) }
}

/// The fault of a request that is no certificate request in DER.
pub(crate) const MALFORMED: &str = "asn1: syntax error: sequence truncated";

fn check_spec(spec: &Value, causes: &mut Vec<Cause>) {
    if let Err(fault) = decoded_request(spec) {
        let request = spec["request"].as_str().unwrap_or_default();
        causes.push(Cause::invalid("spec.request", quoted(request), fault));
    }
    let mut seen: Vec<&str> = Vec::new();
    let usages = meta::strings(&spec["usages"]);
    if usages.is_empty() {
        causes.push(Cause::required("spec.usages", ""));
    }
    for (i, usage) in usages.into_iter().enumerate() {
        let field = format!("spec.usages[{i}]");
        if !USAGES.contains(&usage) {
            causes.push(Cause::not_supported(field.clone(), &quoted(usage), USAGES));
        }
        if seen.contains(&usage) {
            let text = format!("Duplicate value: {}", quoted(usage));
            causes.push(Cause::new("FieldValueDuplicate", field, text));
        }
        seen.push(usage);
    }
    check_signer(spec["signerName"].as_str().unwrap_or_default(), causes);
    if let Some(seconds) = spec["expirationSeconds"].as_i64().filter(|seconds| *seconds < 600) {
        let text = "may not specify a duration less than 600 seconds (10 minutes)";
        causes.push(Cause::invalid("spec.expirationSeconds", seconds, text));
    }
}

/// `ValidateSignerName` of pkg/apis/core/validation/names.go.
fn check_signer(signer: &str, causes: &mut Vec<Cause>) {
    const FIELD: &str = "spec.signerName";
    let invalid = |value: &str, text: &str| Cause::invalid(FIELD, quoted(value), text);
    let (domain, path) = match signer.split('/').collect::<Vec<_>>()[..] {
        [""] => return causes.push(Cause::required(FIELD, "")),
        ["kubernetes.io", "legacy-unknown"] => {
            return causes.push(invalid(signer, "the legacy signerName is not allowed via this API version"));
        }
        [domain, path] => (domain, path),
        _ => {
            let text = "must be a fully qualified domain and path of the form 'example.com/signer-name'";
            return causes.push(invalid(signer, text));
        }
    };
    // The first label that is wrong tells what is wrong with the others.
    let labels = |part: &str, rule: NameRule| -> Vec<Cause> {
        let wrong = part.split('.').map(|label| (label, rule.check(label))).find(|(_, f)| !f.is_empty());
        let (label, faults) = wrong.unwrap_or_default();
        let faults = faults.iter().map(|fault| format!("validating label {}: {fault}", quoted(label)));
        faults.map(|text| invalid(part, &text)).collect()
    };
    if domain.len() > 253 {
        let text = "Too long: may not be more than 253 bytes";
        causes.push(Cause::new("FieldValueTooLong", FIELD, text.to_owned()));
    }
    causes.extend(labels(domain, NameRule::Label));
    if !domain.contains('.') {
        causes.push(invalid(domain, "should be a domain with at least two segments separated by dots"));
    }
    causes.extend(labels(path, NameRule::Subdomain));
    if signer.len() > 571 {
        let text = "Too long: may not be more than 571 bytes";
        causes.push(Cause::new("FieldValueTooLong", FIELD, text.to_owned()));
    }
}

/// Why a certificate cannot be stored (`validateCertificate` of pkg/apis/certificates/validation).
fn certificate_fault(certificate: &str) -> Option<String> {
    if certificate.is_empty() {
        return None;
    }
    let pem = BASE64.decode(certificate).unwrap_or_default();
    let blocks = pem::blocks(&pem);
    let fault = |block: &pem::Block<'_>| match block {
        block if block.kind != "CERTIFICATE" => {
            Some(format!("only CERTIFICATE PEM blocks are allowed, found {}", quoted(block.kind)))
        }
        block if block.has_headers => Some("no PEM block headers are permitted".to_owned()),
        block => (!der::is_signed(&block.bytes)).then(|| "x509: malformed certificate".to_owned()),
    };
    match blocks.is_empty() {
        true => Some("must contain at least one CERTIFICATE PEM block".to_owned()),
        false => blocks.iter().find_map(fault),
    }
}

/// The subset of PEM that the checks need: `Decode` of Go's encoding/pem, so that a signer finds the same blocks.
mod pem {
    use base64::Engine as _;
    use base64::alphabet::STANDARD;
    use base64::engine::{GeneralPurpose, GeneralPurposeConfig};

    /// Go's decoder ignores the unused bits of the last character.
    const BASE64: GeneralPurpose =
        GeneralPurpose::new(&STANDARD, GeneralPurposeConfig::new().with_decode_allow_trailing_bits(true));

    /// A block and its content.
    pub(super) struct Block<'a> {
        pub(super) kind: &'a str,
        pub(super) has_headers: bool,
        pub(super) bytes: Vec<u8>,
    }

    /// The well-formed blocks.
    pub(super) fn blocks(text: &[u8]) -> Vec<Block<'_>> {
        let text = std::str::from_utf8(text).unwrap_or_default();
        // A block begins its line.
        let starts = text.match_indices("-----BEGIN ").filter(|(at, _)| {
            text.get(..*at).is_none_or(|before| before.is_empty() || before.ends_with('\n'))
        });
        starts.filter_map(|(at, start)| block(text.get(at + start.len()..)?)).collect()
    }

    /// Reads what is behind `-----BEGIN `.
    fn block(text: &str) -> Option<Block<'_>> {
        let (first, mut rest) = text.split_once('\n')?;
        let kind = first.trim_end_matches(SPACE).strip_suffix("-----")?;
        let mut has_headers = false;
        // Headers precede the content.
        while let Some((_, after)) = rest.split_once('\n').filter(|(line, _)| line.contains(':')) {
            (has_headers, rest) = (true, after);
        }
        let at_once = rest.strip_prefix("-----END ").filter(|_| !has_headers).map(|end| ("", end));
        let (body, end) = at_once.or_else(|| rest.split_once("\n-----END "))?;
        let after = end.strip_prefix(kind)?.strip_prefix("-----")?;
        if !after.split('\n').next()?.trim_end_matches(SPACE).is_empty() {
            return None;
        }
        let body: String = body.split(SPACE).collect();
        Some(Block { kind, has_headers, bytes: BASE64.decode(body).ok()? })
    }

    const SPACE: [char; 4] = [' ', '\t', '\r', '\n'];
}

fn check_conditions(request: &Value, causes: &mut Vec<Cause>) {
    let mut seen: Vec<&str> = Vec::new();
    for (i, condition) in conditions(request).iter().enumerate() {
        let field = |name: &str| format!("status.conditions[{i}].{name}");
        let text = |key: &str| condition[key].as_str().unwrap_or_default();
        let (kind, status) = (text("type"), text("status"));
        let supported: &[&str] = match kind {
            "Approved" | "Denied" | "Failed" => &["True"],
            _ => &["False", "True", "Unknown"],
        };
        if kind.is_empty() {
            causes.push(Cause::required(field("type"), ""));
        }
        if status.is_empty() {
            causes.push(Cause::required(field("status"), ""));
        } else if !supported.contains(&status) {
            causes.push(Cause::not_supported(field("status"), &quoted(status), supported));
        }
        let other = DECISIONS.iter().find(|other| DECISIONS.contains(&kind) && **other != kind);
        if other.is_some_and(|other| seen.contains(other)) {
            let text = "Approved and Denied conditions are mutually exclusive";
            causes.push(Cause::invalid("status.conditions", quoted(kind), text));
        }
        if seen.contains(&kind) {
            let text = format!("Duplicate value: {}", quoted(kind));
            causes.push(Cause::new("FieldValueDuplicate", field("type"), text));
        }
        seen.push(kind);
    }
}

/// Returns the state as `kubectl get` shows it, such as `Approved,Issued`.
pub(crate) fn state(request: &Value) -> Value {
    let has = |kind: &str| of_type(request, kind).next().is_some();
    let issued = request["status"]["certificate"].as_str().is_some_and(|text| !text.is_empty());
    let decision = match (has("Denied"), has("Approved")) {
        (true, _) => "Denied",
        (_, true) => "Approved",
        _ => "Pending",
    };
    let failed = if has("Failed") { ",Failed" } else { "" };
    let issued = if issued { ",Issued" } else { "" };
    json!(format!("{decision}{failed}{issued}"))
}
