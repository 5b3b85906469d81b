//! Converts definitions of `v1beta1` to `v1`, as API servers did.

use kubesmith_core::diag::Code;
use serde_json::{Map, Value, json};

use super::Reader;

/// A member whose position in the text differs from that in the converted definition.
#[derive(Clone, Debug)]
pub(super) struct Moved {
    here: Vec<String>,
    there: Vec<String>,
}

impl Moved {
    fn new(here: &[&str], there: &[&str]) -> Self {
        let owned = |path: &[&str]| path.iter().map(ToString::to_string).collect();
        Self { here: owned(here), there: owned(there) }
    }

    /// Maps a path of the converted definition to the text, if it is below the moved member.
    pub(super) fn written(&self, path: &[String]) -> Option<Vec<String>> {
        let below = path.strip_prefix(self.here.as_slice())?;
        Some(self.there.iter().chain(below).cloned().collect())
    }
}

/// Members of `spec` that `v1` has in each version, and their names there.
const PER_VERSION: &[(&str, &str)] = &[
    ("validation", "schema"),
    ("subresources", "subresources"),
    ("additionalPrinterColumns", "additionalPrinterColumns"),
];

impl Reader<'_, '_> {
    /// Converts `v1beta1` to `v1`.
    pub(super) fn convert(&mut self, value: &mut Value) {
        let help = "API servers since 1.22 take v1 only; what is generated is v1";
        self.warn(&["apiVersion"], Code::CONVERTED, "the definition is v1beta1 and is converted to v1", help);
        value["apiVersion"] = "apiextensions.k8s.io/v1".into();
        let Some(spec) = value.get_mut("spec").and_then(Value::as_object_mut) else { return };
        let keeps = spec.remove("preserveUnknownFields") != Some(Value::Bool(false));
        let mut versions = self.versions(spec);
        let shared: Vec<(&str, &str, Value)> =
            PER_VERSION.iter().filter_map(|(from, to)| Some((*from, *to, spec.remove(*from)?))).collect();
        for (at, version) in versions.iter_mut().enumerate() {
            let Some(version) = version.as_object_mut() else { continue };
            self.spread(version, at, &shared);
            complete(version, keeps);
        }
        spec.insert("versions".to_string(), versions.into());
        if !spec.contains_key("scope") {
            spec.insert("scope".to_string(), "Namespaced".into());
        }
        conversion(spec);
        if keeps {
            let message = "v1beta1 keeps unknown fields unless it says otherwise; the schemas now say so";
            let help = "set `preserveUnknownFields: false` in the definition before, if all fields are known";
            self.warn(&["spec"], Code::CONVERTED, message, help);
        }
    }

    /// The list of versions; a single `version` is served and stored.
    fn versions(&mut self, spec: &mut Map<String, Value>) -> Vec<Value> {
        let name = spec.remove("version");
        match spec.remove("versions") {
            Some(Value::Array(versions)) if !versions.is_empty() => versions,
            _ => {
                self.place.moved.push(Moved::new(&["spec", "versions", "0", "name"], &["spec", "version"]));
                vec![json!({"name": name, "served": true, "storage": true})]
            }
        }
    }

    /// Copies the members shared by all versions into a version that lacks them.
    fn spread(&mut self, version: &mut Map<String, Value>, at: usize, shared: &[(&str, &str, Value)]) {
        let at = at.to_string();
        for (from, to, value) in shared {
            if !version.contains_key(*to) {
                version.insert((*to).to_string(), value.clone());
                self.place.moved.push(Moved::new(&["spec", "versions", &at, to], &["spec", from]));
            }
        }
    }
}

/// Fills in the members that `v1` requires.
fn complete(version: &mut Map<String, Value>, keeps: bool) {
    let schema = version.entry("schema").or_insert_with(|| json!({}));
    if let Value::Object(schema) = schema {
        let root = schema.entry("openAPIV3Schema").or_insert(Value::Null);
        if root.is_null() {
            *root = json!({});
        }
        if let Value::Object(members) = root {
            members.entry("type").or_insert_with(|| "object".into());
        }
        if keeps {
            keep(root);
        }
    }
    if let Some(Value::Array(columns)) = version.get_mut("additionalPrinterColumns") {
        for column in columns.iter_mut().filter_map(Value::as_object_mut) {
            if let Some(path) = column.remove("JSONPath") {
                column.insert("jsonPath".to_string(), path);
            }
        }
    }
}

/// Keeps unknown fields of every object: in `v1`, the keyword covers the fields of one object, not those
/// below them.
fn keep(schema: &mut Value) {
    let Value::Object(members) = schema else { return };
    for (key, below) in members.iter_mut() {
        match (key.as_str(), below) {
            ("properties", Value::Object(fields)) => fields.values_mut().for_each(keep),
            ("items" | "additionalProperties", below) => keep(below),
            _ => {}
        }
    }
    if members.get("type").is_some_and(|type_| type_ == "object")
        && !members.contains_key("additionalProperties")
    {
        members.insert("x-kubernetes-preserve-unknown-fields".to_string(), true.into());
    }
}

fn conversion(spec: &mut Map<String, Value>) {
    let Some(Value::Object(conversion)) = spec.get_mut("conversion") else { return };
    let (client, versions) =
        (conversion.remove("webhookClientConfig"), conversion.remove("conversionReviewVersions"));
    if let Some(client) = client {
        let versions = versions.unwrap_or_else(|| json!(["v1beta1"]));
        let webhook = json!({"clientConfig": client, "conversionReviewVersions": versions});
        conversion.insert("webhook".to_string(), webhook);
    }
}
