//! The schema of a custom resource, `JSONSchemaProps` of apiextensions/v1, and the table of its keywords.
//!
//! [`Schema`] is the only model of a schema: attributes, lowering, `import`, `diff`, documentation and the embedded
//! server share it. [`KEYWORDS`] is the only definition of a keyword: its name, the type of its value, its valid
//! places, the rule that merges two of them, its checks, and its attribute key. Code that treats keywords alike reads
//! the table; code that needs one keyword reads the field of [`Schema`].
//!
//! The module depends on neither servers nor Rust syntax and needs no feature of the crate, since the derive macros use
//! it too.

mod keyword;
mod names;
mod number;
mod parse;
mod pattern;
mod table;
mod value;

use std::sync::Arc;

pub use keyword::{Attribute, Keyword, Kind, Limit, Measure, Merge, Role, Values};
pub use names::Names;
pub use number::Number;
pub use parse::{MAX_SCHEMA_DEPTH, SchemaError};
pub use pattern::Pattern;
pub use table::{KEYWORDS, Schema};
pub use value::{Additional, ExternalDocs, ListType, MapType, RULE_REASONS, Rule};

use serde_json::Value;

/// The types that a schema may name.
pub const SCHEMA_TYPES: &[&str] = &["string", "integer", "number", "boolean", "array", "object"];

/// Keywords of JSON Schema that API servers know and refuse.
pub const REFUSED_KEYWORDS: &[&str] =
    &["$ref", "$schema", "id", "additionalItems", "definitions", "dependencies", "patternProperties"];

impl Schema {
    /// A schema with only a type.
    #[must_use]
    pub fn of_type(type_: &str) -> Self {
        Self { type_: Some(type_.to_owned()), ..Self::default() }
    }

    /// A type with a format.
    #[must_use]
    pub fn formatted(type_: &str, format: &str) -> Self {
        Self { format: Some(format.to_owned()), ..Self::of_type(type_) }
    }

    /// Reports whether the schema has no keyword.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// `type`, empty if there is none.
    #[must_use]
    pub fn type_name(&self) -> &str {
        self.type_.as_deref().unwrap_or_default()
    }

    /// Reports whether `type` is this one.
    #[must_use]
    pub fn is_type(&self, type_: &str) -> bool {
        self.type_.as_deref() == Some(type_)
    }

    /// `format`, empty if there is none.
    #[must_use]
    pub fn format_name(&self) -> &str {
        self.format.as_deref().unwrap_or_default()
    }

    /// The values of `enum`, empty if there is none.
    #[must_use]
    pub fn allowed_values(&self) -> &[Value] {
        self.enum_.as_deref().unwrap_or_default()
    }

    /// The list type that takes effect: atomic where none is named.
    #[must_use]
    pub fn effective_list_type(&self) -> ListType {
        match self.list_type.as_deref() {
            Some("set") => ListType::Set,
            Some("map") => ListType::Map,
            _ => ListType::Atomic,
        }
    }

    /// The map type that takes effect: granular where none is named.
    #[must_use]
    pub fn effective_map_type(&self) -> MapType {
        if self.map_type.as_deref() == Some("atomic") { MapType::Atomic } else { MapType::Granular }
    }

    /// The schema of the values of a map, if this is one.
    #[must_use]
    pub fn additional_schema(&self) -> Option<&Schema> {
        match &self.additional_properties {
            Some(Additional::Schema(schema)) => Some(schema),
            _ => None,
        }
    }

    /// The schema of one field: its property, or the schema of all other fields.
    #[must_use]
    pub fn field(&self, name: &str) -> Option<&Schema> {
        self.properties.get(name).map(Arc::as_ref).or_else(|| self.additional_schema())
    }

    /// All direct children with the JSON path that leads to them, in a fixed order.
    pub fn children(&self) -> impl Iterator<Item = (String, &Schema)> {
        let items = self.items.as_deref().map(|s| ("items".to_owned(), s));
        let properties = self.properties.iter().map(|(k, s)| (format!("properties[{k}]"), s.as_ref()));
        let additional = self.additional_schema().map(|s| ("additionalProperties".to_owned(), s));
        items.into_iter().chain(properties).chain(additional)
    }

    /// The schemas in `allOf`, `anyOf`, `oneOf` and `not` with the path that leads to them.
    pub fn junctions(&self) -> impl Iterator<Item = (String, &Schema)> {
        let numbered = |name: &'static str| move |(i, s)| (format!("{name}[{i}]"), s);
        self.all_of
            .iter()
            .enumerate()
            .map(numbered("allOf"))
            .chain(self.any_of.iter().enumerate().map(numbered("anyOf")))
            .chain(self.one_of.iter().enumerate().map(numbered("oneOf")))
            .chain(self.not.as_deref().map(|s| ("not".to_owned(), s)))
    }

