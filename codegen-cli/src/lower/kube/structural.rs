//! Converts a rewritten JSON Schema to the schema of a definition. It replaces forms that API servers refuse:
//! lists with different items, several types, maps by patterns, properties beside the schema of all others.

use std::sync::Arc;

use kubesmith_apiextensions::schema::{KEYWORDS, Keyword, Kind, Values};
use serde_json::{Map, Value};

use super::pieces;
use crate::schema::{Additional, Junction, Number, Schema, close, union, unit};

/// The schema as data. As in kube, keywords that `JSONSchemaProps` lacks are dropped.
pub(super) fn schema(value: Value) -> Schema {
    convert(value, Position::Value)
}

/// The position of a schema.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Position {
    /// A schema that describes a value and needs a type.
    Value,
    /// A schema that restricts a value described elsewhere.
    Branch,
}

fn convert(mut value: Value, position: Position) -> Schema {
    let mut members = std::mem::take(pieces::object(&mut value));
    if let Some(joined) = several_types(&mut members, position) {
        return joined;
    }
    let mut out = base(&members);
    bounds(&members, &mut out);
    items(&mut members, position, &mut out);
    properties(&mut members, position, &mut out);
    branches(&mut members, &mut out);
    if position == Position::Value {
        open(&members, &mut out);
        mend_all_of(&mut out);
        if !out.properties.is_empty() {
            close(&mut out);
        }
    }
    out
}

/// The keywords that stay unchanged.
fn base(members: &Map<String, Value>) -> Schema {
    let mut out = Schema::default();
    let is_plain = |keyword: &&Keyword| match keyword.kind {
        // These are converted; see `items`, `properties` and `branches`.
        Kind::Schema | Kind::Schemas | Kind::Properties | Kind::Additional => false,
        // See `bounds`.
        _ => !matches!(keyword.of, Some(Values::Numbers)) && keyword.name != "uniqueItems",
    };
    for keyword in KEYWORDS.iter().filter(is_plain) {
        if let Some(value) = members.get(keyword.name).filter(|value| !value.is_null()) {
            // A keyword of the wrong kind does not affect the others.
            let _ = keyword.set(&mut out, value);
        }
    }
    out.required.sort();
    // kube silently ignores keywords that it does not set.
    out.refused.clear();
    out
}

/// Converts bounds: numbers with a flag for strictness in OpenAPI 3.0, strict and other numbers in JSON
/// Schema.
fn bounds(members: &Map<String, Value>, out: &mut Schema) {
    let plain = |number: &serde_json::Number| Number::from(number.clone()).plain();
    let number = |key: &str| members.get(key).and_then(Value::as_number).map(plain);
    (out.minimum, out.maximum) = (number("minimum"), number("maximum"));
    out.multiple_of = number("multipleOf");
    match members.get("exclusiveMinimum") {
        Some(Value::Bool(strict)) => out.exclusive_minimum = *strict,
        Some(Value::Number(bound)) => (out.minimum, out.exclusive_minimum) = (Some(plain(bound)), true),
        _ => {}
    }
    match members.get("exclusiveMaximum") {
        Some(Value::Bool(strict)) => out.exclusive_maximum = *strict,
        Some(Value::Number(bound)) => (out.maximum, out.exclusive_maximum) = (Some(plain(bound)), true),
        _ => {}
    }
}

/// Converts the items of a list to one schema.
fn items(members: &mut Map<String, Value>, position: Position, out: &mut Schema) {
    let items = match members.remove("items") {
        Some(Value::Array(items)) => {
            let items = items.into_iter().map(|item| convert(item, Position::Value)).collect();
            Some(union(items, Junction::AnyOf).0)
        }
        Some(item) => Some(convert(item, position)),
        // A list without items still needs their schema.
        None if position == Position::Value && out.type_.as_deref() == Some("array") => Some(anything()),
        None => None,
    };
    out.items = items.map(Box::new);
}

fn properties(members: &mut Map<String, Value>, position: Position, out: &mut Schema) {
    if let Some(Value::Object(properties)) = members.remove("properties") {
        out.properties = properties
            .into_iter()
            .map(|(name, property)| (name, Arc::new(convert(property, position))))
            .collect();
    }
    out.additional_properties = match members.remove("additionalProperties") {
        Some(Value::Bool(open)) => Some(Additional::Allowed(open)),
        Some(values) => Some(Additional::Schema(Box::new(convert(values, position)))),
        None => None,
    };
    // API servers have no patterns of keys; the union of their schemas applies to all keys.
    if let Some(Value::Object(patterns)) = members.remove("patternProperties") {
        let values = patterns.into_iter().map(|(_, values)| convert(values, position)).collect();
        let values = union(values, Junction::AnyOf).0;
        out.additional_properties = Some(Additional::Schema(Box::new(values)));
    }
    let is_closed = out.additional_properties == Some(Additional::Allowed(false));
    if is_closed && (position == Position::Branch || !out.properties.is_empty()) {
        out.additional_properties = None;
    }
}

fn branches(members: &mut Map<String, Value>, out: &mut Schema) {
    let mut list = |key: &str| match members.remove(key) {
        Some(Value::Array(list)) => {
            list.into_iter().map(|branch| convert(branch, Position::Branch)).collect()
        }
        _ => Vec::new(),
    };
    (out.all_of, out.any_of, out.one_of) = (list("allOf"), list("anyOf"), list("oneOf"));
    out.not = members.remove("not").map(|not| Box::new(convert(not, Position::Branch)));
}

/// Opens a schema without a type, or restricts it to null.
fn open(members: &Map<String, Value>, out: &mut Schema) {
    if out.type_.is_some() || out.int_or_string || out.preserve_unknown_fields {
        return;
    }
    if out.enum_.as_deref() == Some(&[Value::Null]) {
        *out = Schema { description: out.description.take(), title: out.title.take(), ..unit() };
        return;
    }
    let says_nothing = |key: &str| {
        matches!(
            key,
            "description"
                | "title"
                | "default"
                | "example"
                | "nullable"
                | "deprecated"
                | "readOnly"
                | "writeOnly"
        )
    };
    if members.keys().all(|key| says_nothing(key))
        && out.properties.is_empty()
        && out.additional_properties.is_none()
        && out.items.is_none()
    {
        out.preserve_unknown_fields = true;
    }
}

/// Repairs two flattened enums in `allOf`: properties move out of the branches.
fn mend_all_of(out: &mut Schema) {
    let mut all_of = std::mem::take(&mut out.all_of);
    for branch in &mut all_of {
        branch.type_ = None;
        branch.description = None;
        for (name, property) in std::mem::take(&mut branch.properties) {
            out.properties.entry(name).or_insert(property);
        }
    }
    all_of.retain(|branch| !branch.is_empty());
    out.all_of = all_of;
}

/// A value of one of several types.
fn several_types(members: &mut Map<String, Value>, position: Position) -> Option<Schema> {
    let Some(Value::Array(types)) = members.get("type").cloned() else { return None };
    members.remove("type");
    let alternatives = types.iter().filter_map(Value::as_str).map(|name| {
        let mut alternative = members.clone();
        alternative.insert("type".to_string(), name.into());
        for (concerns, key) in
            [("array", "items"), ("object", "properties"), ("string", "pattern"), ("string", "format")]
        {
            if concerns != name {
                alternative.remove(key);
            }
        }
        convert(Value::Object(alternative), position)
    });
    Some(union(alternatives.collect(), Junction::AnyOf).0)
}

fn anything() -> Schema {
    Schema { preserve_unknown_fields: true, ..Schema::default() }
}
