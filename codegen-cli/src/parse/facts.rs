//! Turns core's typed attributes into plain values.

use std::collections::BTreeMap;

use kubesmith_apiextensions::schema::KEYWORDS;
use kubesmith_core::grammar::{Json, Spanned};
use kubesmith_core::model::{
    Conversion, GenclientAttrs, MethodAttrs, ModuleAttrs, OneOf, OneOfKind, PolicyAttrs, PolicyBinding,
    Presence, ResourceAttrs, ResourceInput, SchemaAttrs, ValidationAttrs,
};
use kubesmith_core::names;

use super::Parser;
use crate::ir::{
    self, ConversionWebhook, CrdStyle, CrdVersion, Deprecation, PrintColumn, Scale, Scope, WebhookEndpoint,
};
use crate::schema::{Rule, Schema, cel_field, overlay};
use crate::syntax::Name;
use crate::syntax::facts::{
    GenclientFacts, MethodFacts, ModuleFacts, PolicyFacts, ResourceFacts, RuleFacts, TypeFacts,
};

impl Parser<'_> {
    pub(super) fn facts(
        &self,
        validation: &ValidationAttrs,
        attrs: &SchemaAttrs,
        presence: Option<&Spanned<Presence>>,
    ) -> TypeFacts {
        let mut schema = validation.constraints.schema.clone();
        schema.validations.extend(ordered_one_ofs(&validation.one_ofs).into_iter().map(one_of_rule));
        schema.default = attrs.default.as_ref().map(|default| default.value.to_value());
        schema.example = attrs.example.as_ref().map(|example| example.value.to_value());
        // Both attributes may set the same flag, but share no other keys.
        let own = KEYWORDS.iter().filter(|keyword| keyword.is_set(&attrs.facts.schema));
        own.for_each(|keyword| keyword.copy(&attrs.facts.schema, &mut schema));
        if let Some(extra) = &attrs.extra {
            let extra = self::schema(&extra.value);
            // Core refuses keys that repeat.
            schema = overlay(extra.clone(), schema).unwrap_or(extra);
        }
        let default_ref = attrs.default_ref.as_ref();
        TypeFacts {
            schema,
            default_ref: default_ref.and_then(|path| self.path_in_text(&path.value, path.span)),
            schemaless: attrs.schemaless.is_some(),
            immutable: attrs.immutable.is_some(),
            presence: presence.map(|presence| presence.value == Presence::Required),
            places: self.schema_places(validation, attrs),
        }
    }

    pub(super) fn resource(&self, input: &ResourceInput) -> ResourceFacts {
        let policies = input.policies.iter().map(|policy| self.policy(policy)).collect();
        ResourceFacts { policies, ..self.resource_facts(&input.attrs) }
    }

    pub(super) fn policy(&self, attrs: &PolicyAttrs) -> PolicyFacts {
        let binding = |binding: &PolicyBinding| {
            (self.spanned(&binding.name, String::as_str), binding.spec.clone(), self.loc(binding.span))
        };
        PolicyFacts {
            name: self.spanned(&attrs.name, String::as_str),
            mutating: attrs.mutating,
            rule: RuleFacts {
                operations: attrs.operations.clone(),
                groups: attrs.groups.clone(),
                versions: attrs.versions.clone(),
                resources: attrs.resources.clone(),
            },
            spec: attrs.spec.clone(),
            patch: attrs.patch.as_ref().map(|patch| (patch.value.to_value(), self.loc(patch.span))),
            bindings: attrs.bindings.iter().map(binding).collect(),
            places: attrs.places.iter().map(|(path, span)| (path.clone(), self.loc(*span))).collect(),
            loc: self.loc(attrs.span),
        }
    }

    pub(super) fn resource_facts(&self, attrs: &ResourceAttrs) -> ResourceFacts {
        ResourceFacts {
            loc: self.loc(attrs.span),
            is_given: attrs.is_given,
            group: attrs.group.as_ref().map(|group| self.spanned(group, names::Group::as_str)),
            version: attrs.version.as_ref().map(|version| self.spanned(version, names::Version::as_str)),
            kind: self.spanned(&attrs.kind, names::Kind::as_str),
            list_kind: self.spanned(&attrs.list_kind, names::Kind::as_str),
            plural: self.spanned(&attrs.plural, names::PluralName::as_str),
            singular: self.spanned(&attrs.singular, names::PluralName::as_str),
            short_names: attrs
                .short_names
                .iter()
                .map(|n| self.spanned(n, names::PluralName::as_str))
                .collect(),
            categories: attrs.categories.iter().map(|n| self.spanned(n, names::PluralName::as_str)).collect(),
            scope: match attrs.scope.value {
                names::Scope::Cluster => Scope::Cluster,
                names::Scope::Namespaced => Scope::Namespaced,
            },
            code_name: attrs.group_name_in_code.as_ref().map(|n| self.spanned(n, names::CodeName::as_str)),
            informer_code_name: attrs
                .informer_group_name
                .as_ref()
                .map(|n| self.spanned(n, names::CodeName::as_str)),
            crd: crd_version(attrs),
            policies: Vec::new(),
            places: self.resource_places(attrs),
        }
    }

    pub(super) fn module(&self, attrs: &ModuleAttrs) -> ModuleFacts {
        ModuleFacts {
            group: attrs.group.as_ref().map(|group| self.spanned(group, names::Group::as_str)),
            version: attrs.version.as_ref().map(|version| self.spanned(version, names::Version::as_str)),
            code_name: attrs.group_name_in_code.as_ref().map(|n| self.spanned(n, names::CodeName::as_str)),
            skip: attrs.skip.is_some(),
            presence: attrs.presence.as_ref().map(|presence| presence.value == Presence::Required),
        }
    }

    /// The client's verbs and methods.
    pub(super) fn genclient(&self, attrs: &GenclientAttrs) -> GenclientFacts {
        let chosen = attrs.only_verbs.as_ref().or(attrs.skip_verbs.as_ref());
        GenclientFacts {
            with_status: attrs.verbs(true),
            without_status: attrs.verbs(false),
            chosen: chosen.map(|verbs| self.loc(verbs.span)),
            methods: attrs.methods.iter().map(|method| self.method(method)).collect(),
            no_scale: attrs.no_scale.is_some(),
        }
    }

    fn method(&self, attrs: &MethodAttrs) -> MethodFacts {
        let path = |text: &Option<Spanned<String>>| {
            text.as_ref().and_then(|text| self.path_in_text(&text.value, text.span))
        };
        MethodFacts {
            name: Name { text: attrs.rust_name(), loc: self.loc(attrs.name.span) },
            verb: attrs.verb.value,
            subresource: text(attrs.subresource.as_ref()),
            input: path(&attrs.input),
            result: path(&attrs.result),
        }
    }

    fn spanned<T>(&self, name: &Spanned<T>, text: impl Fn(&T) -> &str) -> Name {
        Name { text: text(&name.value).to_string(), loc: self.loc(name.span) }
    }
}

