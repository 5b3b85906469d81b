//! The compared form of definitions: values, and the structural schemas of their versions.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::structural::{Additional, Schema, SchemaError};
use serde_json::Value;

/// Definitions by their names, which consist of plural and group.
pub type Definitions = BTreeMap<String, Definition>;

/// A definition.
#[derive(Clone, Debug)]
pub struct Definition {
    /// `widgets.example.com`
    pub name: String,
    /// The whole definition in [`canonical`](super::canonical()) form.
    pub object: Value,
    /// Its versions, by their names.
    pub versions: Vec<Version>,
    /// Versions in which objects may be stored, beside the storage version: `status.storedVersions`.
    pub stored: Vec<String>,
    /// Whether a webhook converts although the definition names none: kustomize often adds it.
    pub is_converted: bool,
}

/// A version of a definition.
#[derive(Clone, Debug)]
pub struct Version {
    /// `v1`
    pub name: String,
    /// Its index in the list of versions as written.
    pub at: usize,
    /// Whether it is served.
    pub served: bool,
    /// Whether objects are stored in it.
    pub storage: bool,
    /// The whole version.
    pub value: Value,
    /// Its schema; one that keeps everything if the definition preserves unknown fields.
    pub schema: Schema,
}

impl Definition {
    /// Parses a canonical definition. `order` is the index of each of its versions as written.
    ///
    /// # Errors
    /// Returns an error if a schema is malformed.
    pub fn new(object: Value, order: &[usize], stored: Vec<String>) -> Result<Self, SchemaError> {
        let text = |path: &str| object.pointer(path).and_then(Value::as_str).unwrap_or_default();
        let name = format!("{}.{}", text("/spec/names/plural"), text("/spec/group"));
        let keeps_all = object.pointer("/spec/preserveUnknownFields") == Some(&Value::Bool(true));
        let list = object.pointer("/spec/versions").and_then(Value::as_array);
        let mut versions = Vec::new();
        for (number, value) in list.into_iter().flatten().enumerate() {
            let is = |key: &str| value[key] == Value::Bool(true);
            let schema = match value.pointer("/schema/openAPIV3Schema") {
                Some(schema) => Schema::enforced(schema)?,
                None => Schema::of_type("object"),
            };
            versions.push(Version {
                name: value["name"].as_str().unwrap_or_default().to_owned(),
                at: order.get(number).copied().unwrap_or(number),
                served: is("served"),
                storage: is("storage"),
                value: value.clone(),
                schema: if keeps_all { kept(schema) } else { schema },
            });
        }
        Ok(Self { name, object, versions, stored, is_converted: false })
    }

    /// Returns the version of this name.
    pub fn version(&self, name: &str) -> Option<&Version> {
        self.versions.iter().find(|version| version.name == name)
    }

    /// Returns the storage version.
    pub fn storage(&self) -> Option<&Version> {
        self.versions.iter().find(|version| version.storage)
    }

    /// Reports whether a webhook converts between versions.
    pub fn has_webhook(&self) -> bool {
        self.is_converted
            || self.object.pointer("/spec/conversion/strategy").is_some_and(|strategy| strategy == "Webhook")
    }

    /// Returns a text of the definition; empty if it is absent.
    pub(super) fn text(&self, path: &str) -> &str {
        self.object.pointer(path).and_then(Value::as_str).unwrap_or_default()
    }

    /// Returns the texts of a list of the definition.
    pub(super) fn texts(&self, path: &str) -> Vec<&str> {
        let list = self.object.pointer(path).and_then(Value::as_array);
        list.into_iter().flatten().filter_map(Value::as_str).collect()
    }
}

/// Returns the schema without pruning, as `spec.preserveUnknownFields` of old definitions requires.
fn kept(mut schema: Schema) -> Schema {
    if matches!(schema.type_name(), "" | "object") && schema.additional_properties.is_none() {
        schema.preserve_unknown_fields = true;
    }
    for below in schema.properties.values_mut() {
        *below = kept(Arc::unwrap_or_clone(std::mem::take(below))).into();
    }
    schema.items = schema.items.map(|items| Box::new(kept(*items)));
    schema.additional_properties = schema.additional_properties.map(|values| match values {
        Additional::Schema(values) => Additional::Schema(Box::new(kept(*values))),
        any => any,
    });
    schema
}
