//! Finds the attributes that become roles and webhook configurations: on any item of a file.

use k8s_openapi::api::admissionregistration::v1::{
    MutatingWebhook, RuleWithOperations, ServiceReference, WebhookClientConfig,
};
use kubesmith_core::diag::Diagnostics;
use kubesmith_core::grammar::{Family, Place, Spanned, parse_attributes};
use kubesmith_core::model::{RbacAttrs, WebhookAttrs, WebhookConfigurationAttrs};
use syn::visit::{self, Visit};
use syn::{Attribute, Block, Field, File, Ident, Item, Meta, Variant};

use super::{Parser, attributes, facts, is_test};
use crate::facts::{ManifestFacts, WebhookFacts};
use crate::ir::{PolicyRule, Span, Webhook, WebhookConfiguration};

/// The attributes that are looked for.
const FAMILIES: &[Family] = &[Family::Rbac, Family::Webhook, Family::WebhookConfiguration];

/// The crates that an attribute's path may begin with.
const CRATES: &[&str] = &["kubesmith_runtime", "kubesmith_macros"];

/// controller-gen's names of the service that serves webhooks.
const SERVICE: (&str, &str) = ("webhook-service", "system");

impl Parser {
    /// Everything that a file says beside types. `text` is the file's.
    pub(super) fn manifests(&mut self, file: &File, text: &str) -> ManifestFacts {
        // Most files say nothing of the kind, and their function bodies need not be looked at.
        if !FAMILIES.iter().any(|family| text.contains(family.name())) {
            return ManifestFacts::default();
        }
        let mut reader = Reader {
            parser: self,
            diagnostics: Diagnostics::new(),
            place: Place::Item,
            facts: ManifestFacts::default(),
        };
        reader.visit_file(file);
        let Reader { diagnostics, facts, .. } = reader;
        self.report(diagnostics);
        facts
    }
}

struct Reader<'a> {
    parser: &'a Parser,
    diagnostics: Diagnostics,
    /// What the attributes that come next stand on.
    place: Place,
    facts: ManifestFacts,
}

impl<'ast> Visit<'ast> for Reader<'_> {
    fn visit_item(&mut self, item: &'ast Item) {
        if !is_test(attributes(item)) {
            self.within(Place::Item, |reader| visit::visit_item(reader, item));
        }
    }

    fn visit_field(&mut self, field: &'ast Field) {
        self.within(Place::Field, |reader| visit::visit_field(reader, field));
    }

    fn visit_variant(&mut self, variant: &'ast Variant) {
        self.within(Place::Variant, |reader| visit::visit_variant(reader, variant));
    }

    fn visit_block(&mut self, block: &'ast Block) {
        self.within(Place::Body, |reader| visit::visit_block(reader, block));
    }

    fn visit_attribute(&mut self, attribute: &'ast Attribute) {
        let Some((family, attribute)) = ours(attribute) else { return };
        let parsed =
            parse_attributes(family, std::slice::from_ref(&attribute), self.place, &mut self.diagnostics);
        match family {
            Family::Rbac => {
                let attrs = RbacAttrs::from_parsed(&parsed, &mut self.diagnostics);
                self.facts.rules.extend(attrs.map(|attrs| (rule(&attrs), self.parser.loc(attrs.span))));
            }
            Family::Webhook => {
                let attrs = WebhookAttrs::from_parsed(&parsed, &mut self.diagnostics);
                self.facts.webhooks.extend(attrs.map(|attrs| self.webhook(&attrs)));
            }
            _ => {
                let attrs = WebhookConfigurationAttrs::from_parsed(&parsed, &mut self.diagnostics);
                let loc = |attrs: &WebhookConfigurationAttrs| self.parser.loc(attrs.span);
                self.facts.configurations.extend(attrs.map(|attrs| (configuration(&attrs), loc(&attrs))));
            }
        }
    }
}

