//! Validation of an object against a schema: the OpenAPI part, without CEL rules, list keys and embedded metadata.
//!
//! Order and texts are kube-apiserver's, which runs, per node: type, junctors, string, format, number, list, enum,
//! object. Fields of an object are visited by name. On update, errors in parts that equal the old object are ignored
//! (ratcheting), where an old part can be matched with a new one.

mod junctors;
mod number;
mod size;
mod text;
mod types;

#[cfg(test)]
mod tests;

use serde_json::{Map, Value};

use self::junctors::check_junctors;
use self::number::check_number;
pub use self::number::keyword_out_of_range;
use self::size::check_size;
use self::text::{check_format, check_string};
use self::types::{allowed_types, check_null, check_type};
use super::cause::{Cause, CauseKind, NO_FIELD};
use super::{golang, lists};
use crate::cel::ratchet::{is_unchanged, old_item};
use crate::formats;
use crate::schema::{Additional, Measure, Schema};

/// Validates a new object.
#[must_use]
pub fn validate(schema: &Schema, object: &Value) -> Vec<Cause> {
    validate_at("", schema, object, None)
}

/// Validates an update. It accepts invalid parts that `old` has as well.
#[must_use]
pub fn validate_update(schema: &Schema, object: &Value, old: &Value) -> Vec<Cause> {
    validate_at("", schema, object, Some(old))
}

/// Validates a part of an object. Causes name fields below `path`; their texts, like the server's, do not repeat it.
#[must_use]
pub fn validate_at(path: &str, schema: &Schema, value: &Value, old: Option<&Value>) -> Vec<Cause> {
    let mut causes = check(schema, "", value, old).causes;
    for cause in &mut causes {
        if let Some(rest) = cause.field.strip_prefix('.') {
            cause.field = rest.to_owned();
        }
        if !path.is_empty() {
            cause.field = match cause.field.as_str() {
                NO_FIELD => path.to_owned(),
                field => format!("{path}.{field}"),
            };
        }
    }
    causes
}

/// The errors of one node, and the number of checks that passed. Of alternatives that all fail, the server reports the one
/// with the most passed checks.
#[derive(Default)]
struct Outcome {
    causes: Vec<Cause>,
    passed: usize,
}

impl Outcome {
    fn fault(cause: Cause) -> Self {
        Self { causes: vec![cause], passed: 0 }
    }

    fn passed() -> Self {
        Self { causes: Vec::new(), passed: 1 }
    }

    fn add(&mut self, cause: Cause) {
        if !self.causes.contains(&cause) {
            self.causes.push(cause);
        }
    }

    fn merge(&mut self, other: Outcome) {
        self.passed += other.passed;
        for cause in other.causes {
            self.add(cause);
        }
    }

    fn step(&mut self, other: Outcome) {
        self.merge(other);
        self.passed += 1;
    }
}

fn check(schema: &Schema, path: &str, value: &Value, old: Option<&Value>) -> Outcome {
    let outcome = check_new(schema, path, value, old);
    match old {
        Some(old) if !outcome.causes.is_empty() && is_unchanged(schema, value, old) => Outcome::default(),
        _ => outcome,
    }
}

fn check_new(schema: &Schema, path: &str, value: &Value, old: Option<&Value>) -> Outcome {
    let mut outcome = Outcome::default();
    if value.is_null() {
        outcome.merge(check_null(schema, path));
        outcome.merge(check_enum(schema, path, value));
        return outcome;
    }
    if !allowed_types(schema).is_empty() || schema.format.is_some() {
        outcome.step(check_type(schema, path, value));
    }
    outcome.step(check_junctors(schema, path, value));
    match value {
        Value::String(text) => {
            outcome.step(check_string(schema, path, text));
            if schema.format.is_some() && formats::is_known(schema.format_name()) {
                outcome.step(check_format(schema, path, text));
            }
        }
        Value::Number(number) => outcome.step(check_number(schema, path, number)),
        Value::Array(items) => outcome.step(check_array(schema, path, items, old)),
        _ => {}
    }
    outcome.step(check_enum(schema, path, value));
    if let Value::Object(map) = value {
        outcome.step(check_object(schema, path, map, old));
    }
    outcome.passed += 1;
    outcome
}

