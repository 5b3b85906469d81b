//! The failures of calls, in Go's words.

use std::error::Error;
use std::io;

use http::header::CONTENT_TYPE;
use http::response::Parts;
use kubesmith_apimachinery::golang;
use serde_json::{Map, Value};

use crate::http::decode;

/// The text of the decoder of client bodies before an error of YAML.
const YAML_PREFIX: &str = "error converting YAML to JSON: ";

/// The content type of an answer that states none.
const JSON: &str = "application/json";

/// The prefix of the error for a response that is no JSON object.
const UNREADABLE: &str = "couldn't get version/kind; json parse error: ";

/// Returns the cause of a call without a response from `address`.
pub(super) fn of_call(error: &(dyn Error + 'static), address: &str) -> String {
    let mut at = Some(error);
    let mut last = error.to_string();
    while let Some(error) = at {
        if let Some(text) = error.downcast_ref::<io::Error>().and_then(|e| of_socket(e, address)) {
            return text;
        }
        if let Some(error) = error.downcast_ref::<rustls::Error>() {
            return of_tls(error);
        }
        if error.downcast_ref::<hyper::Error>().is_some_and(hyper::Error::is_incomplete_message) {
            return "EOF".to_owned();
        }
        last = error.to_string();
        at = error.source();
    }
    last
}

fn of_socket(error: &io::Error, address: &str) -> Option<String> {
    if error.kind() == io::ErrorKind::UnexpectedEof {
        return Some("EOF".to_owned());
    }
    if let Some(inner) = error.get_ref() {
        // An error's source skips the errors that it wraps itself.
        let socket = inner.downcast_ref::<io::Error>().and_then(|inner| of_socket(inner, address));
        return socket.or_else(|| inner.downcast_ref::<rustls::Error>().map(of_tls));
    }
    let peer: Option<http::Uri> = address.parse().ok();
    let peer = peer.as_ref().and_then(http::Uri::authority)?;
    let peer = format!("{}:{}", peer.host(), peer.port_u16().unwrap_or(443));
    match error.kind() {
        io::ErrorKind::ConnectionRefused => Some(format!("dial tcp {peer}: connect: connection refused")),
        io::ErrorKind::ConnectionReset => Some(format!("read tcp {peer}: read: connection reset by peer")),
        _ => None,
    }
}

/// Returns the text of a failed handshake.
pub(super) fn of_tls(error: &rustls::Error) -> String {
    use rustls::CertificateError as Fault;
    let fault = match error {
        rustls::Error::InvalidCertificate(fault) => fault,
        other => return format!("tls: {other}"),
    };
    let text = match fault {
        Fault::UnknownIssuer | Fault::BadSignature => "certificate signed by unknown authority".to_owned(),
        Fault::Expired
        | Fault::ExpiredContext { .. }
        | Fault::NotValidYet
        | Fault::NotValidYetContext { .. } => {
            format!("certificate has expired or is not yet valid: {fault}")
        }
        Fault::Other(refusal) => refusal.0.to_string(),
        other => other.to_string(),
    };
    format!("tls: failed to verify certificate: x509: {text}")
}

/// Decodes the response, or describes it as an error.
pub(super) fn answer(head: &Parts, body: &[u8]) -> Result<Value, String> {
    let code = head.status.as_u16();
    let decoded = decoded(body);
    if !(200..=206).contains(&code) {
        // `Error` of client-go's rest/request.go prefers a status in the body.
        let status = decoded.ok().filter(|status| status["status"] == "Failure");
        let message = status.as_ref().and_then(|status| status["message"].as_str());
        return Err(message.map_or_else(|| of_code(code, &text_of(head, body)), str::to_owned));
    }
    if body.is_empty() {
        let kind = head.headers.get(CONTENT_TYPE).and_then(|v| v.to_str().ok()).unwrap_or(JSON);
        return Err(format!("0-length response with status code: {code} and content type: {kind}"));
    }
    match decoded {
        Ok(Value::Object(map)) => Ok(Value::Object(map)),
        Ok(Value::Null) => Ok(Value::Object(Map::new())),
        Ok(other) => Err(format!("{UNREADABLE}{}", golang::cannot_unmarshal(&other, golang::TYPE_META))),
        Err(fault) => Err(fault),
    }
}

/// Decodes a body as JSON if it looks like it, or else as YAML (`Decode` of apimachinery's
/// pkg/runtime/serializer/recognizer).
fn decoded(body: &[u8]) -> Result<Value, String> {
    let decoded = if body.trim_ascii_start().starts_with(b"{") {
        decode::json(body).map_err(|fault| format!("{UNREADABLE}{fault}"))
    } else {
        decode::yaml(body).map_err(|fault| fault.trim_start_matches(YAML_PREFIX).to_owned())
    };
    decoded.map(|decoded| decoded.value)
}

/// Returns the body of a response that is text.
fn text_of(head: &Parts, body: &[u8]) -> String {
    let kind = head.headers.get(CONTENT_TYPE).and_then(|v| v.to_str().ok()).unwrap_or_default();
    if kind.is_empty() || kind.starts_with("text/") {
        String::from_utf8_lossy(body).trim().to_owned()
    } else {
        "unknown".to_owned()
    }
}

fn of_code(code: u16, text: &str) -> String {
    match code {
        400 => "the server rejected our request for an unknown reason".to_owned(),
        401 => "the server has asked for the client to provide credentials".to_owned(),
        403 | 406 | 415 => text.to_owned(),
        404 => "the server could not find the requested resource".to_owned(),
        405 => "the server does not allow this method on the requested resource".to_owned(),
        409 => "the server reported a conflict".to_owned(),
        422 => "the server rejected our request due to an error in our request".to_owned(),
        429 => "the server has received too many requests and has asked us to try again later".to_owned(),
        503 => "the server is currently unable to handle the request".to_owned(),
        504 => "the server was unable to return a response in the time allotted, but may still be processing the \
                request"
            .to_owned(),
        500.. => format!("an error on the server ({}) has prevented the request from succeeding", golang::quote(text)),
        _ => format!("the server responded with the status code {code} but did not return more information"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn head(code: u16, kind: &str) -> Parts {
        http::Response::builder().status(code).header("content-type", kind).body(()).unwrap().into_parts().0
    }

    #[test]
    fn invalid_response_is_reported_with_client_gos_message() {
        for (code, kind, body, expected) in [
            (
                500,
                "text/plain",
                "boom\n",
                "an error on the server (\"boom\") has prevented the request from succeeding",
            ),
            (
                500,
                "application/json",
                "{}",
                "an error on the server (\"unknown\") has prevented the request from succeeding",
            ),
            (404, "text/plain", "404", "the server could not find the requested resource"),
            (
                418,
                "text/plain",
                "",
                "the server responded with the status code 418 but did not return more information",
            ),
            (409, "application/json", r#"{"kind": "Status", "status": "Failure", "message": "own"}"#, "own"),
            (
                200,
                "text/plain",
                "gar",
                "couldn't get version/kind; json parse error: json: cannot unmarshal string into Go value of type \
                 struct { APIVersion string \"json:\\\"apiVersion,omitempty\\\"\"; Kind string \
                 \"json:\\\"kind,omitempty\\\"\" }",
            ),
            (200, "text/plain", "", "0-length response with status code: 200 and content type: text/plain"),
        ] {
            assert_eq!(answer(&head(code, kind), body.as_bytes()).unwrap_err(), expected, "{body}");
        }
    }
}