impl Reader<'_> {
    fn within(&mut self, place: Place, visit: impl FnOnce(&mut Self)) {
        let outer = std::mem::replace(&mut self.place, place);
        visit(self);
        self.place = outer;
    }

    fn webhook(&self, attrs: &WebhookAttrs) -> WebhookFacts {
        let patch =
            attrs.patch.as_ref().map(|patch| (facts::json(&patch.value), self.parser.loc(patch.span)));
        let webhook = Webhook { mutating: attrs.mutating, object: object(attrs), span: Span::default() };
        WebhookFacts { webhook, patch, loc: self.parser.loc(attrs.span) }
    }
}

/// The attribute with its bare name, if it is one of ours.
fn ours(attribute: &Attribute) -> Option<(Family, Attribute)> {
    let segments = &attribute.path().segments;
    let last = segments.last()?;
    let family = *FAMILIES.iter().find(|family| last.ident == family.name())?;
    let known =
        segments.len() == 1 || segments.len() == 2 && CRATES.iter().any(|name| segments[0].ident == *name);
    known.then(|| (family, with_name(attribute, &last.ident)))
}

fn with_name(attribute: &Attribute, name: &Ident) -> Attribute {
    let mut attribute = attribute.clone();
    let path = match &mut attribute.meta {
        Meta::Path(path) => path,
        Meta::List(list) => &mut list.path,
        Meta::NameValue(pair) => &mut pair.path,
    };
    *path = name.clone().into();
    attribute
}

fn texts(list: &[Spanned<String>]) -> Vec<String> {
    list.iter().map(|item| item.value.clone()).collect()
}

fn text(item: Option<&Spanned<String>>) -> Option<String> {
    item.map(|item| item.value.clone())
}

/// Groups as the API has them: the core group has no name.
fn groups(list: &[Spanned<String>]) -> Vec<String> {
    list.iter().map(|group| if group.value == "core" { String::new() } else { group.value.clone() }).collect()
}

fn rule(attrs: &RbacAttrs) -> PolicyRule {
    PolicyRule {
        groups: groups(&attrs.groups),
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

/// The webhook as the API has it, without its patch.
fn object(attrs: &WebhookAttrs) -> MutatingWebhook {
    // Values out of range have been reported.
    let number = |number: &Option<Spanned<i64>>| number.as_ref().and_then(|n| i32::try_from(n.value).ok());
    MutatingWebhook {
        admission_review_versions: texts(&attrs.admission_review_versions),
        client_config: client(attrs, number(&attrs.service_port)),
        failure_policy: Some(attrs.failure_policy.value.clone()),
        match_policy: text(attrs.match_policy.as_ref()),
        name: attrs.name.value.clone(),
        reinvocation_policy: text(attrs.reinvocation_policy.as_ref()),
        rules: Some(vec![RuleWithOperations {
            api_groups: Some(groups(&attrs.groups)),
            api_versions: Some(texts(&attrs.versions)),
            operations: Some(attrs.verbs.iter().map(|verb| verb.value.to_uppercase()).collect()),
            resources: Some(texts(&attrs.resources)),
            scope: None,
        }]),
        side_effects: text(attrs.side_effects.as_ref()).unwrap_or_default(),
        timeout_seconds: number(&attrs.timeout_seconds),
        ..MutatingWebhook::default()
    }
}

fn client(attrs: &WebhookAttrs, port: Option<i32>) -> WebhookClientConfig {
    let service = attrs.path.as_ref().map(|path| ServiceReference {
        name: text(attrs.service_name.as_ref()).unwrap_or_else(|| SERVICE.0.to_string()),
        namespace: text(attrs.service_namespace.as_ref()).unwrap_or_else(|| SERVICE.1.to_string()),
        path: Some(path.value.clone()),
        port,
    });
    WebhookClientConfig { ca_bundle: None, service, url: text(attrs.url.as_ref()) }
}
