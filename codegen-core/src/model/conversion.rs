//! Reads `conversion(...)` of `#[resource]`: the conversion of objects between the versions of a kind.

use proc_macro2::Span;

use super::EntryValue;
use super::schema::is_absolute_url;
use crate::diag::{Code, Diagnostic, Diagnostics};
use crate::grammar::{Entry, Spanned, Value};
use crate::names::{dns_label, dns_subdomain};

/// Versions of ConversionReview that API servers send.
const REVIEW_VERSIONS: [&str; 2] = ["v1", "v1beta1"];

/// The values of `conversion(...)`.
#[derive(Clone, Debug, Default, PartialEq)]
#[allow(missing_docs, reason = "the names are the keys, which the table describes")]
pub struct Conversion {
    /// Whether a webhook converts objects; otherwise only `apiVersion` changes.
    pub webhook: bool,
    pub service_namespace: Option<Spanned<String>>,
    pub service_name: Option<Spanned<String>>,
    pub path: Option<Spanned<String>>,
    pub port: Option<Spanned<u16>>,
    pub url: Option<Spanned<String>>,
    pub ca_bundle: Option<Spanned<String>>,
    /// Empty: v1.
    pub review_versions: Vec<Spanned<String>>,
}

impl Conversion {
    /// Reads and checks the key.
    pub(super) fn read(entry: &Entry, out: &mut Diagnostics) -> Self {
        let find = |key: &str| entry.nested().iter().find(|entry| entry.key.name == key);
        let string = |key: &str| find(key).and_then(EntryValue::string);
        let strategy = string("strategy");
        let conversion = Self {
            webhook: strategy.as_ref().is_some_and(|strategy| strategy.value == "Webhook"),
            service_namespace: string("service_namespace"),
            service_name: string("service_name"),
            path: string("path"),
            port: find("port").and_then(|entry| port(entry, out)),
            url: string("url"),
            ca_bundle: string("ca_bundle"),
            review_versions: find("review_versions").map(EntryValue::strings).unwrap_or_default(),
        };
        match strategy {
            Some(_) if conversion.webhook => conversion.check(entry, out),
            Some(strategy) => needs_no_keys(entry, strategy.span, out),
            // Its absence has been reported.
            None => {}
        }
        conversion
    }

    fn check(&self, entry: &Entry, out: &mut Diagnostics) {
        match &self.url {
            Some(url) => self.check_url(entry, url, out),
            None => self.check_service(entry, out),
        }
        if let Some(bundle) = self.ca_bundle.as_ref().filter(|bundle| !is_certificates(&bundle.value)) {
            let help = "API servers take base64 of PEM, `base64 -w0 ca.crt`; leave it out if something else fills it in";
            invalid(bundle.span, "`ca_bundle` is not base64 of PEM certificates", help, out);
        }
        self.check_review_versions(entry, out);
    }

    fn check_url(&self, entry: &Entry, url: &Spanned<String>, out: &mut Diagnostics) {
        let of_service =
            |other: &&Entry| ["service_namespace", "service_name", "path", "port"].contains(&other.key.name);
        for other in entry.nested().iter().filter(of_service) {
            let message = format!("`{}` describes a service, but there is a `url` already", other.key.name);
            out.push(
                Diagnostic::error(Code::CONTRADICTION, other.span, message)
                    .secondary(url.span, "the URL")
                    .help("keep the URL or the service; a URL holds path and port itself"),
            );
        }
        if let Err(reason) = check_url(&url.value) {
            let message = format!("invalid URL of a webhook, {:?}: {reason}", url.value);
            invalid(url.span, &message, "write it like \"https://example.com:9443/convert\"", out);
        }
    }

    fn check_service(&self, entry: &Entry, out: &mut Diagnostics) {
        let missing = match (&self.service_namespace, &self.service_name) {
            (None, None) => Some("the webhook has neither a service nor a URL"),
            (None, _) => Some("the service of the webhook has no namespace"),
            (_, None) => Some("the service of the webhook has no name"),
            _ => None,
        };
        if let Some(message) = missing {
            let help = "add service_namespace = \"system\" and service_name = \"webhook-service\", or url = \"https://...\"";
            invalid(entry.span, message, help, out);
        }
        for (what, name) in [("namespace", &self.service_namespace), ("name", &self.service_name)] {
            if let Some((name, Err(error))) = name.as_ref().map(|name| (name, dns_label(&name.value))) {
                let message = format!("invalid {what} of a service, {:?}: {}", name.value, error.reason);
                invalid(name.span, &message, "it is a DNS label: \"webhook-service\"", out);
            }
        }
        if let Some(path) = self.path.as_ref().filter(|path| !is_service_path(&path.value)) {
            let message = format!("invalid path {:?}", path.value);
            let help = "it starts with a slash, and its parts are DNS subdomains: \"/convert\"";
            invalid(path.span, &message, help, out);
        }
    }

