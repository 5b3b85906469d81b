//! Facts as keys of attributes: those that have a key of their own, and the rest as `extra`.

use kubesmith_apiextensions::schema::{KEYWORDS, Kind, RULE_REASONS, SCHEMA_TYPES, Values};
use kubesmith_apimachinery::yaml;
use serde_json::{Map, Value};

use super::attributes::Key;
use crate::docs;
use crate::schema::{Number, Rule, Schema};

/// The values of a constraint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Number,
    Text,
    Boolean,
    List,
    Object,
    /// Any of several types.
    Any,
}

impl Form {
    fn of(schema: &Schema) -> Self {
        match schema.type_.as_deref() {
            _ if schema.int_or_string => Self::Any,
            Some("string") => Self::Text,
            Some("integer" | "number") => Self::Number,
            Some("boolean") => Self::Boolean,
            Some("array") => Self::List,
            Some("object") => Self::Object,
            _ => Self::Any,
        }
    }
}

impl Form {
    /// Whether a keyword for these values restricts this form.
    fn admits(self, of: Values) -> bool {
        matches!(
            (self, of),
            (Self::Any, _)
                | (Self::Number, Values::Numbers)
                | (Self::Text, Values::Strings)
                | (Self::List, Values::Lists)
                | (Self::Object, Values::Objects)
        )
    }
}

/// The position of attributes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum On {
    Field,
    Type,
}

/// Documentation and attributes of a field or type.
#[derive(Clone, Debug, Default)]
pub(super) struct Annotations {
    /// Lines of documentation.
    pub(super) docs: Vec<String>,
    /// Keys of `#[validation]`.
    pub(super) validation: Vec<Key>,
    /// Keys of `#[schema]`.
    pub(super) schema: Vec<Key>,
}

/// Turns facts into documentation and keys; `whole` is the schema that they come from.
pub(super) fn annotations(facts: &Schema, whole: &Schema, on: On) -> Annotations {
    let mut rest = facts.clone();
    let mut out = Annotations::default();
    if let Some(text) = rest.description.take() {
        match documentation(&text) {
            Some(lines) => out.docs = lines,
            None => out.schema.push(Key::text("description", &text)),
        }
    }
    out.validation = constraints(&mut rest, whole);
    schema_keys(&mut rest, Form::of(whole), on, &mut out.schema);
    if let Value::Object(extra) = rest.to_value()
        && !extra.is_empty()
    {
        out.schema.push(Key::Json("extra".to_string(), Value::Object(extra)));
    }
    out
}

/// The lines of the doc comment that gives this description, if one exists.
pub(super) fn documentation(text: &str) -> Option<Vec<String>> {
    let lines: Vec<String> = text.split('\n').map(str::to_string).collect();
    let is_marker = |line: &String| {
        let mut chars = line.trim_start().chars();
        chars.next() == Some('+') && chars.next().is_some_and(|c| c.is_ascii_alphabetic())
    };
    let is_odd =
        |line: &String| line.chars().any(|c| yaml::is_hidden(c) && c != '\t') || line.trim_end() != line;
    if lines.iter().any(|line| is_marker(line) || is_odd(line)) {
        return None;
    }
    let given = docs::description(lines.iter().map(String::as_str));
    (given.as_deref() == Some(text)).then_some(lines)
}

/// Takes the facts that `#[validation]` has keys for.
fn constraints(rest: &mut Schema, whole: &Schema) -> Vec<Key> {
    let form = Form::of(whole);
    let bounds = [&rest.minimum, &rest.maximum, &rest.multiple_of];
    // API servers also accept fractions as bounds of integers, which have no keys.
    let is_number = !whole.is_type("integer") || bounds.into_iter().flatten().all(Number::is_whole);
    let (has_minimum, has_maximum) = (rest.minimum.is_some(), rest.maximum.is_some());
    let mut out = Vec::new();
    for keyword in KEYWORDS.iter().filter(|keyword| keyword.schema_key.is_none()) {
        let Some(attribute) = keyword.attribute.filter(|_| keyword.is_set(rest)) else { continue };
        let has_key = match keyword.name {
            // The keys need their bounds beside them.
            "exclusiveMinimum" => is_number && has_minimum,
            "exclusiveMaximum" => is_number && has_maximum,
            "minimum" | "maximum" | "multipleOf" => is_number,
            "type" => SCHEMA_TYPES.contains(&rest.type_name()),
            "enum" => is_distinct(rest.allowed_values()),
            "x-kubernetes-validations" => rest.validations.iter().all(is_plain),
            _ => true,
        };
        if !has_key || keyword.of.is_some_and(|of| !form.admits(of)) {
            continue;
        }
        match keyword.kind {
            Kind::Rules => out.extend(rest.validations.iter().map(rule)),
            Kind::Schema => match items(rest, whole) {
                Some(key) => out.push(key),
                None => continue,
            },
            // The type comes before the keys that depend on it.
            _ if keyword.name == "type" => out.insert(0, key(attribute.name, keyword.value(rest))),
            _ => out.push(key(attribute.name, keyword.value(rest))),
        }
        keyword.clear(rest);
    }
    out
}

