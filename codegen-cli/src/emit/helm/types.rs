//! Writes JSON schemas of Kubernetes' types for `values.schema.json`. They are strict: an object has no other keys than those of
//! its type.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use crate::known;

/// Texts that Kubernetes reads as quantities that are not negative (apimachinery's `resource.ParseQuantity`).
const QUANTITY: &str = r"^\+?([0-9]+(\.[0-9]*)?|\.[0-9]+)([numkMGTPE]|[KMGTPE]i|[eE][+-]?[0-9]+)?$";

/// Limits on the number of an object's keys, by its type. Kubernetes refuses an `EnvVar` with both a value and a source, and
/// more than one source of an environment variable or volume (`pkg/apis/core/validation/validation.go`).
const LIMITS: [(&str, &str, u64); 4] = [
    ("io.k8s.api.core.v1.EnvVar", "maxProperties", 2),
    ("io.k8s.api.core.v1.EnvVarSource", "minProperties", 1),
    ("io.k8s.api.core.v1.EnvVarSource", "maxProperties", 1),
    ("io.k8s.api.core.v1.Volume", "maxProperties", 2),
];

/// The definitions that a schema refers to.
#[derive(Debug, Default)]
pub(super) struct Types {
    definitions: BTreeMap<String, Value>,
}

impl Types {
    /// The schema of a type's field, by the type's name in OpenAPI.
    pub(super) fn field(&mut self, name: &str, field: &str) -> Value {
        let schema =
            known::definition(name).map_or(&Value::Null, |definition| &definition["properties"][field]);
        self.schema(schema)
    }

    /// The member `definitions`, with one line for each, since nobody reads all of them.
    pub(super) fn text(&self) -> String {
        let lines: Vec<String> = self
            .definitions
            .iter()
            .map(|(name, schema)| format!("    {}: {schema}", Value::String(name.clone())))
            .collect();
        format!("  \"definitions\": {{\n{}\n  }}\n", lines.join(",\n"))
    }

    fn schema(&mut self, found: &Value) -> Value {
        if let Some(name) = found["$ref"].as_str() {
            return json!({"$ref": format!("#/definitions/{}", self.define(name))});
        }
        let mut out = Map::new();
        for (key, value) in found.as_object().into_iter().flatten() {
            let value = match key.as_str() {
                "type" | "required" => value.clone(),
                "items" | "additionalProperties" => self.schema(value),
                "properties" => {
                    let members = value.as_object().into_iter().flatten();
                    members.map(|(name, schema)| (name.clone(), self.schema(schema))).collect()
                }
                _ => continue,
            };
            out.insert(key.clone(), value);
        }
        if out.contains_key("properties") {
            out.insert("additionalProperties".to_string(), json!(false));
        }
        Value::Object(out)
    }

    /// Adds the definition of a type and returns its name, such as `core.v1.EnvVar`.
    fn define(&mut self, name: &str) -> String {
        let parts: Vec<&str> = name.rsplitn(4, '.').take(3).collect();
        let short = parts.into_iter().rev().collect::<Vec<_>>().join(".");
        if !self.definitions.contains_key(&short) {
            // The type may contain itself.
            self.definitions.insert(short.clone(), Value::Null);
            let schema = self.definition(name);
            self.definitions.insert(short.clone(), schema);
        }
        short
    }

    fn definition(&mut self, name: &str) -> Value {
        match name {
            "io.k8s.apimachinery.pkg.api.resource.Quantity" => {
                return json!({"type": ["string", "number"], "pattern": QUANTITY, "minimum": 0});
            }
            "io.k8s.apimachinery.pkg.util.intstr.IntOrString" => {
                return json!({"type": ["integer", "string"]});
            }
            // The template of a claim has only these (`PersistentVolumeClaimTemplate` of k8s.io/api/core/v1).
            "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta" => {
                let texts = json!({"type": "object", "additionalProperties": {"type": "string"}});
                let properties = json!({"annotations": texts, "labels": texts});
                return json!({"type": "object", "additionalProperties": false, "properties": properties});
            }
            _ => {}
        }
        let mut schema = self.schema(known::definition(name).unwrap_or(&Value::Null));
        for (_, keyword, limit) in LIMITS.iter().filter(|(limited, ..)| *limited == name) {
            schema[*keyword] = json!(limit);
        }
        schema
    }
}