    /// Reports whether this schema or one inside satisfies a condition, junctors included.
    pub fn any(&self, condition: &impl Fn(&Schema) -> bool) -> bool {
        condition(self)
            || self.children().any(|(_, s)| s.any(condition))
            || self.junctions().any(|(_, s)| s.any(condition))
    }

    /// Calls `f` for this schema and every schema inside, with mutable access, outermost first.
    pub fn walk_mut(&mut self, f: &mut impl FnMut(&mut Schema)) {
        f(self);
        for schema in self.properties.values_mut() {
            Arc::make_mut(schema).walk_mut(f);
        }
        if let Some(Additional::Schema(schema)) = &mut self.additional_properties {
            schema.walk_mut(f);
        }
        for schema in self.all_of.iter_mut().chain(&mut self.any_of).chain(&mut self.one_of) {
            schema.walk_mut(f);
        }
        for schema in self.items.iter_mut().chain(self.not.iter_mut()) {
            schema.walk_mut(f);
        }
    }

    /// The schema as JSON.
    #[must_use]
    pub fn to_value(&self) -> Value {
        // Strings, numbers and maps with string keys always have a JSON form.
        serde_json::to_value(self).unwrap_or(Value::Null)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn schema_has_a_field_for_each_keyword_when_parsed_and_printed() {
        let whole = json!({
            "additionalProperties": {"type": "string"}, "allOf": [{"minimum": 1}], "anyOf": [{}], "default": {"a": 1},
            "description": "d", "enum": [1, null], "example": 1, "exclusiveMaximum": true, "exclusiveMinimum": true,
            "externalDocs": {"url": "u"}, "format": "f", "items": {}, "maxItems": 1, "maxLength": 2, "maxProperties": 3,
            "maximum": 1.5, "minItems": 1, "minLength": 2, "minProperties": 3, "minimum": 1.0, "multipleOf": 2,
            "not": {}, "nullable": true, "oneOf": [{}], "pattern": "p", "properties": {"a": {}}, "required": ["b", "a"],
            "title": "t", "type": "string", "uniqueItems": true, "x-kubernetes-embedded-resource": true,
            "x-kubernetes-int-or-string": true, "x-kubernetes-list-map-keys": ["k"], "x-kubernetes-list-type": "map",
            "x-kubernetes-map-type": "atomic", "x-kubernetes-preserve-unknown-fields": true,
            "x-kubernetes-validations": [{"rule": "r", "optionalOldSelf": false}],
        });
        let schema = Schema::parse(&whole).unwrap();
        assert_eq!(schema.to_value(), whole);
        for keyword in KEYWORDS {
            assert!(keyword.is_set(&schema), "{}", keyword.name);
            let mut copy = Schema::default();
            keyword.copy(&schema, &mut copy);
            assert!(keyword.equal(&schema, &copy));
            assert_eq!(copy.to_value().as_object().unwrap().keys().collect::<Vec<_>>(), [keyword.name]);
            assert_eq!(Keyword::named(keyword.name).map(|k| k.name), Some(keyword.name));
        }
        assert_eq!(KEYWORDS.len(), whole.as_object().unwrap().len());
    }

    #[test]
    fn numbers_keep_their_form_and_compare_by_value() {
        let number = |text: &str| Schema::parse(&serde_json::from_str(text).unwrap()).unwrap();
        let (whole, fraction) = (number(r#"{"minimum": 1}"#), number(r#"{"minimum": 1.0}"#));
        assert_eq!(whole, fraction);
        assert_eq!(fraction.to_value().to_string(), r#"{"minimum":1.0}"#);
        assert_ne!(number(r#"{"maximum": 9007199254740993}"#), number(r#"{"maximum": 9007199254740992}"#));
    }

    #[test]
    fn parse_reports_the_keyword_when_a_value_has_the_wrong_type() {
        let error = Schema::parse(&json!({"properties": {"a": {"type": 5}}})).unwrap_err();
        assert_eq!(error.to_string(), "properties.a.type: expected a string");
        let mut deep = json!({"type": "object"});
        for _ in 0..120 {
            deep = json!({"type": "array", "items": deep});
        }
        assert_eq!(Schema::parse(&deep), Err(SchemaError::TooDeep));
    }
}
