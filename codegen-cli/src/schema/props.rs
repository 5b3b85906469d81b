//! The structural part of OpenAPI v3 that a CustomResourceDefinition uses.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::{Number, Value};

/// `JSONSchemaProps` of apiextensions/v1. The serialised names are the API's.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[allow(missing_docs, reason = "the names are those of JSONSchemaProps")]
pub struct Schema {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub type_: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub format: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub default: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub example: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub external_docs: Option<ExternalDocs>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub maximum: Option<Number>,
    #[serde(skip_serializing_if = "is_false")]
    pub exclusive_maximum: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub minimum: Option<Number>,
    #[serde(skip_serializing_if = "is_false")]
    pub exclusive_minimum: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub multiple_of: Option<Number>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_length: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_length: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pattern: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_items: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_items: Option<u64>,
    #[serde(skip_serializing_if = "is_false")]
    pub unique_items: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_properties: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_properties: Option<u64>,
    #[serde(rename = "enum", skip_serializing_if = "Option::is_none")]
    pub enum_: Option<Vec<Value>>,
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub required: BTreeSet<String>,
    // Shared, since a type's schema stands wherever the type does.
    #[serde(skip_serializing_if = "BTreeMap::is_empty", with = "shared")]
    pub properties: BTreeMap<String, Arc<Schema>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub additional_properties: Option<Additional>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub items: Option<Box<Schema>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub all_of: Vec<Schema>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub any_of: Vec<Schema>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub one_of: Vec<Schema>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub not: Option<Box<Schema>>,
    #[serde(skip_serializing_if = "is_false")]
    pub nullable: bool,
    #[serde(rename = "x-kubernetes-embedded-resource", skip_serializing_if = "is_false")]
    pub embedded_resource: bool,
    #[serde(rename = "x-kubernetes-int-or-string", skip_serializing_if = "is_false")]
    pub int_or_string: bool,
    #[serde(rename = "x-kubernetes-list-map-keys", skip_serializing_if = "Vec::is_empty")]
    pub list_map_keys: Vec<String>,
    #[serde(rename = "x-kubernetes-list-type", skip_serializing_if = "Option::is_none")]
    pub list_type: Option<String>,
    #[serde(rename = "x-kubernetes-map-type", skip_serializing_if = "Option::is_none")]
    pub map_type: Option<String>,
    #[serde(rename = "x-kubernetes-preserve-unknown-fields", skip_serializing_if = "is_false")]
    pub preserve_unknown_fields: bool,
    #[serde(rename = "x-kubernetes-validations", skip_serializing_if = "Vec::is_empty")]
    pub validations: Vec<Rule>,
}

fn is_false(value: &bool) -> bool {
    !value
}

/// Properties as if they were not shared.
mod shared {
    use serde::{Deserializer, Serializer};

    use super::{Arc, BTreeMap, Deserialize, Schema};

    pub(super) fn serialize<S: Serializer>(
        properties: &BTreeMap<String, Arc<Schema>>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        serializer.collect_map(properties.iter().map(|(name, schema)| (name, schema.as_ref())))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<BTreeMap<String, Arc<Schema>>, D::Error> {
        let properties = BTreeMap::<String, Schema>::deserialize(deserializer)?;
        Ok(properties.into_iter().map(|(name, schema)| (name, Arc::new(schema))).collect())
    }
}

/// `additionalProperties`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Additional {
    /// `true` or `false`.
    Allowed(bool),
    /// Schema of the values.
    Schema(Box<Schema>),
}

/// `externalDocs`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[allow(missing_docs, reason = "the names are those of ExternalDocumentation")]
pub struct ExternalDocs {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
}

/// A CEL rule.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[allow(missing_docs, reason = "the names are those of ValidationRule")]
pub struct Rule {
    pub rule: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message_expression: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub field_path: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub optional_old_self: Option<bool>,
}

impl Schema {
    /// A schema of nothing but a type.
    pub fn of_type(type_: &str) -> Self {
        Self { type_: Some(type_.to_string()), ..Self::default() }
    }

    /// A type with a format.
    pub fn formatted(type_: &str, format: &str) -> Self {
        Self { format: Some(format.to_string()), ..Self::of_type(type_) }
    }

    /// Whether nothing is said.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
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
        let lists = self.all_of.iter_mut().chain(&mut self.any_of).chain(&mut self.one_of);
        let single = self.items.iter_mut().chain(self.not.iter_mut());
        for schema in lists {
            schema.walk_mut(f);
        }
        for schema in single {
            schema.walk_mut(f);
        }
    }

    /// The schema as JSON.
    pub fn to_value(&self) -> Value {
        // Strings, numbers and maps with string keys always have a JSON form.
        serde_json::to_value(self).unwrap_or(Value::Null)
    }
}