fn key(name: &str, value: Value) -> Key {
    match value {
        Value::String(text) => Key::text(name, &text),
        Value::Number(number) => Key::number(name, &number),
        Value::Array(values) => {
            let literals = values.iter().map(|value| Key::Plain(super::attributes::json(value)));
            Key::List(name.to_string(), literals.collect())
        }
        _ => Key::Plain(name.to_string()),
    }
}

/// `items(...)`, if constraints express the whole schema of the items; a split schema would be harder to
/// read.
fn items(rest: &Schema, whole: &Schema) -> Option<Key> {
    let items = rest.items.as_deref()?;
    let mut inner = items.clone();
    let keys = constraints(&mut inner, whole.items.as_deref().unwrap_or(items));
    (inner.is_empty() && !keys.is_empty()).then(|| Key::List("items".to_string(), keys))
}

fn is_distinct(values: &[Value]) -> bool {
    values.iter().enumerate().all(|(at, value)| !values[..at].contains(value))
}

/// Whether a rule's members have keys.
fn is_plain(rule: &Rule) -> bool {
    rule.reason.as_deref().is_none_or(|reason| RULE_REASONS.contains(&reason)) && !rule.rule.is_empty()
}

fn rule(rule: &Rule) -> Key {
    let mut keys = vec![Key::text("rule", &rule.rule)];
    let texts = [
        ("message", &rule.message),
        ("message_expression", &rule.message_expression),
        ("reason", &rule.reason),
        ("field_path", &rule.field_path),
    ];
    for (name, text) in texts {
        keys.extend(text.as_ref().map(|text| Key::text(name, text)));
    }
    match rule.optional_old_self {
        Some(true) => keys.push(Key::Plain("optional_old_self".to_string())),
        Some(false) => keys.push(Key::Plain("optional_old_self = false".to_string())),
        None => {}
    }
    Key::List("rule".to_string(), keys)
}

/// Takes the facts that `#[schema]` has keys for.
fn schema_keys(rest: &mut Schema, form: Form, on: On, out: &mut Vec<Key>) {
    let is_field = on == On::Field;
    if is_field {
        if std::mem::take(&mut rest.nullable) {
            out.push(Key::Plain("nullable".to_string()));
        }
        out.extend(rest.default.take().map(|value| value_key("default", value)));
        out.extend(rest.example.take().map(|value| value_key("example", value)));
        if std::mem::take(&mut rest.embedded_resource) {
            out.push(Key::Plain("embedded_resource".to_string()));
        }
    }
    out.extend(rest.title.take().map(|title| Key::text("title", &title)));
    if matches!(form, Form::List | Form::Any) {
        let is_known = |ty: &String| matches!(ty.as_str(), "atomic" | "set" | "map");
        let has_keys = !rest.list_map_keys.is_empty();
        if rest.list_type.as_ref().is_some_and(|ty| is_known(ty) && (ty == "map") == has_keys) {
            out.extend(rest.list_type.take().map(|ty| Key::text("list_type", &ty)));
            out.extend(
                std::mem::take(&mut rest.list_map_keys).iter().map(|key| Key::text("list_map_key", key)),
            );
        }
    }
    if matches!(form, Form::Object | Form::Any) {
        let name = if is_field { "map_type" } else { "struct_type" };
        if rest.map_type.as_ref().is_some_and(|ty| matches!(ty.as_str(), "granular" | "atomic")) {
            out.extend(rest.map_type.take().map(|ty| Key::text(name, &ty)));
        }
        if std::mem::take(&mut rest.preserve_unknown_fields) {
            out.push(Key::Plain("preserve_unknown_fields".to_string()));
        }
    }
}

fn value_key(name: &str, value: Value) -> Key {
    match value {
        Value::Object(_) | Value::Array(_) => Key::Json(name.to_string(), value),
        // rustfmt misreads attributes with a minus sign.
        Value::Number(ref number) if number.as_f64().is_some_and(|number| number < 0.0) => {
            Key::Json(name.to_string(), value)
        }
        _ => Key::Plain(format!("{name} = {}", super::attributes::json(&value))),
    }
}

/// Members that one object literal expresses completely.
pub(super) fn object(members: impl IntoIterator<Item = (String, Value)>) -> Value {
    Value::Object(members.into_iter().collect::<Map<_, _>>())
}
