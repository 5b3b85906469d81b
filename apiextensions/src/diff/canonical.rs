//! Canonical forms of CustomResourceDefinitions: two with the same form are the same to an API server.

use crate::schema::{Keyword, Kind};
use serde_json::{Map, Value};

/// The annotation that names the version of kubesmith that generated a manifest.
pub const VERSION_ANNOTATION: &str = "kubesmith.dev/version";

/// Annotations that name the generator, not the API.
const MARKS: &[&str] = &[
    VERSION_ANNOTATION,
    "controller-gen.kubebuilder.io/version",
    "kubectl.kubernetes.io/last-applied-configuration",
];

/// Returns the definition without the parts that an API server fills in or owns itself: defaults are written out, empty
/// values and `false` are left out, versions are sorted by name.
#[must_use]
pub fn canonical(crd: &Value) -> Value {
    let mut out = crd.clone();
    if let Value::Object(object) = &mut out {
        object.remove("status");
    }
    metadata(&mut out);
    if let Some(spec) = out.get_mut("spec").and_then(Value::as_object_mut) {
        spec.values_mut().for_each(drop_nulls);
        self::spec(spec);
    }
    out
}

/// Reports whether the annotation names a generator.
#[must_use]
pub fn is_mark(name: &str) -> bool {
    MARKS.contains(&name)
}

fn metadata(crd: &mut Value) {
    let mut kept = Map::new();
    if let Some(metadata) = crd.get("metadata") {
        kept.insert("name".to_string(), metadata["name"].clone());
        for key in ["annotations", "labels"] {
            let Some(pairs) = metadata.get(key).and_then(Value::as_object) else { continue };
            let pairs: Map<String, Value> = pairs
                .iter()
                .filter(|(name, _)| !is_mark(name))
                .map(|(k, v)| (k.clone(), v.clone()))
                .collect();
            if !pairs.is_empty() {
                kept.insert(key.to_string(), pairs.into());
            }
        }
    }
    crd["metadata"] = kept.into();
}

/// Drops members that are null, which servers read as absent: `subresources: {status: null}` is no status subresource. In
/// schemas a null may be a value.
fn drop_nulls(value: &mut Value) {
    match value {
        Value::Object(members) => {
            members.retain(|_, value| !value.is_null());
            let kept = members.iter_mut().filter(|(key, _)| *key != "openAPIV3Schema");
            kept.for_each(|(_, value)| drop_nulls(value));
        }
        Value::Array(items) => items.iter_mut().for_each(drop_nulls),
        _ => {}
    }
}

fn spec(spec: &mut Map<String, Value>) {
    spec.remove("preserveUnknownFields");
    let is_none = spec.get("conversion").is_none_or(|conversion| {
        conversion.is_null() || (conversion["strategy"] == "None" && conversion.get("webhook").is_none())
    });
    if is_none {
        spec.remove("conversion");
    }
    if let Some(port) =
        spec.get_mut("conversion").and_then(|c| c.pointer_mut("/webhook/clientConfig/service"))
        && port["port"] == 443
        && let Some(service) = port.as_object_mut()
    {
        service.remove("port");
    }
    if let Some(Value::Object(names)) = spec.get_mut("names") {
        let kind = names.get("kind").and_then(Value::as_str).unwrap_or_default().to_string();
        names.retain(|_, value| !is_nothing(value));
        names.entry("listKind").or_insert_with(|| format!("{kind}List").into());
        names.entry("singular").or_insert_with(|| kind.to_lowercase().into());
    }
    if let Some(Value::Array(versions)) = spec.get_mut("versions") {
        versions.sort_by_key(|version| version["name"].as_str().unwrap_or_default().to_string());
        for version in versions.iter_mut().filter_map(Value::as_object_mut) {
            self::version(version);
        }
    }
}

fn version(version: &mut Map<String, Value>) {
    if let Some(schema) = version.get_mut("schema").and_then(|schema| schema.get_mut("openAPIV3Schema")) {
        *schema = clean(std::mem::take(schema));
    }
    if let Some(Value::Array(columns)) = version.get_mut("additionalPrinterColumns") {
        for column in columns.iter_mut().filter_map(Value::as_object_mut) {
            column.retain(|key, value| !is_nothing(value) && (key != "priority" || *value != 0));
        }
    }
    if version.get("subresources").is_some_and(|found| found.as_object().is_none_or(Map::is_empty)) {
        version.remove("subresources");
    }
    version.retain(|key, value| matches!(key.as_str(), "served" | "storage") || !is_nothing(value));
}

fn is_nothing(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => true,
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        _ => false,
    }
}

/// Returns a schema without keywords that have no effect.
#[must_use]
pub fn clean(schema: Value) -> Value {
    let Value::Object(members) = schema else { return schema };
    let mut out = Map::new();
    for (key, value) in members {
        let value = match Keyword::named(&key).map(|keyword| keyword.kind) {
            Some(Kind::Any) if !value.is_null() => numbers(value),
            Some(Kind::Values) if value.as_array().is_some_and(|values| !values.is_empty()) => numbers(value),
            Some(Kind::Additional) if value.is_boolean() => value,
            Some(Kind::Number) => numbers(value),
            _ if is_nothing(&value) => continue,
            Some(Kind::Schema | Kind::Additional) => clean(value),
            Some(Kind::Schemas) => match value {
                Value::Array(items) => items.into_iter().map(clean).collect(),
                other => other,
            },
            Some(Kind::Properties) => match value {
                Value::Object(found) if found.is_empty() => continue,
                Value::Object(found) => {
                    found.into_iter().map(|(name, schema)| (name, clean(schema))).collect()
                }
                other => other,
            },
            _ if key == "required" => sorted(value),
            Some(Kind::Rules) => rules(value),
            _ => value,
        };
        out.insert(key, value);
    }
    Value::Object(out)
}

fn sorted(value: Value) -> Value {
    match value {
        Value::Array(mut items) => {
            items.sort_by(|a, b| a.as_str().cmp(&b.as_str()));
            items.dedup();
            Value::Array(items)
        }
        other => other,
    }
}

fn rules(value: Value) -> Value {
    match value {
        Value::Array(rules) => {
            let rules = rules.into_iter().map(|mut rule| {
                if let Value::Object(members) = &mut rule {
                    members.retain(|key, value| key == "optionalOldSelf" || !is_nothing(value));
                }
                rule
            });
            rules.collect()
        }
        other => other,
    }
}

/// Numbers without a fraction become integers, if they fit.
fn numbers(value: Value) -> Value {
    match value {
        Value::Number(number) => match (number.as_i64(), number.as_f64()) {
            (None, Some(float)) => {
                #[allow(clippy::cast_possible_truncation, reason = "checked to be in range")]
                let whole = (float.fract() == 0.0 && float.abs() < 9e15).then(|| Value::from(float as i64));
                whole
                    .unwrap_or_else(|| serde_json::Number::from_f64(float).map_or(Value::Null, Value::Number))
            }
            _ => Value::Number(number),
        },
        Value::Array(items) => items.into_iter().map(numbers).collect(),
        Value::Object(members) => members.into_iter().map(|(key, value)| (key, numbers(value))).collect(),
        other => other,
    }
}
