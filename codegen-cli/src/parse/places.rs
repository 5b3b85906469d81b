//! Maps the values of attributes to their locations, by their names in the CRD.

use kubesmith_core::grammar::{Json, Spanned};
use kubesmith_core::model::{ResourceAttrs, SchemaAttrs, ValidationAttrs};
use proc_macro2::Span;

use super::Parser;
use super::facts::ordered_one_ofs;
use crate::syntax::facts::Places;

impl Parser<'_> {
    /// The locations of the values that attributes add to a schema: `default`, `items.pattern`,
    /// `x-kubernetes-validations[0].rule`.
    pub(super) fn schema_places(&self, validation: &ValidationAttrs, attrs: &SchemaAttrs) -> Places {
        let mut out = Collector::default();
        let constraints = &validation.constraints;
        let said = constraints.places.iter().chain(&attrs.facts.places);
        out.spans.extend(said.map(|(name, span)| (name.clone(), *span)));
        // One-of rules follow the others.
        for (index, one_of) in
            (constraints.schema.validations.len()..).zip(ordered_one_ofs(&validation.one_ofs))
        {
            out.span(&format!("x-kubernetes-validations[{index}]"), Some(one_of.span));
        }
        out.value("default", attrs.default.as_ref());
        out.value("default", attrs.default_ref.as_ref());
        if let Some(extra) = &attrs.extra
            && let Json::Object(members) = &extra.value
        {
            out.span("extra", Some(extra.span));
            for (keyword, _) in members {
                out.span(keyword, Some(extra.span));
            }
        }
        out.span("schemaless", attrs.schemaless);
        out.span("immutable", attrs.immutable);
        self.places(out)
    }

    /// The locations of the values in a version of a CRD: `additionalPrinterColumns[0].jsonPath`,
    /// `names.plural`.
    pub(super) fn resource_places(&self, attrs: &ResourceAttrs) -> Places {
        let mut out = Collector::default();
        out.value("group", attrs.group.as_ref());
        out.value("version", attrs.version.as_ref());
        out.value("scope", Some(&attrs.scope));
        out.value("names.kind", Some(&attrs.kind));
        out.value("names.listKind", Some(&attrs.list_kind));
        out.value("names.plural", Some(&attrs.plural));
        out.value("names.singular", Some(&attrs.singular));
        for (index, name) in attrs.short_names.iter().enumerate() {
            out.value(&format!("names.shortNames[{index}]"), Some(name));
        }
        for (index, name) in attrs.categories.iter().enumerate() {
            out.value(&format!("names.categories[{index}]"), Some(name));
        }
        for (index, column) in attrs.print_columns.iter().enumerate() {
            out.value(&format!("additionalPrinterColumns[{index}].jsonPath"), Some(&column.json_path));
        }
        for (index, path) in attrs.selectable_fields.iter().enumerate() {
            out.value(&format!("selectableFields[{index}].jsonPath"), Some(path));
        }
        if let Some(scale) = &attrs.scale {
            out.value("subresources.scale.specReplicasPath", Some(&scale.spec_path));
            out.value("subresources.scale.statusReplicasPath", Some(&scale.status_path));
            out.value("subresources.scale.labelSelectorPath", scale.selector_path.as_ref());
        }
        out.value("conversion", attrs.conversion.as_ref());
        let warning = attrs.deprecated_version.as_ref().and_then(|deprecation| deprecation.warning.as_ref());
        out.value("deprecationWarning", warning);
        out.span("storage", attrs.storage_version);
        out.span("hub", attrs.hub);
        out.span("served", attrs.unserved_version);
        self.places(out)
    }

    fn places(&self, found: Collector) -> Places {
        found.spans.into_iter().map(|(name, span)| (name, self.loc(span))).collect()
    }
}

#[derive(Default)]
struct Collector {
    spans: Vec<(String, Span)>,
}

impl Collector {
    fn span(&mut self, name: &str, span: Option<Span>) {
        self.spans.extend(span.map(|span| (name.to_string(), span)));
    }

    fn value<T>(&mut self, name: &str, value: Option<&Spanned<T>>) {
        self.span(name, value.map(|value| value.span));
    }
}
