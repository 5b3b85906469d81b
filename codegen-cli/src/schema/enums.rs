//! Builds schemas of enums, by serde's four representations.

use kubesmith_core::diag::Code;
use serde_json::Value;

use super::build::Builder;
use super::forms;
use super::union::{Conflict, Junction, union};
use crate::diag::Diagnostic;
use crate::ir::{Enum, Span, Tagging, TypeRef, Variant};
use kubesmith_apiextensions::schema::Schema;

/// Whether an enum is a separate value, or flattened into an enclosing object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// A value.
    Value,
    /// Flattened: serde then writes a variant without content as a field that is null
    /// (`FlatMapSerializer::serialize_unit_variant`).
    Object,
}

impl Builder<'_> {
    /// The schema of an enum defined at `span`.
    pub(super) fn enumeration(&mut self, definition: &Enum, place: Place, span: &Span) -> Schema {
        let is_untagged = |variant: &&Variant| variant.untagged || definition.tagging == Tagging::Untagged;
        let (untagged, tagged): (Vec<&Variant>, Vec<&Variant>) =
            definition.variants.iter().partition(is_untagged);
        let mut alternatives = Vec::new();
        if !tagged.is_empty() {
            alternatives.extend(match &definition.tagging {
                Tagging::Internal { tag } => vec![self.internal(&tagged, tag, span)],
                Tagging::Adjacent { tag, content } => vec![self.adjacent(&tagged, tag, content, span)],
                Tagging::External | Tagging::Untagged => {
                    self.external(&tagged, !untagged.is_empty(), place, span)
                }
            });
        }
        // An untagged value belongs to the first variant that it fits.
        let junction = if untagged.is_empty() { Junction::OneOf } else { Junction::AnyOf };
        for variant in untagged {
            alternatives.push(self.content(variant, place));
        }
        self.joined(alternatives, junction, span)
    }

    /// Joins alternatives; restrictions that cannot apply to a single one are reported.
    pub(super) fn joined(&mut self, alternatives: Vec<Schema>, junction: Junction, span: &Span) -> Schema {
        let (schema, conflicts) = union(alternatives, junction);
        for conflict in conflicts {
            self.report_conflict(&conflict, span);
        }
        schema
    }

    fn report_conflict(&mut self, conflict: &Conflict, span: &Span) {
        let place = if conflict.path.is_empty() { String::new() } else { format!(" of `{}`", conflict.path) };
        self.diagnostics.push(
            Diagnostic::error(
                Code::UNSUPPORTED_ENUM,
                self.sources.loc(span),
                format!("`{}`{place} differs between variants", conflict.keyword),
            )
            .note("a structural schema has it once, so that it would hold for every variant")
            .help("say the same in all variants, or put a rule on the enum that asks for the variant first"),
        );
    }

    /// `"name"` and `{"name": content}`
    fn external(&mut self, variants: &[&Variant], more: bool, place: Place, span: &Span) -> Vec<Schema> {
        let is_text = |variant: &&Variant| variant.content.is_none() && place == Place::Value;
        let (texts, data): (Vec<&Variant>, Vec<&Variant>) = variants.iter().copied().partition(is_text);
        let mut out = Vec::new();
        if !texts.is_empty() {
            out.push(names(&texts, &[]));
        }
        let mut objects = Vec::new();
        for variant in data {
            let mut content = self.content(variant, Place::Value);
            content.default = None;
            if variant.description.is_some() {
                content.description.clone_from(&variant.description);
            }
            objects.extend(variant.names().map(|name| object([(name.clone(), content.clone(), true)])));
        }
        if objects.is_empty() {
            return out;
        }
        let is_single = objects.len() == 1;
        let mut objects = self.joined(objects, Junction::OneOf, span);
        if more || !out.is_empty() {
            // With other forms beside, unknown fields are not pruned.
            objects.max_properties = Some(1);
        } else if is_single {
            let required = std::mem::take(&mut objects.required);
            objects.one_of = vec![Schema { required, ..Schema::default() }];
        }
        out.push(objects);
        out
    }

    /// `{"tag": "name", ..content}`
    fn internal(&mut self, variants: &[&Variant], tag: &str, span: &Span) -> Schema {
        let mut objects = Vec::new();
        for variant in variants {
            let mut object = self.content(variant, Place::Object);
            object.description = None;
            // serde cannot tag a `None`.
            let is_option = variant.content.as_ref().is_some_and(|c| matches!(c.ty, TypeRef::Nullable(_)));
            if is_option || !is_object(&object) {
                self.report_no_object(variant);
                continue;
            }
            object.type_ = Some("object".to_string());
            if object.properties.contains_key(tag) {
                self.diagnostics.push(
                    Diagnostic::error(
                        Code::UNSUPPORTED_ENUM,
                        self.sources.loc(&variant.span),
                        format!("the variant `{}` has a field `{tag}`, which is the tag", variant.name),
                    )
                    .help("rename the field with `#[serde(rename = \"...\")]`, or choose another tag"),
                );
            }
            object.required.insert(tag.to_string());
            object.properties.insert(tag.to_string(), names(&[variant], variants).into());
            objects.push(object);
        }
        let schema = self.joined(objects, Junction::OneOf, span);
        with_tag(schema, tag, names(variants, &[]))
    }

    /// `{"tag": "name", "content": content}`
    fn adjacent(&mut self, variants: &[&Variant], tag: &str, content: &str, span: &Span) -> Schema {
        let mut objects = Vec::new();
        for variant in variants {
            let mut fields = vec![(tag.to_string(), names(&[variant], variants), true)];
            if let Some(element) = &variant.content {
                let schema = self.element(element);
                // serde reads an absent `Option` as `None`.
                let required = !matches!(element.ty, TypeRef::Nullable(_));
                fields.push((content.to_string(), schema, required));
            }
            let mut object = object(fields);
            if variant.content.is_none() {
                let present = Schema { required: [content.to_string()].into(), ..Schema::default() };
                object.not = Some(Box::new(present));
            }
            objects.push(object);
        }
        let schema = self.joined(objects, Junction::OneOf, span);
        with_tag(schema, tag, names(variants, &[]))
    }

    /// The contents of a variant.
    fn content(&mut self, variant: &Variant, place: Place) -> Schema {
        match (&variant.content, place) {
            (Some(element), Place::Value) => self.element(element),
            (Some(element), Place::Object) => {
                let inner = self.flattened(&element.ty);
                self.join(inner, element.facts.clone(), &element.span)
            }
            (None, Place::Value) => forms::unit(),
            (None, Place::Object) => Schema::of_type("object"),
        }
    }

    fn report_no_object(&mut self, variant: &Variant) {
        self.diagnostics.push(
            Diagnostic::error(
                Code::UNSUPPORTED_ENUM,
                self.sources.loc(&variant.span),
                format!("what the variant `{}` holds has no fields to stand beside the tag", variant.name),
            )
            .note("serde can write an internally tagged variant only if it holds a struct or a map")
            .help("name the field, or add `content = \"...\"` beside `tag`"),
        );
    }
}

