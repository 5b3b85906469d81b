//! Checks a webhook as kube-apiserver does (`pkg/apis/admissionregistration/validation`).

use proc_macro2::Span;

use super::WebhookAttrs;
use crate::diag::{Code, Diagnostic, Diagnostics};
use crate::grammar::{Json, Spanned};
use crate::names::closest;
use crate::names::{NameError, dns_label, dns_subdomain, object};

/// Verbs of admission, in the attribute's lower case.
const VERBS: &[&str] = &["create", "update", "delete", "connect", "*"];

/// Versions of AdmissionReview that API servers support.
const REVIEW_VERSIONS: &[&str] = &["v1", "v1beta1"];

/// The longest timeout of a webhook in seconds.
const MAX_TIMEOUT: i64 = 30;

impl WebhookAttrs {
    pub(super) fn check(&self, diagnostics: &mut Diagnostics) {
        let lists = [
            ("resources", &self.resources),
            ("versions", &self.versions),
            ("admission_review_versions", &self.admission_review_versions),
        ];
        for (name, list) in lists {
            crate::model::not_empty(name, list, diagnostics);
        }
        let mut check = Check { diagnostics };
        if let Err(error) = object::webhook(&self.name.value) {
            check.name(
                "name of a webhook",
                &self.name,
                &error,
                "names look like this: \"vwidget.example.com\"",
            );
        }
        check.client(self);
        check.side_effects(self);
        check.numbers(self);
        check.verbs(&self.verbs);
        check.alone("groups", &self.groups);
        check.alone("versions", &self.versions);
        check.resources(&self.resources);
        check.review_versions(&self.admission_review_versions);
        for version in self.webhook_versions.iter().filter(|version| version.value != "v1") {
            let message = format!("webhook configurations of version {:?} cannot be written", version.value);
            check.error(
                version.span,
                message,
                "API servers serve \"v1\" alone; leave `webhook_versions` out",
            );
        }
        if let Some(policy) = self.reinvocation_policy.as_ref().filter(|_| !self.mutating) {
            let message = "a validating webhook is not called again";
            check.contradiction(
                policy.span,
                message,
                "leave `reinvocation_policy` out, or write mutating = true",
            );
        }
    }
}

struct Check<'a> {
    diagnostics: &'a mut Diagnostics,
}

