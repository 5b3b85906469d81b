//! `#[webhook(...)]` and `#[webhook_configuration(...)]`

mod check;
#[cfg(test)]
mod tests;

use proc_macro2::Span;

use super::EntryValue;
use crate::diag::{Code, Diagnostic, Diagnostics};
use crate::grammar::{Entry, Json, Parsed, Spanned, Value};

/// The values of one `#[webhook(...)]`.
#[derive(Clone, Debug)]
#[allow(missing_docs, reason = "the names are those of the keys")]
pub struct WebhookAttrs {
    /// The attribute.
    pub span: Span,
    pub mutating: bool,
    pub failure_policy: Spanned<String>,
    pub match_policy: Option<Spanned<String>>,
    pub side_effects: Option<Spanned<String>>,
    pub timeout_seconds: Option<Spanned<i64>>,
    pub groups: Vec<Spanned<String>>,
    pub resources: Vec<Spanned<String>>,
    pub verbs: Vec<Spanned<String>>,
    pub versions: Vec<Spanned<String>>,
    pub name: Spanned<String>,
    pub service_name: Option<Spanned<String>>,
    pub service_namespace: Option<Spanned<String>>,
    pub service_port: Option<Spanned<i64>>,
    pub path: Option<Spanned<String>>,
    pub url: Option<Spanned<String>>,
    pub webhook_versions: Vec<Spanned<String>>,
    pub admission_review_versions: Vec<Spanned<String>>,
    pub reinvocation_policy: Option<Spanned<String>>,
    /// An object to merge over the webhook.
    pub patch: Option<Spanned<Json>>,
}

impl WebhookAttrs {
    /// Takes the values out of one attribute and checks them; `None` after a diagnostic about an error too
    /// severe to continue.
    pub fn from_parsed(parsed: &Parsed, diagnostics: &mut Diagnostics) -> Option<Self> {
        let span = parsed.span?;
        // The invalid entry has been reported. Its absence is not another error.
        if parsed.entries.iter().any(|entry| entry.given().is_none()) {
            return None;
        }
        let get = |name: &str| parsed.get(name);
        let string = |name: &str| get(name).and_then(EntryValue::string);
        let strings = |name: &str| get(name).map(EntryValue::strings).unwrap_or_default();
        let patch = match get("patch") {
            Some(entry) => Some(super::object(entry, diagnostics)?),
            None => None,
        };
        let out = Self {
            span,
            mutating: mutating(parsed)?,
            failure_policy: string("failure_policy")?,
            match_policy: string("match_policy"),
            side_effects: string("side_effects").map(|class| class.map(side_effects)),
            timeout_seconds: get("timeout_seconds").and_then(integer),
            groups: strings("groups"),
            resources: strings("resources"),
            verbs: strings("verbs"),
            versions: strings("versions"),
            name: string("name")?,
            service_name: string("service_name"),
            service_namespace: string("service_namespace"),
            service_port: get("service_port").and_then(integer),
            path: string("path"),
            url: string("url"),
            webhook_versions: strings("webhook_versions"),
            admission_review_versions: strings("admission_review_versions"),
            reinvocation_policy: string("reinvocation_policy"),
            patch,
        };
        // The value of a misspelt key is unknown.
        if parsed.meant.is_empty() {
            out.check(diagnostics);
        }
        Some(out)
    }
}

/// The class in the API's spelling.
fn side_effects(text: String) -> String {
    let mut known = ["None", "NoneOnDryRun", "Some", "Unknown"].into_iter();
    known.find(|class| class.eq_ignore_ascii_case(&text)).map_or(text, str::to_owned)
}

fn mutating(parsed: &Parsed) -> Option<bool> {
    match &parsed.get("mutating")?.value {
        Value::Bool(mutating) => Some(mutating.value),
        _ => None,
    }
}

fn integer(entry: &Entry) -> Option<Spanned<i64>> {
    match &entry.value {
        Value::Integer(number) => Some(number.clone()),
        _ => None,
    }
}

/// The values of one `#[webhook_configuration(...)]`.
#[derive(Clone, Debug)]
pub struct WebhookConfigurationAttrs {
    /// The attribute.
    pub span: Span,
    /// Whether it is for the mutating webhooks.
    pub mutating: bool,
    /// Its name; `None`: the default.
    pub name: Option<Spanned<String>>,
}

impl WebhookConfigurationAttrs {
    /// Takes the values out of one attribute and checks them; `None` after a diagnostic about an error too
    /// severe to continue.
    pub fn from_parsed(parsed: &Parsed, diagnostics: &mut Diagnostics) -> Option<Self> {
        let name = parsed.get("name").and_then(EntryValue::string);
        let out = Self { span: parsed.span?, mutating: mutating(parsed)?, name };
        if let Some(name) = &out.name
            && let Err(error) = crate::names::dns_subdomain(&name.value)
        {
            let message = format!("invalid name of a webhook configuration {:?}: {error}", name.value);
            let diagnostic = Diagnostic::error(Code::WEBHOOK, name.span, message);
            diagnostics.push(diagnostic.help("names look like this: \"fleet-validators\""));
        }
        Some(out)
    }
}