    fn check_review_versions(&self, entry: &Entry, out: &mut Diagnostics) {
        let versions = &self.review_versions;
        for (at, version) in versions.iter().enumerate() {
            if let Some(first) = versions[..at].iter().find(|other| *other == version) {
                let message = format!("the version {:?} is given twice", version.value);
                out.push(
                    Diagnostic::error(Code::DUPLICATE_KEY, version.span, message)
                        .secondary(first.span, "first given here")
                        .help("keep one of them"),
                );
            }
            if dns_label(&version.value).is_err() {
                let message = format!("{:?} is not a version of ConversionReview", version.value);
                invalid(version.span, &message, "versions are \"v1\" and \"v1beta1\"", out);
            }
        }
        let known = |version: &Spanned<String>| REVIEW_VERSIONS.contains(&version.value.as_str());
        if !versions.is_empty() && !versions.iter().any(known) {
            let message = "API servers speak none of these versions of ConversionReview";
            invalid(versions.first().map_or(entry.span, |first| first.span), message, "add \"v1\"", out);
        }
    }
}

/// Refuses keys about a webhook if there is none.
fn needs_no_keys(entry: &Entry, strategy: Span, out: &mut Diagnostics) {
    for other in entry.nested().iter().filter(|other| other.key.name != "strategy") {
        let message = format!("`{}` is for the strategy Webhook", other.key.name);
        out.push(
            Diagnostic::error(Code::CONTRADICTION, other.span, message)
                .secondary(strategy, "no webhook is called")
                .help("remove the key, or write strategy = \"Webhook\""),
        );
    }
}

fn port(entry: &Entry, out: &mut Diagnostics) -> Option<Spanned<u16>> {
    let Value::Unsigned(port) = &entry.value else { return None };
    match u16::try_from(port.value) {
        Ok(number) if number > 0 => Some(Spanned::new(number, port.span)),
        _ => {
            let message = format!("the port {} is out of range", port.value);
            let diagnostic = Diagnostic::error(Code::NUMBER_RANGE, port.span, message);
            out.push(diagnostic.help("ports go from 1 to 65535"));
            None
        }
    }
}

fn invalid(span: Span, message: &str, help: &str, out: &mut Diagnostics) {
    out.push(Diagnostic::error(Code::INVALID_CONVERSION, span, message).help(help));
}

/// Checks the URL of a webhook as API servers do (`ValidateWebhookURL` in
/// `k8s.io/apiserver/pkg/util/webhook`).
fn check_url(url: &str) -> Result<(), &'static str> {
    let Some(rest) = url.strip_prefix("https://") else { return Err("it does not start with https://") };
    if !is_absolute_url(url) {
        return Err("it has no host");
    }
    match rest {
        rest if rest.contains('@') => Err("it holds a user"),
        rest if rest.contains('#') => Err("it has a fragment"),
        rest if rest.contains('?') => Err("it has a query"),
        _ => Ok(()),
    }
}

/// Checks the path of a webhook's service as API servers do (`ValidateWebhookService` in the same package).
fn is_service_path(path: &str) -> bool {
    match path.strip_prefix('/') {
        None => false,
        Some("") => true,
        Some(rest) => {
            rest.strip_suffix('/').unwrap_or(rest).split('/').all(|part| dns_subdomain(part).is_ok())
        }
    }
}

/// Whether a text is base64 that begins like PEM certificates.
fn is_certificates(text: &str) -> bool {
    // Base64 of "-----BEGIN CERTIFICATE", without the last character, which depends on the next byte.
    const BEGIN: &str = "LS0tLS1CRUdJTiBDRVJUSUZJQ0FUR";
    text.starts_with(BEGIN)
        && text.len().is_multiple_of(4)
        && text.trim_end_matches('=').chars().all(|c| c.is_ascii_alphanumeric() || c == '+' || c == '/')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_are_https_and_plain() {
        for good in ["https://example.com", "https://example.com:9443/convert", "https://[::1]:443/x"] {
            assert_eq!(check_url(good), Ok(()), "{good}");
        }
        for bad in ["http://example.com", "https://", "https://u@host/", "https://host/?q", "https://host/#f"]
        {
            assert!(check_url(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn service_paths_and_ca_bundles_are_accepted_as_by_the_server() {
        for good in ["/", "/convert", "/a/b.c/"] {
            assert!(is_service_path(good), "{good}");
        }
        for bad in ["", "convert", "//", "/a//b", "/A"] {
            assert!(!is_service_path(bad), "{bad}");
        }
        assert!(is_certificates("LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0t"));
        for bad in ["Cg==", "-----BEGIN CERTIFICATE-----", "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0"] {
            assert!(!is_certificates(bad), "{bad}");
        }
    }
}