fn crd_version(attrs: &ResourceAttrs) -> CrdVersion {
    let mut annotations: BTreeMap<String, String> =
        attrs.annotations.iter().map(|(key, value)| (key.value.clone(), value.value.clone())).collect();
    if let Some(approval) = &attrs.api_approved {
        annotations.insert(names::API_APPROVED.to_string(), approval.value.clone());
    }
    CrdVersion {
        print_columns: attrs
            .print_columns
            .iter()
            .map(|column| PrintColumn {
                name: column.name.value.clone(),
                type_: text(column.column_type.as_ref()),
                json_path: column.json_path.value.clone(),
                description: text(column.description.as_ref()),
                format: text(column.format.as_ref()),
                priority: column.priority.as_ref().map(|priority| priority.value),
            })
            .collect(),
        status_subresource: attrs.status.is_some(),
        scale: attrs.scale.as_ref().map(|scale| Scale {
            spec_replicas_path: scale.spec_path.value.clone(),
            status_replicas_path: scale.status_path.value.clone(),
            label_selector_path: text(scale.selector_path.as_ref()),
        }),
        skipped: attrs.skip_version.is_some(),
        served: attrs.unserved_version.is_none(),
        storage: attrs.storage_version.is_some(),
        hub: attrs.hub.is_some(),
        deprecated: attrs
            .deprecated_version
            .as_ref()
            .map(|deprecation| Deprecation { warning: text(deprecation.warning.as_ref()) }),
        conversion: attrs.conversion.as_ref().and_then(|conversion| self::conversion(&conversion.value)),
        selectable_fields: attrs.selectable_fields.iter().map(|path| path.value.clone()).collect(),
        annotations,
        labels: attrs.labels.iter().map(|(key, value)| (key.value.clone(), value.value.clone())).collect(),
        standard_fields: attrs
            .standard_fields
            .iter()
            .map(|(name, schema)| (name.clone(), schema.as_ref().map(self::schema)))
            .collect(),
        style: CrdStyle::default(),
    }
}

