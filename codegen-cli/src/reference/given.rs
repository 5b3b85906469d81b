//! Describes types and fields by their schemas: those of kube-rs's types, and of known types outside
//! Kubernetes.

use kubesmith_apiextensions::sample::is_deprecated;

use super::types::Builder;
use super::{Field, Text, Type, plain, text, words};
use crate::schema::{Additional, Schema};

impl Builder<'_> {
    /// Describes the type by its schema.
    pub(super) fn given(&mut self, schema: &Schema, out: &mut Type) {
        if schema.properties.is_empty() {
            out.form = self.schema_text(schema, &out.name);
        } else {
            out.fields = self.properties(schema, &out.name, &out.id);
        }
    }

    fn properties(&mut self, schema: &Schema, owner_name: &str, owner_id: &str) -> Vec<Field> {
        let fields = schema.properties.iter().map(|(name, property)| {
            let id = self.ids.take(&format!("{owner_id}-{name}"));
            let label = format!("{owner_name}.{name}");
            let ty = self.within(label.clone(), &id, |builder| builder.schema_text(property, &label));
            // Its own section has the description.
            let has_section = !property.properties.is_empty();
            let description = property.description.as_ref().filter(|_| !has_section);
            Field {
                id,
                name: Some(name.clone()),
                ty,
                // As for fields of types: servers set defaults before they validate.
                required: schema.required.contains(name) && property.default.is_none(),
                default: property.default.as_ref().map(ToString::to_string),
                description: text::optional(description),
                deprecated: is_deprecated(property.description.as_ref()),
                rules: if has_section { Vec::new() } else { words::rules(property) },
            }
        });
        fields.collect()
    }

    /// The type of a schema. Objects with fields become types called `name`.
    pub(super) fn schema_text(&mut self, schema: &Schema, name: &str) -> Text {
        let of = |before: &str, mut inner: Text| {
            inner.insert(0, plain(before));
            inner
        };
        if !schema.properties.is_empty() {
            let id = self.nest(schema, name);
            return vec![self.link(&id, name)];
        }
        if let Some(items) = &schema.items {
            return of("list of ", self.schema_text(items, &format!("{name}[]")));
        }
        if let Some(Additional::Schema(values)) = &schema.additional_properties {
            return of("map of string to ", self.schema_text(values, &format!("{name}{{}}")));
        }
        if schema.int_or_string {
            return vec![plain("integer or string")];
        }
        match (&schema.type_, &schema.format) {
            (Some(type_), Some(format)) => vec![plain(format!("{type_} ({format})"))],
            (Some(type_), None) => vec![plain(type_)],
            (None, _) => vec![plain("any value")],
        }
    }

    /// Adds an unnamed type, and returns its anchor.
    fn nest(&mut self, schema: &Schema, name: &str) -> String {
        let id = self.ids.take(&format!("{}-{name}", self.page));
        let fields = self.within(name.to_string(), &id, |builder| builder.properties(schema, name, &id));
        let described = Type {
            id: id.clone(),
            name: name.to_string(),
            description: text::optional(schema.description.as_ref()),
            deprecated: is_deprecated(schema.description.as_ref()),
            form: Text::new(),
            fields,
            variants: Vec::new(),
            rules: words::rules(schema),
            appears_in: Vec::new(),
        };
        self.nested.push(described);
        id
    }
}
