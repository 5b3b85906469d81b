//! Finds the attributes and markers for roles and webhook configurations: on any item of a file, and markers
//! in plain comments between items.

mod comments;
mod outline;

pub(super) use comments::counts;

use kubesmith_core::diag::Diagnostics;
use kubesmith_core::grammar::{FAMILIES, Family, ItemAttributes, Parsed, Place, Spanned, parse_each};
use kubesmith_core::model::{RbacAttrs, WebhookAttrs, WebhookConfigurationAttrs};
use serde_json::{Value, json};
use syn::{Attribute, File, Ident, Meta};

use super::Parser;
use crate::ir::{PolicyRule, Span, WEBHOOK_SERVICE, Webhook, WebhookConfiguration, api_group};
use crate::syntax::facts::{ManifestFacts, WebhookFacts};
use outline::Outline;

/// The crates with these attributes.
const CRATES: &[&str] = &["kubesmith_runtime", "kubesmith_macros"];

/// The relevant attributes.
fn families() -> impl Iterator<Item = Family> {
    FAMILIES.iter().map(|family| family.family).filter(|family| family.stands_alone())
}

impl Parser<'_> {
    /// The facts of a file beside types.
    pub(super) fn manifests(&mut self, file: &File, text: &str) -> ManifestFacts {
        // Most files lack them, so that scanning function bodies would be wasted.
        if !families().any(|family| text.contains(family.name())) {
            return ManifestFacts::default();
        }
        let mut reader =
            Reader { parser: self, diagnostics: Diagnostics::new(), facts: ManifestFacts::default() };
        let mut outline = Outline::default();
        outline.file(file, self.cfg, &mut |attributes, place| reader.read(attributes, place));
        comments::read(text, &outline, &mut |attributes, place| reader.read(attributes, place));
        let Reader { diagnostics, facts, .. } = reader;
        self.report(diagnostics);
        facts
    }
}

struct Reader<'a> {
    parser: &'a Parser<'a>,
    diagnostics: Diagnostics,
    facts: ManifestFacts,
}

impl Reader<'_> {
    /// Reads the attributes of an item.
    fn read(&mut self, attributes: &[Attribute], place: Place) {
        let attributes: Vec<Attribute> = self.parser.cfg.expanded(attributes).into_iter().map(bare).collect();
        let item = ItemAttributes::new(&attributes);
        for family in families() {
            for parsed in parse_each(family, &item, place, &mut self.diagnostics) {
                self.add(family, &parsed);
            }
        }
    }

    fn add(&mut self, family: Family, parsed: &Parsed) {
        match family {
            Family::Rbac => {
                let attrs = RbacAttrs::from_parsed(parsed, &mut self.diagnostics);
                self.facts.rules.extend(attrs.map(|attrs| (rule(&attrs), self.parser.loc(attrs.span))));
            }
            Family::Webhook => {
                let attrs = WebhookAttrs::from_parsed(parsed, &mut self.diagnostics);
                self.facts.webhooks.extend(attrs.map(|attrs| self.webhook(&attrs)));
            }
            _ => {
                let attrs = WebhookConfigurationAttrs::from_parsed(parsed, &mut self.diagnostics);
                let loc = |attrs: &WebhookConfigurationAttrs| self.parser.loc(attrs.span);
                self.facts.configurations.extend(attrs.map(|attrs| (configuration(&attrs), loc(&attrs))));
            }
        }
    }

    fn webhook(&self, attrs: &WebhookAttrs) -> WebhookFacts {
        let patch = attrs.patch.as_ref().map(|patch| (patch.value.to_value(), self.parser.loc(patch.span)));
        let webhook = Webhook { mutating: attrs.mutating, object: object(attrs), span: Span::default() };
        WebhookFacts { webhook, patch, loc: self.parser.loc(attrs.span) }
    }
}

/// One of our attributes without its crate's path; other attributes unchanged.
pub(super) fn bare(mut attribute: Attribute) -> Attribute {
    let path = match &mut attribute.meta {
        Meta::Path(path) => path,
        Meta::List(list) => &mut list.path,
        Meta::NameValue(pair) => &mut pair.path,
    };
    if let (Some(first), Some(last)) = (path.segments.first(), path.segments.last())
        && path.segments.len() == 2
        && CRATES.iter().any(|name| first.ident == *name)
    {
        let last: Ident = last.ident.clone();
        *path = last.into();
    }
    attribute
}

fn texts(list: &[Spanned<String>]) -> Vec<String> {
    list.iter().map(|item| item.value.clone()).collect()
}

fn text(item: Option<&Spanned<String>>) -> Option<String> {
    item.map(|item| item.value.clone())
}

/// Groups as in the API: the name of the core group is empty.
fn groups(list: &[Spanned<String>]) -> Vec<String> {
    list.iter().map(|group| api_group(&group.value).to_string()).collect()
}

fn rule(attrs: &RbacAttrs) -> PolicyRule {
    PolicyRule {
        groups: texts(&attrs.groups),
        resources: texts(&attrs.resources),
        resource_names: texts(&attrs.resource_names),
        verbs: texts(&attrs.verbs),
        urls: texts(&attrs.urls),
        namespace: text(attrs.namespace.as_ref()),
        role_name: text(attrs.role_name.as_ref()),
        span: Span::default(),
    }
}

fn configuration(attrs: &WebhookConfigurationAttrs) -> WebhookConfiguration {
    WebhookConfiguration { mutating: attrs.mutating, name: text(attrs.name.as_ref()), span: Span::default() }
}

/// The webhook as in the API, without its patch.
fn object(attrs: &WebhookAttrs) -> Value {
    let number = |number: &Option<Spanned<i64>>| number.as_ref().map(|number| number.value);
    let mut object = json!({
        "admissionReviewVersions": texts(&attrs.admission_review_versions),
        "clientConfig": {},
        "failurePolicy": attrs.failure_policy.value,
        "name": attrs.name.value,
        "rules": [{
            "apiGroups": groups(&attrs.groups),
            "apiVersions": texts(&attrs.versions),
            "operations": attrs.verbs.iter().map(|verb| verb.value.to_uppercase()).collect::<Vec<_>>(),
            "resources": texts(&attrs.resources),
        }],
        "sideEffects": text(attrs.side_effects.as_ref()).unwrap_or_default(),
    });
    if let Some(path) = &attrs.path {
        let or = |given: &Option<Spanned<String>>, default: &str| {
            text(given.as_ref()).unwrap_or_else(|| default.to_string())
        };
        let service = &mut object["clientConfig"]["service"];
        service["name"] = or(&attrs.service_name, WEBHOOK_SERVICE.0).into();
        service["namespace"] = or(&attrs.service_namespace, WEBHOOK_SERVICE.1).into();
        service["path"] = path.value.as_str().into();
        if let Some(port) = number(&attrs.service_port) {
            service["port"] = port.into();
        }
    }
    if let Some(url) = &attrs.url {
        object["clientConfig"]["url"] = url.value.as_str().into();
    }
    for (field, given) in
        [("matchPolicy", &attrs.match_policy), ("reinvocationPolicy", &attrs.reinvocation_policy)]
    {
        if let Some(given) = given {
            object[field] = given.value.as_str().into();
        }
    }
    if let Some(seconds) = number(&attrs.timeout_seconds) {
        object["timeoutSeconds"] = seconds.into();
    }
    object
}