/// Converts a conversion webhook; `None` after a diagnostic for a missing address.
fn conversion(conversion: &Conversion) -> Option<ir::Conversion> {
    if !conversion.webhook {
        return Some(ir::Conversion::None);
    }
    let endpoint = match &conversion.url {
        Some(url) => WebhookEndpoint::Url(url.value.clone()),
        None => WebhookEndpoint::Service {
            namespace: text(conversion.service_namespace.as_ref())?,
            name: text(conversion.service_name.as_ref())?,
            path: text(conversion.path.as_ref()),
            port: conversion.port.as_ref().map(|port| port.value),
        },
    };
    let mut review_versions: Vec<String> =
        conversion.review_versions.iter().map(|version| version.value.clone()).collect();
    if review_versions.is_empty() {
        review_versions.push("v1".to_string());
    }
    let ca_bundle = text(conversion.ca_bundle.as_ref());
    Some(ir::Conversion::Webhook(ConversionWebhook { endpoint, ca_bundle, review_versions }))
}

/// One-of groups in the order of controller-gen's rules: by kind, then as in the source.
pub(super) fn ordered_one_ofs(one_ofs: &[OneOf]) -> Vec<&OneOf> {
    let mut ordered: Vec<&OneOf> = one_ofs.iter().filter(|one_of| !one_of.fields.is_empty()).collect();
    ordered.sort_by_key(|one_of| one_of.kind);
    ordered
}

fn one_of_rule(one_of: &OneOf) -> Rule {
    let has = |name: &Spanned<String>| format!("has(self.{})", cel_field(&name.value));
    let names: Vec<&str> = one_of.fields.iter().map(|name| name.value.as_str()).collect();
    let names = names.join(" ");
    let sum =
        || one_of.fields.iter().map(|name| format!("({}?1:0)", has(name))).collect::<Vec<_>>().join("+");
    let (rule, message) = match one_of.kind {
        OneOfKind::AtMostOneOf => {
            (format!("{} <= 1", sum()), format!("at most one of the fields in [{names}] may be set"))
        }
        OneOfKind::ExactlyOneOf => {
            (format!("{} == 1", sum()), format!("exactly one of the fields in [{names}] must be set"))
        }
        OneOfKind::AtLeastOneOf => (
            one_of.fields.iter().map(has).collect::<Vec<_>>().join("||"),
            format!("at least one of the fields in [{names}] must be set"),
        ),
    };
    Rule { rule, message: Some(message), ..Rule::default() }
}

fn text(text: Option<&Spanned<String>>) -> Option<String> {
    text.map(|text| text.value.clone())
}

/// A schema that core has checked.
fn schema(value: &Json) -> Schema {
    let mut schema = Schema::parse(&value.to_value()).unwrap_or_default();
    schema.walk_mut(&mut |schema| schema.required.sort());
    schema
}
