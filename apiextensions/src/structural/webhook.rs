//! The addresses of webhooks: the checks of a `clientConfig`, in a CRD and in a webhook configuration.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde_json::Value;

use super::{Cause, Path, names};

const FORM: &str = "; desired format: https://host[/path]";

/// Checks the address of a `clientConfig`: exactly one of `url` and `service`.
#[must_use]
pub fn validate_client_config(config: &Value, path: &Path) -> Vec<Cause> {
    let url = config.get("url").and_then(Value::as_str);
    let service = config.get("service").filter(|service| !service.is_null());
    match (url, service) {
        (Some(url), None) => validate_url(url, &path.child("url")),
        (None, Some(service)) => validate_service(service, &path.child("service")),
        _ => vec![Cause::required(path, "exactly one of url or service is required")],
    }
}

/// Checks a bundle of certificates, which is PEM in base64.
#[must_use]
pub fn validate_ca_bundle(bundle: &str, path: &Path) -> Vec<Cause> {
    let decoded = BASE64.decode(bundle).unwrap_or_default();
    let text = String::from_utf8_lossy(&decoded);
    if bundle.is_empty() || text.contains("-----BEGIN CERTIFICATE-----") {
        return Vec::new();
    }
    let detail = "unable to load root certificates: unable to parse bytes as PEM block";
    vec![Cause::invalid(path, bundle, detail)]
}

fn validate_url(url: &str, path: &Path) -> Vec<Cause> {
    let (rest, fragment) = url.split_once('#').unwrap_or((url, ""));
    let (rest, query) = rest.split_once('?').unwrap_or((rest, ""));
    let (scheme, rest) = rest.split_once("://").unwrap_or(("", rest));
    let authority = if scheme.is_empty() { "" } else { rest.split('/').next().unwrap_or_default() };
    let (user, host) = authority.rsplit_once('@').unwrap_or(("", authority));
    let mut causes = Vec::new();
    let mut refuse = |fails: bool, value: &str, detail: String| {
        if fails {
            causes.push(Cause::invalid(path, value, detail));
        }
    };
    refuse(scheme != "https", scheme, format!("'https' is the only allowed URL scheme{FORM}"));
    refuse(host.is_empty(), host, format!("host must be specified{FORM}"));
    refuse(!user.is_empty(), user, "user information is not permitted in the URL".to_owned());
    refuse(!fragment.is_empty(), fragment, "fragments are not permitted in the URL".to_owned());
    refuse(!query.is_empty(), query, "query parameters are not permitted in the URL".to_owned());
    causes
}

fn validate_service(service: &Value, path: &Path) -> Vec<Cause> {
    let mut causes = Vec::new();
    // kube-apiserver swaps the two (the arguments of `ValidateWebhookService`).
    for (field, named) in [("namespace", "name"), ("name", "namespace")] {
        if service[field].as_str().unwrap_or_default().is_empty() {
            causes.push(Cause::required(path.child(named), ""));
        }
    }
    let port = service["port"].as_i64().unwrap_or(443);
    if !(1..=65535).contains(&port) {
        let detail = "port is not valid: must be between 1 and 65535, inclusive";
        causes.push(Cause::invalid(path.child("port"), port, detail));
    }
    if let Some(url_path) = service["path"].as_str() {
        check_path(url_path, &path.child("path"), &mut causes);
    }
    causes
}

fn check_path(url_path: &str, path: &Path, causes: &mut Vec<Cause>) {
    if matches!(url_path, "" | "/") {
        return;
    }
    if url_path == "//" {
        causes.push(Cause::invalid(path, url_path, "segment[0] may not be empty"));
        return;
    }
    if !url_path.starts_with('/') {
        causes.push(Cause::invalid(path, url_path, "must start with a '/'"));
    }
    // As in the server, the first character counts as the slash even if it is none.
    let rest: String = url_path.chars().skip(1).collect();
    for (i, segment) in rest.strip_suffix('/').unwrap_or(&rest).split('/').enumerate() {
        if segment.is_empty() {
            causes.push(Cause::invalid(path, url_path, format!("segment[{i}] may not be empty")));
            continue;
        }
        for fault in names::dns1123_subdomain(segment) {
            causes.push(Cause::invalid(path, url_path, format!("segment[{i}]: {fault}")));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn faults(config: &Value) -> Vec<String> {
        validate_client_config(config, &Path::new("c")).iter().map(Cause::to_string).collect()
    }

    #[test]
    fn client_config_errors_have_the_text_of_kube_apiserver() {
        for (config, expected) in [
            (json!({}), "c: Required value: exactly one of url or service is required"),
            (
                json!({"url": "http://a"}),
                "c.url: Invalid value: \"http\": 'https' is the only allowed URL scheme; desired format: https://host[/path]",
            ),
            (
                json!({"url": "https:///p"}),
                "c.url: Invalid value: \"\": host must be specified; desired format: https://host[/path]",
            ),
            (
                json!({"url": "https://u:p@h/"}),
                "c.url: Invalid value: \"u:p\": user information is not permitted in the URL",
            ),
            (
                json!({"url": "https://h/?a=b"}),
                "c.url: Invalid value: \"a=b\": query parameters are not permitted in the URL",
            ),
            (
                json!({"url": "https://h/#f"}),
                "c.url: Invalid value: \"f\": fragments are not permitted in the URL",
            ),
            (json!({"service": {"name": "n"}}), "c.service.name: Required value"),
            (
                json!({"service": {"name": "n", "namespace": "s", "port": 0}}),
                "c.service.port: Invalid value: 0: port is not valid: must be between 1 and 65535, inclusive",
            ),
            (
                json!({"service": {"name": "n", "namespace": "s", "path": "/a//b"}}),
                "c.service.path: Invalid value: \"/a//b\": segment[1] may not be empty",
            ),
        ] {
            assert_eq!(faults(&config), [expected], "{config}");
        }
        assert!(faults(&json!({"url": "https://h:1/a/b"})).is_empty());
        assert!(faults(&json!({"service": {"name": "n", "namespace": "s", "path": "/a-b/c.d/"}})).is_empty());
    }

    #[test]
    fn ca_bundle_must_hold_pem_certificates() {
        let fault = &validate_ca_bundle("Cg==", &Path::new("b"))[0];
        assert!(fault.to_string().ends_with("unable to parse bytes as PEM block"), "{fault}");
        let pem = BASE64.encode("-----BEGIN CERTIFICATE-----\nAA==\n-----END CERTIFICATE-----\n");
        assert!(validate_ca_bundle(&pem, &Path::new("b")).is_empty());
    }
}