fn check_array(schema: &Schema, path: &str, items: &[Value], old: Option<&Value>) -> Outcome {
    let mut outcome = Outcome::default();
    if let Some(item_schema) = &schema.items {
        let old_items = old.and_then(Value::as_array);
        for (i, item) in items.iter().enumerate() {
            let old_item = old_items.and_then(|old| old_item(schema, item, old));
            outcome.merge(check(item_schema, &format!("{path}[{i}]"), item, old_item));
        }
    }
    check_size(Measure::Items, schema, path, || items.len(), || items.len().into())
        .into_iter()
        .for_each(|cause| outcome.add(cause));
    if schema.unique_items && lists::repeated(items.iter()).next().is_some() {
        outcome.add(Cause::invalid(path, "", format!("{path} in body shouldn't contain duplicates")));
    }
    outcome.passed += 1;
    outcome
}

/// Checks a value against `enum`. Null is never one of its values (`basicCommonValidator` of kube-openapi).
fn check_enum(schema: &Schema, path: &str, value: &Value) -> Outcome {
    let allowed = schema.allowed_values();
    if allowed.is_empty() || (!value.is_null() && allowed.iter().any(|allowed| same(allowed, value))) {
        return Outcome::default();
    }
    let shown = |value: &Value| value.as_str().map_or_else(|| golang::json(value), str::to_owned);
    let supported: Vec<String> = allowed.iter().map(shown).collect();
    Outcome::fault(Cause::not_supported(path, value.clone(), &supported))
}

/// Equality of JSON values in which 1 and 1.0 are the same number.
#[must_use]
pub fn same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => a == b || a.as_f64() == b.as_f64(),
        (a, b) => a == b,
    }
}

fn check_object(schema: &Schema, path: &str, map: &Map<String, Value>, old: Option<&Value>) -> Outcome {
    let mut outcome = Outcome::default();
    check_size(Measure::Properties, schema, path, || map.len(), || map.len().into())
        .into_iter()
        .for_each(|cause| outcome.add(cause));
    let old_map = old.and_then(Value::as_object);
    let old_field = |name: &str| {
        let versioned = path.is_empty() && matches!(name, "apiVersion" | "kind");
        old_map.filter(|_| !versioned).and_then(|old| old.get(name))
    };
    for (name, value) in map.iter().filter(|(name, _)| !schema.properties.contains_key(*name)) {
        match &schema.additional_properties {
            Some(Additional::Allowed(false)) => {
                let detail = format!("{path}.{name} in body is a forbidden property");
                outcome.add(Cause::invalid(path, name.as_str(), detail));
            }
            Some(Additional::Schema(all)) => {
                outcome.merge(check(all, &format!("{path}.{name}"), value, old_field(name)));
            }
            _ => {}
        }
    }
    for (name, property) in &schema.properties {
        if let Some(value) = map.get(name) {
            let below = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
            outcome.merge(check(property, &below, value, old_field(name)));
        }
    }
    for name in schema.required.iter().filter(|name| !map.contains_key(*name)) {
        outcome.add(Cause::required(format!("{path}.{name}"), ""));
    }
    outcome
}

/// Reports whether these errors keep CEL rules from running: the cost estimate assumes other types or sizes.
#[must_use]
pub fn blocks_rules(causes: &[Cause]) -> bool {
    use CauseKind::{NotSupported, Required, TooLong, TooMany, TypeInvalid};
    causes.iter().any(|c| matches!(c.kind, NotSupported | Required | TooLong | TooMany | TypeInvalid))
}