/// Whether every value is an object.
pub(super) fn is_object(schema: &Schema) -> bool {
    schema.type_.as_deref() == Some("object") || *schema == forms::free()
}

/// An object with these fields: name, schema, whether it is required.
fn object(fields: impl IntoIterator<Item = (String, Schema, bool)>) -> Schema {
    let mut out = Schema::of_type("object");
    for (name, schema, required) in fields {
        if required {
            out.required.insert(name.clone());
        }
        out.properties.insert(name, schema.into());
    }
    out
}

/// A text with the name of one of these variants. A catch-all variant excludes the names of `all`.
fn names(variants: &[&Variant], all: &[&Variant]) -> Schema {
    let values = |variants: &[&Variant]| -> Vec<Value> {
        variants.iter().flat_map(|variant| variant.names()).map(|name| name.as_str().into()).collect()
    };
    let text = Schema::of_type("string");
    if !variants.iter().any(|variant| variant.other) {
        return Schema { enum_: Some(values(variants)), ..text };
    }
    let others: Vec<&Variant> = all.iter().copied().filter(|variant| !variant.other).collect();
    if others.is_empty() {
        return text;
    }
    Schema { not: Some(Box::new(Schema { enum_: Some(values(&others)), ..Schema::default() })), ..text }
}

/// Requires the tag in every variant, with all names as its values.
fn with_tag(mut schema: Schema, tag: &str, names: Schema) -> Schema {
    for branch in &mut schema.one_of {
        branch.required.remove(tag);
    }
    schema.required.insert(tag.to_string());
    schema.properties.insert(tag.to_string(), names.into());
    schema.type_ = Some("object".to_string());
    schema
}
