//! The table of keywords, and the type that it generates.
//!
//! A row is a field of [`Schema`] with its type, the kind and name of the keyword, and in braces its special
//! properties. Rows are in the order in which attributes and documentation list them.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use serde_json::Value;

use super::keyword::{Access, Measure, Merge, Role, Values};
use super::parse::{KeywordValue, Reader, SchemaError};
use super::{
    Additional, ExternalDocs, Keyword, Kind, Names, Number, Pattern, REFUSED_KEYWORDS, Rule, SCHEMA_TYPES,
};

macro_rules! keywords {
    ($($(#[$doc:meta])* $field:ident: $type_:ty = $kind:ident $name:literal { $($more:tt)* })*) => {
        /// A schema: `JSONSchemaProps` of apiextensions/v1. The same type serves for the structural part and for what stands
        /// in `allOf`, `anyOf`, `oneOf` and `not`; which keyword may stand where is in [`KEYWORDS`].
        #[derive(Clone, Debug, Default, PartialEq)]
        pub struct Schema {
            $($(#[$doc])* pub $field: $type_,)*
            /// Parts that the API server refuses, such as `$ref`, a list of `items`, or
            /// `x-kubernetes-preserve-unknown-fields: false`; they are never printed.
            pub refused: Vec<String>,
        }

        /// Every keyword of a schema that API servers take.
        pub const KEYWORDS: &[Keyword] = &[$(
            Keyword::new($name, Kind::$kind, Access {
                is_set: |schema| schema.$field.is_set(),
                equal: |a, b| a.$field == b.$field,
                copy: |from, to| to.$field.clone_from(&from.$field),
                take: |from, to| to.$field = std::mem::take(&mut from.$field),
                count: |schema| schema.$field.count(),
                value: |schema| serde_json::to_value(&schema.$field).unwrap_or(Value::Null),
            }) $($more)*,
        )*];

        impl Schema {
            /// The row of a keyword.
            pub(super) fn index(name: &str) -> Option<usize> {
                #[allow(non_camel_case_types)]
                enum Row { $($field),* }
                Some(match name {
                    $($name => Row::$field as usize,)*
                    _ => return None,
                })
            }

            /// Takes the value of a keyword; those that are unknown are dropped.
            pub(super) fn set(&mut self, name: &str, value: &Value, reader: &mut Reader) -> Result<(), SchemaError> {
                match (name, value) {
                    ("items", Value::Array(_)) | ("x-kubernetes-preserve-unknown-fields", Value::Bool(false)) => {
                        self.refused.push(name.to_owned());
                    }
                    $(($name, _) => self.$field = KeywordValue::read(value, reader)?,)*
                    (name, value) if REFUSED_KEYWORDS.contains(&name) && says_something(name, value) => {
                        self.refused.push(name.to_owned());
                    }
                    _ => {}
                }
                Ok(())
            }
        }

        impl Serialize for Schema {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                let mut map = serializer.serialize_map(None)?;
                $(if self.$field.is_set() {
                    map.serialize_entry($name, &self.$field)?;
                })*
                map.end()
            }
        }
    };
}

/// Whether a refused keyword has a value. Source: `ValidateCustomResourceDefinitionOpenAPISchema` of
/// apiextensions-apiserver, which asks for the length of texts and maps, and whether pointers are nil.
fn says_something(name: &str, value: &Value) -> bool {
    match value {
        Value::Null => false,
        _ if matches!(name, "$ref" | "additionalItems" | "dependencies") => true,
        Value::String(text) => !text.is_empty(),
        Value::Object(map) => !map.is_empty(),
        _ => true,
    }
}

keywords! {
    /// `title`.
    title: Option<String> = Text "title" {
        .role(Role::Documentation).at_root(3, "Title").not_in_junctors("empty").schema_key("title")
    }
    /// `description`.
    description: Option<String> = Text "description" {
        .role(Role::Documentation).at_root(0, "Description").not_in_junctors("empty").schema_key("description")
    }
    /// `minimum`.
    minimum: Option<Number> = Number "minimum" {
        .of(Values::Numbers).own_diff().at_root(6, "Minimum")
        .key("minimum", &["kubebuilder:validation:Minimum"], "Least number", "minimum = 1").also(&["min"])
    }
    /// `maximum`.
    maximum: Option<Number> = Number "maximum" {
        .of(Values::Numbers).own_diff().at_root(4, "Maximum")
        .key("maximum", &["kubebuilder:validation:Maximum"], "Greatest number", "maximum = 99.5").also(&["max"])
    }
    /// `multipleOf`.
    multiple_of: Option<Number> = Number "multipleOf" {
        .of(Values::Numbers).own_diff().at_root(14, "MultipleOf").words("a multiple of ")
        .key("multiple_of", &["kubebuilder:validation:MultipleOf"], "Only multiples of this number", "multiple_of = 3")
    }
    /// `exclusiveMinimum`: the minimum itself is not allowed.
    exclusive_minimum: bool = Flag "exclusiveMinimum" {
        .role(Role::Restriction).of(Values::Numbers).own_diff().at_root(7, "ExclusiveMinimum")
        .key("exclusive_minimum", &["kubebuilder:validation:ExclusiveMinimum"],
            "The minimum itself is not allowed", "exclusive_minimum")
    }
    /// `exclusiveMaximum`: the maximum itself is not allowed.
    exclusive_maximum: bool = Flag "exclusiveMaximum" {
        .role(Role::Restriction).of(Values::Numbers).own_diff().at_root(5, "ExclusiveMaximum")
        .key("exclusive_maximum", &["kubebuilder:validation:ExclusiveMaximum"],
            "The maximum itself is not allowed", "exclusive_maximum")
    }
    /// `x-kubernetes-int-or-string`.
    int_or_string: bool = Flag "x-kubernetes-int-or-string" {
        .not_in_junctors("false")
        .key("x_int_or_string", &["kubebuilder:validation:XIntOrString"], "An integer or a string", "x_int_or_string")
        .also(&["int_or_string"])
    }
    /// `minLength`, in characters (Unicode scalar values).
    min_length: Option<i64> = Count "minLength" {
        .least(Measure::Characters).at_root(9, "MinLength")
        .key("min_length", &["kubebuilder:validation:MinLength"], "Least characters", "min_length = 1")
    }
    /// `maxLength`, in characters (Unicode scalar values).
    max_length: Option<i64> = Count "maxLength" {
        .most(Measure::Characters).at_root(8, "MaxLength")
        .key("max_length", &["kubebuilder:validation:MaxLength"], "Most characters", "max_length = 63")
    }
    /// `pattern`.
    pattern: Option<Pattern> = Text "pattern" {
        .role(Role::Restriction).own_diff().of(Values::Strings).merge(Merge::ApartIfUnequal).at_root(10, "Pattern")
        .words("matches the pattern ")
        .key("pattern", &["kubebuilder:validation:Pattern"],
            "Regular expression (RE2) that the text must contain a match of", r#"pattern = "^[a-z]+$""#)
        .also(&["regex"])
    }
    /// `format`.
    format: Option<String> = Text "format" {
        .role(Role::Restriction).own_diff().merge(Merge::ApartIfUnequal).at_root(2, "Format")
        .key("format", &["kubebuilder:validation:Format"],
            "Format, such as date-time, ipv4 or uuid", r#"format = "ipv4""#)
    }
    /// `minItems`.
    min_items: Option<i64> = Count "minItems" {
        .least(Measure::Items).at_root(12, "MinItems")
        .key("min_items", &["kubebuilder:validation:MinItems"], "Least items", "min_items = 1")
    }
    /// `maxItems`.
    max_items: Option<i64> = Count "maxItems" {
        .most(Measure::Items).at_root(11, "MaxItems")
        .key("max_items", &["kubebuilder:validation:MaxItems"], "Most items", "max_items = 10")
    }
    /// `uniqueItems`, which API servers refuse.
    unique_items: bool = Flag "uniqueItems" {
        .role(Role::Restriction).of(Values::Lists).at_root(13, "UniqueItems")
        .words("no item stands there twice")
        .key("unique_items", &["kubebuilder:validation:UniqueItems"],
            "Items differ (API servers refuse it in CRDs; prefer list_type = \"set\")", "unique_items")
    }
    /// `minProperties`.
    min_properties: Option<i64> = Count "minProperties" {
        .least(Measure::Properties).merge(Merge::ApartIfUnequal)
        .key("min_properties", &["kubebuilder:validation:MinProperties"],
            "Least entries of a map or struct", "min_properties = 1")
    }
    /// `maxProperties`.
    max_properties: Option<i64> = Count "maxProperties" {
        .most(Measure::Properties).merge(Merge::ApartIfUnequal)
        .key("max_properties", &["kubebuilder:validation:MaxProperties"],
            "Most entries of a map or struct", "max_properties = 8")
    }
    /// `enum`. `Some` of nothing allows no value; a schema that was read never has it.
    enum_: Option<Vec<Value>> = Values "enum" {
        .role(Role::Restriction).own_diff().merge(Merge::Intersect)
        .key("enum", &["kubebuilder:validation:Enum"], "The allowed values", r#"enum("TCP", "UDP")"#)
        .also(&["one_of", "values"])
    }
    /// `type`.
    type_: Option<String> = Text "type" {
        .at_root(1, "Type").not_in_junctors("empty").one_of(SCHEMA_TYPES)
        .key("type", &["kubebuilder:validation:Type"],
            "Type in the schema, instead of the one that follows from the Rust type", r#"type = "string""#)
        .also(&["type_"])
    }
    /// `x-kubernetes-validations`.
    validations: Vec<Rule> = Rules "x-kubernetes-validations" {
        .role(Role::Condition).merge(Merge::Before).at_root(21, "XValidations").not_in_junctors("empty")
        .key("rule", &["kubebuilder:validation:XValidation"], "A CEL rule",
            r#"rule(rule = "self.min <= self.max", message = "min must not exceed max")"#)
        .also(&["x_validation", "cel", "rules"])
    }
    /// `nullable`.
    nullable: bool = Flag "nullable" {
        .not_in_junctors("false").schema_key("nullable")
    }
    /// `x-kubernetes-list-type` as written.
    list_type: Option<String> = Word "x-kubernetes-list-type" {
        .role(Role::Apply).of(Values::Lists).not_in_junctors("undefined")
        .one_of(&["atomic", "set", "map"]).schema_key("list_type")
    }
    /// `x-kubernetes-list-map-keys`.
    list_map_keys: Vec<String> = Texts "x-kubernetes-list-map-keys" {
        .role(Role::Apply).of(Values::Lists).not_in_junctors("empty").schema_key("list_map_key")
    }
    /// `x-kubernetes-map-type` as written.
    map_type: Option<String> = Word "x-kubernetes-map-type" {
        .role(Role::Apply).of(Values::Objects).not_in_junctors("undefined")
        .one_of(&["atomic", "granular"]).schema_key("map_type")
    }
    /// `x-kubernetes-embedded-resource`.
    embedded_resource: bool = Flag "x-kubernetes-embedded-resource" {
        .of(Values::Objects).not_in_junctors("false").schema_key("embedded_resource")
        .key("x_embedded_resource", &["kubebuilder:validation:XEmbeddedResource"],
            "A complete object with apiVersion, kind and metadata", "x_embedded_resource")
    }
    /// `x-kubernetes-preserve-unknown-fields`; see [`Schema::refused`] for `false`.
    preserve_unknown_fields: bool = Flag "x-kubernetes-preserve-unknown-fields" {
        .of(Values::Objects).at_root(20, "XPreserveUnknownFields").not_in_junctors("false")
        .schema_key("preserve_unknown_fields").words("fields that are not described here are kept")
        .key("x_preserve_unknown_fields", &["kubebuilder:validation:XPreserveUnknownFields"],
            "Fields that the schema does not name are kept", "x_preserve_unknown_fields")
    }
    /// `externalDocs`.
    external_docs: Option<ExternalDocs> = Docs "externalDocs" {
        .role(Role::Documentation).at_root(18, "ExternalDocs").schema_key("external_docs")
    }
    /// `default`.
    default: Option<Value> = Any "default" {
        .not_in_junctors("undefined").schema_key("default")
    }
    /// `example`.
    example: Option<Value> = Any "example" {
        .role(Role::Documentation).at_root(19, "Example").schema_key("example").words("for example ")
    }
    /// `required`.
    required: Names = Texts "required" {
        .role(Role::Condition).merge(Merge::Union).at_root(15, "Required")
    }
    /// `properties`. Shared, since the schema of a type stands wherever the type does.
    properties: BTreeMap<String, Arc<Schema>> = Properties "properties" {
        .merge(Merge::Own).at_root(17, "Properties")
    }
    /// `additionalProperties`.
    additional_properties: Option<Additional> = Additional "additionalProperties" {
        .not_in_junctors("undefined")
    }
    /// `items`.
    items: Option<Box<Schema>> = Schema "items" {
        .merge(Merge::Own).of(Values::Lists).at_root(16, "Items")
        .key("items", &[], "Constraints of the items of a list; nests for lists of lists", "items(min_length = 1)")
    }
    /// `allOf`.
    all_of: Vec<Schema> = Schemas "allOf" {}
    /// `anyOf`.
    any_of: Vec<Schema> = Schemas "anyOf" {}
    /// `oneOf`.
    one_of: Vec<Schema> = Schemas "oneOf" {}
    /// `not`.
    not: Option<Box<Schema>> = Schema "not" { .role(Role::Condition).merge(Merge::Own) }
}