impl Check<'_> {
    fn error(&mut self, span: Span, message: impl Into<String>, help: &str) {
        self.diagnostics.push(Diagnostic::error(Code::WEBHOOK, span, message).help(help));
    }

    fn contradiction(&mut self, span: Span, message: &str, help: &str) {
        self.diagnostics.push(Diagnostic::error(Code::CONTRADICTION, span, message).help(help));
    }

    fn name(&mut self, what: &str, name: &Spanned<String>, error: &NameError, help: &str) {
        self.error(name.span, format!("invalid {what} {:?}: {error}", name.value), help);
    }

    /// Checks the address of the webhook: a path of a service, or a URL.
    fn client(&mut self, attrs: &WebhookAttrs) {
        let service = [
            attrs.service_name.as_ref().map(|name| name.span),
            attrs.service_namespace.as_ref().map(|namespace| namespace.span),
            attrs.service_port.as_ref().map(|port| port.span),
        ];
        match (&attrs.path, &attrs.url) {
            (None, None) => {
                let message = "the webhook does not say where it is called";
                let help = "add path = \"/validate\" for a service, or `url`";
                self.diagnostics.push(Diagnostic::error(Code::MISSING_KEY, attrs.span, message).help(help));
            }
            (Some(path), Some(url)) => {
                let diagnostic = Diagnostic::error(
                    Code::CONTRADICTION,
                    url.span,
                    "a webhook is called at a path of a service or at a URL",
                );
                self.diagnostics.push(diagnostic.secondary(path.span, "the path").help("keep one of them"));
            }
            (Some(path), None) => self.path(path),
            (None, Some(url)) => {
                self.url(url);
                if let Some(span) = service.into_iter().flatten().next() {
                    self.contradiction(
                        span,
                        "a webhook with a URL has no service",
                        "leave it out, or write `path`",
                    );
                }
            }
        }
    }

    fn path(&mut self, path: &Spanned<String>) {
        let problem = match path.value.strip_prefix('/') {
            None => Some("it must begin with `/`".to_owned()),
            Some("") => None,
            // A trailing slash is allowed.
            Some(rest) => rest.strip_suffix('/').unwrap_or(rest).split('/').find_map(|segment| {
                dns_subdomain(segment).err().map(|error| format!("in the segment {segment:?}: {error}"))
            }),
        };
        if let Some(problem) = problem {
            let message = format!("invalid path {:?}: {problem}", path.value);
            self.error(path.span, message, "paths look like this: \"/validate-example-com-v1-widget\"");
        }
    }

    fn url(&mut self, url: &Spanned<String>) {
        let rest = url.value.strip_prefix("https://");
        let authority = rest.map(|rest| rest.split(['/', '?', '#']).next().unwrap_or_default());
        let problem = match authority {
            None => Some("it must begin with `https://`"),
            Some("") => Some("it has no host"),
            Some(authority) if authority.contains('@') => Some("user names are not allowed"),
            Some(_) if url.value.contains(['?', '#']) => Some("queries and fragments are not allowed"),
            Some(_) if !crate::model::schema::is_absolute_url(&url.value) => Some("it is not a URL"),
            Some(_) => None,
        };
        if let Some(problem) = problem {
            let message = format!("invalid URL of a webhook {:?}: {problem}", url.value);
            self.error(url.span, message, "URLs look like this: \"https://hooks.example.com:9443/check\"");
        }
    }

    fn side_effects(&mut self, attrs: &WebhookAttrs) {
        let patched = match &attrs.patch {
            Some(Spanned { value: Json::Object(members), .. }) => {
                members.iter().any(|(name, _)| name == "sideEffects")
            }
            _ => false,
        };
        match &attrs.side_effects {
            None if !patched => {
                let message = "the webhook does not say whether it has side effects";
                self.diagnostics.push(
                    Diagnostic::error(Code::MISSING_KEY, attrs.span, message)
                        .note("API servers call a webhook in dry runs only if it has no side effects there")
                        .help("add side_effects = \"None\", or \"NoneOnDryRun\""),
                );
            }
            Some(class) if !["None", "NoneOnDryRun", "Some", "Unknown"].contains(&class.value.as_str()) => {
                let message = format!("unknown value {:?} of `side_effects`", class.value);
                let diagnostic = Diagnostic::error(Code::UNKNOWN_VALUE, class.span, message);
                self.diagnostics.push(diagnostic.help("the values are \"None\" and \"NoneOnDryRun\""));
            }
            Some(class) if class.value == "Some" || class.value == "Unknown" => {
                let message =
                    format!("side effects of the class {:?} are refused by API servers", class.value);
                self.error(
                    class.span,
                    message,
                    "avoid them, at least in dry runs, and write \"None\" or \"NoneOnDryRun\"",
                );
            }
            _ => {}
        }
    }

    fn numbers(&mut self, attrs: &WebhookAttrs) {
        let ranges = [
            ("timeout_seconds", &attrs.timeout_seconds, MAX_TIMEOUT),
            ("service_port", &attrs.service_port, i64::from(u16::MAX)),
        ];
        for (name, number, max) in ranges {
            if let Some(number) = number.as_ref().filter(|number| !(1..=max).contains(&number.value)) {
                let message = format!("`{name}` is {}, not between 1 and {max}", number.value);
                let diagnostic = Diagnostic::error(Code::NUMBER_RANGE, number.span, message);
                self.diagnostics
                    .push(diagnostic.help(format!("write {name} = {}", number.value.clamp(1, max))));
            }
        }
    }

    fn verbs(&mut self, verbs: &[Spanned<String>]) {
        for verb in verbs {
            let lower = verb.value.to_lowercase();
            if VERBS.contains(&lower.as_str()) {
                continue;
            }
            let help = match closest(&lower, VERBS.iter().copied()) {
                Some(near) => format!("did you mean {near:?}?"),
                None => format!("the values are {}", VERBS.join(", ")),
            };
            let message = format!("unknown value {:?} of `verbs`", verb.value);
            self.diagnostics.push(Diagnostic::error(Code::UNKNOWN_VALUE, verb.span, message).help(help));
        }
        self.alone("verbs", verbs);
    }

    /// Checks that `*` is the only item.
    fn alone(&mut self, name: &str, list: &[Spanned<String>]) {
        if let Some(star) = list.iter().find(|item| item.value == "*" && list.len() > 1) {
            let message = format!("`*` in `{name}` makes the other values meaningless");
            self.error(star.span, message, "write \"*\" alone, or leave it out");
        }
    }

    /// Refuses resources after one that covers them; as on servers, earlier ones are allowed.
    fn resources(&mut self, resources: &[Spanned<String>]) {
        let values: Vec<&str> = resources.iter().map(|resource| resource.value.as_str()).collect();
        for (at, resource) in resources.iter().enumerate() {
            let before = |wider: &String| values[..at].contains(&wider.as_str());
            let covering = match resource.value.split_once('/') {
                None => Some("*".to_owned()).filter(before),
                Some((name, sub)) => [format!("{name}/*"), format!("*/{sub}")].into_iter().find(before),
            };
            let everything = values.contains(&"*/*") && resource.value != "*/*";
            if let Some(wider) = everything.then(|| "*/*".to_owned()).or(covering) {
                let message = format!("the resource {:?} is covered by {wider:?}", resource.value);
                self.error(resource.span, message, "leave it out: API servers refuse it");
            }
        }
    }

    fn review_versions(&mut self, versions: &[Spanned<String>]) {
        for (at, version) in versions.iter().enumerate().filter(|(_, version)| !version.value.is_empty()) {
            if let Err(error) = dns_label(&version.value) {
                self.name("version of AdmissionReview", version, &error, "write \"v1\"");
            } else if versions[..at].iter().any(|other| other.value == version.value) {
                self.error(
                    version.span,
                    format!("the version {:?} is given twice", version.value),
                    "keep one of them",
                );
            }
        }
        let known = versions.iter().any(|version| REVIEW_VERSIONS.contains(&version.value.as_str()));
        if let Some(first) = versions.first().filter(|first| !known && !first.value.is_empty()) {
            self.error(first.span, "no API server speaks these versions of AdmissionReview", "add \"v1\"");
        }
    }
}
