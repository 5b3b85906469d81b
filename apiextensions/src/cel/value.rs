//! Values at run time, and their conversion from JSON.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::Arc;

use base64::Engine;
use kubesmith_apimachinery::golang;
use kubesmith_apimachinery::quantity::Quantity;
use serde_json::Value as Json;

use super::access::{AccessDecision, Question};
use super::message::Message;
use super::moment::Moment;
use super::native::{Entries, Form};
use super::semver::Semver;
use super::types::escape;
use super::url::Url;
use crate::formats::parse_duration;
use crate::schema::{Additional, ListType, Schema};

/// A value.
#[derive(Clone, Debug)]
pub(super) enum Value {
    Null,
    Bool(bool),
    Int(i64),
    Uint(u64),
    Double(f64),
    String(Arc<str>),
    Bytes(Arc<[u8]>),
    Timestamp(Moment),
    /// A duration in nanoseconds.
    Duration(i64),
    List(Arc<List>),
    Map(Arc<Entries>),
    /// Fields by their escaped names.
    Object(Arc<BTreeMap<String, Value>>),
    /// An object that an expression constructed.
    Message(Arc<Message>),
    /// The variables of a [`Session`](super::Session), each evaluated when it is first used.
    Variables,
    Optional(Option<Arc<Value>>),
    Type(Arc<str>),
    Quantity(Arc<Quantity>),
    Url(Arc<Url>),
    Ip(IpAddr),
    Cidr(IpAddr, u8),
    Semver(Arc<Semver>),
    Format(&'static str),
    /// A question to an authorizer.
    Question(Arc<Question>),
    Decision(Arc<AccessDecision>),
    /// A value that the type of its schema does not have. Expressions that read it fail with this text.
    Unreadable(Arc<str>),
}

/// A list with its list type, which decides how it compares and joins: order does not matter in sets and list maps.
#[derive(Clone, Debug)]
pub(super) struct List {
    pub(super) items: Vec<Value>,
    pub(super) kind: ListKind,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum ListKind {
    Atomic(Form),
    Set,
    Map(Arc<[String]>),
}

impl ListKind {
    pub(super) fn form(&self) -> Form {
        if let Self::Atomic(form) = self { *form } else { Form::Read }
    }
}

/// The key of a map.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Key {
    Bool(bool),
    /// An int and a uint of the same number are the same key.
    Int(i128),
    String(Arc<str>),
}

impl Key {
    pub(super) fn of(value: &Value) -> Option<Self> {
        Some(match value {
            Value::Bool(b) => Self::Bool(*b),
            Value::Int(i) => Self::Int(i128::from(*i)),
            Value::Uint(u) => Self::Int(i128::from(*u)),
            #[expect(clippy::cast_possible_truncation, reason = "whole numbers within the range of keys")]
            Value::Double(f) if f.fract() == 0.0 && f.abs() < 1e18 => Self::Int(*f as i128),
            Value::String(s) => Self::String(s.clone()),
            _ => return None,
        })
    }

    pub(super) fn value(&self) -> Value {
        match self {
            Self::Bool(b) => Value::Bool(*b),
            Self::Int(i) => match (i64::try_from(*i), u64::try_from(*i)) {
                (Ok(i), _) => Value::Int(i),
                (_, Ok(u)) => Value::Uint(u),
                _ => Value::Null,
            },
            Self::String(s) => Value::String(s.clone()),
        }
    }
}

/// A value of the format `date-time`. The check of formats takes times that Go does not read: small letters, and any sign
/// before a fraction. The error is that of the layout that `ParseDateTime` of kube-openapi's strfmt tries last.
fn date_time(text: &str) -> Value {
    let readable = !text.contains(|c: char| c.is_ascii_lowercase());
    // Go reads a comma before a fraction, too.
    if let Some(moment) = Moment::parse(&text.replacen(',', ".", 1)).filter(|_| readable) {
        return Value::Timestamp(moment);
    }
    let reason = match text.get(10..).unwrap_or_default() {
        rest if !rest.starts_with('T') => {
            format!(r#" as "2006-01-02T15:04:05": cannot parse {} as "T""#, golang::quote(rest))
        }
        rest => {
            let seconds = rest.get(9..).unwrap_or_default();
            let fraction = seconds.strip_prefix(['.', ',']).unwrap_or_default();
            let zone = match fraction.trim_start_matches(|c: char| c.is_ascii_digit()) {
                zone if zone.len() < fraction.len() => zone,
                _ => seconds,
            };
            format!(": extra text: {}", golang::quote(zone))
        }
    };
    Value::unreadable(format!(
        "Invalid date-time formatted string {text}: parsing time {}{reason}",
        golang::quote(text)
    ))
}

impl Value {
    pub(super) fn string(text: impl AsRef<str>) -> Self {
        Self::String(Arc::from(text.as_ref()))
    }

    pub(super) fn list(items: Vec<Value>) -> Self {
        Self::list_of(items, Form::Written)
    }

    pub(super) fn list_of(items: Vec<Value>, form: Form) -> Self {
        Self::List(Arc::new(List { items, kind: ListKind::Atomic(form) }))
    }

    pub(super) fn map(map: BTreeMap<Key, Value>) -> Self {
        Self::Map(Arc::new(Entries::new(map, Form::Written)))
    }

    fn map_of(entries: impl Iterator<Item = (Key, Value)>) -> Self {
        Self::Map(Arc::new(Entries::new(entries.collect(), Form::Read)))
    }

    fn unreadable(text: impl AsRef<str>) -> Self {
        Self::Unreadable(Arc::from(text.as_ref()))
    }

    /// Fails if a part of the value is unreadable, which a comparison would read.
    pub(super) fn readable(&self) -> Result<(), String> {
        match self {
            Self::Unreadable(text) => Err(text.to_string()),
            Self::List(list) => list.items.iter().try_for_each(Self::readable),
            Self::Map(map) => map.values().try_for_each(Self::readable),
            Self::Object(fields) => fields.values().try_for_each(Self::readable),
            _ => Ok(()),
        }
    }

    pub(super) fn some(value: Value) -> Self {
        Self::Optional(Some(Arc::new(value)))
    }

    /// A JSON value as its schema types it. A float is no integer, even if it has no fraction (`UnstructuredToVal` of
    /// apiserver's pkg/cel/common).
    pub(super) fn of(schema: &Schema, json: &Json, is_resource: bool) -> Self {
        match json {
            Json::Number(n) if schema.int_or_string && !n.is_i64() => {
                Self::unreadable("invalid data, expected XIntOrString value to be either a string or integer")
            }
            _ if schema.int_or_string => Self::untyped(json),
            Json::Null => Self::Null,
            Json::Array(items) => Self::of_array(schema, items),
            Json::Object(map) => match &schema.additional_properties {
                Some(Additional::Schema(all)) => {
                    let entries = map.iter().map(|(k, v)| {
                        (Key::String(Arc::from(k.as_str())), Self::of(all, v, all.embedded_resource))
                    });
                    Self::map_of(entries)
                }
                _ => Self::of_object(schema, map, is_resource || schema.embedded_resource),
            },
            Json::String(text) if schema.is_type("string") => Self::of_text(schema, text),
            Json::Number(n) if schema.is_type("number") => Self::Double(n.as_f64().unwrap_or(f64::NAN)),
            Json::Number(n) if schema.is_type("integer") => n
                .as_i64()
                .map_or_else(|| Self::unreadable("invalid data, expected int, got float64"), Self::Int),
            other => Self::untyped(other),
        }
    }

    fn of_text(schema: &Schema, text: &str) -> Self {
        let special = match schema.format_name() {
            "byte" => {
                base64::engine::general_purpose::STANDARD.decode(text).ok().map(|b| Self::Bytes(b.into()))
            }
            "duration" => parse_duration(text).map(Self::Duration),
            "date" => Moment::parse(&format!("{text}T00:00:00Z")).map(Self::Timestamp),
            "date-time" => Some(date_time(text)),
            _ => None,
        };
        special.unwrap_or_else(|| Self::string(text))
    }

    fn of_array(schema: &Schema, items: &[Json]) -> Self {
        let item = |json: &Json| match &schema.items {
            Some(items) => Self::of(items, json, items.embedded_resource),
            None => Self::untyped(json),
        };
        let kind = match schema.effective_list_type() {
            ListType::Atomic => ListKind::Atomic(Form::Read),
            ListType::Set => ListKind::Set,
            ListType::Map => ListKind::Map(
                schema.list_map_keys.iter().map(|k| escape(k).unwrap_or_else(|| k.clone())).collect(),
            ),
        };
        Self::List(Arc::new(List { items: items.iter().map(item).collect(), kind }))
    }

    fn of_object(schema: &Schema, map: &serde_json::Map<String, Json>, is_resource: bool) -> Self {
        let field = |(name, value): (&String, &Json)| match (name.as_str(), value) {
            ("apiVersion" | "kind", Json::String(text)) if is_resource => (name.clone(), Self::string(text)),
            ("metadata", Json::Object(metadata)) if is_resource => {
                (name.clone(), Self::of_metadata(metadata))
            }
            _ => match schema.properties.get(name) {
                Some(property) => {
                    let value = Self::of(property, value, property.embedded_resource);
                    (escape(name).unwrap_or_else(|| hidden(name)), value)
                }
                None => (hidden(name), Self::untyped(value)),
            },
        };
        Self::Object(Arc::new(map.iter().map(field).collect()))
    }

    /// The metadata of a resource, of which expressions see the names.
    fn of_metadata(metadata: &serde_json::Map<String, Json>) -> Self {
        let field = |(name, value): (&String, &Json)| match (name.as_str(), value) {
            ("name" | "generateName", Json::String(text)) => (name.clone(), Self::string(text)),
            _ => (hidden(name), Self::untyped(value)),
        };
        Self::Object(Arc::new(metadata.iter().map(field).collect()))
    }

    /// A JSON value that no schema types.
    pub(super) fn untyped(json: &Json) -> Self {
        match json {
            Json::Null => Self::Null,
            Json::Bool(b) => Self::Bool(*b),
            Json::Number(n) => {
                n.as_i64().map_or_else(|| Self::Double(n.as_f64().unwrap_or(f64::NAN)), Self::Int)
            }
            Json::String(s) => Self::string(s),
            Json::Array(items) => Self::list_of(items.iter().map(Self::untyped).collect(), Form::Read),
            Json::Object(map) => {
                let entries = map.iter().map(|(k, v)| (Key::String(Arc::from(k.as_str())), Self::untyped(v)));
                Self::map_of(entries)
            }
        }
    }

    /// The name of the type.
    pub(super) fn type_name(&self) -> &str {
        match self {
            Self::Null => "null_type",
            Self::Bool(_) => "bool",
            Self::Int(_) => "int",
            Self::Uint(_) => "uint",
            Self::Double(_) => "double",
            Self::String(_) => "string",
            Self::Bytes(_) => "bytes",
            Self::Timestamp(_) => "google.protobuf.Timestamp",
            Self::Duration(_) => "google.protobuf.Duration",
            Self::List(_) => "list",
            Self::Map(_) | Self::Object(_) => "map",
            Self::Message(message) => &message.name,
            Self::Variables => super::session::TYPE_NAME,
            Self::Optional(_) => "optional_type",
            Self::Type(_) => "type",
            Self::Quantity(_) => "kubernetes.Quantity",
            Self::Url(_) => "kubernetes.URL",
            Self::Ip(_) => "net.IP",
            Self::Cidr(..) => "net.CIDR",
            Self::Semver(_) => "kubernetes.Semver",
            Self::Format(_) => "kubernetes.NamedFormat",
            Self::Question(question) => question.type_name(),
            Self::Decision(_) => "kubernetes.authorization.Decision",
            Self::Unreadable(_) => "error",
        }
    }

    /// The number of characters, bytes or entries; 1 for everything else.
    pub(super) fn size(&self) -> u64 {
        let size = match self {
            Self::String(s) => s.chars().count(),
            Self::Bytes(b) => b.len(),
            Self::List(list) => list.items.len(),
            Self::Map(map) => map.len(),
            Self::Object(fields) => fields.len(),
            Self::Ip(IpAddr::V4(_)) | Self::Cidr(IpAddr::V4(_), _) => 4,
            Self::Ip(IpAddr::V6(_)) | Self::Cidr(IpAddr::V6(_), _) => 16,
            _ => 1,
        };
        u64::try_from(size).unwrap_or(u64::MAX)
    }

    /// Reports whether the value is the zero value of its type: 0, "", an empty list.
    pub(super) fn is_zero(&self) -> bool {
        match self {
            Self::Null => true,
            Self::Timestamp(moment) => moment.is_first(),
            Self::Bool(b) => !b,
            Self::Int(i) => *i == 0,
            Self::Uint(u) => *u == 0,
            Self::Double(f) => *f == 0.0,
            Self::String(s) => s.is_empty(),
            Self::Bytes(b) => b.is_empty(),
            Self::Duration(d) => *d == 0,
            Self::List(list) => list.items.is_empty(),
            Self::Map(map) => map.is_empty(),
            Self::Object(fields) => fields.is_empty(),
            Self::Message(message) => message.fields.is_empty(),
            _ => false,
        }
    }
}

/// The beginning of the name of a field that expressions cannot select, and that counts in sizes and comparisons
/// (`unstructuredMap` of apiserver's pkg/cel/common).
const HIDDEN: char = '\0';

fn hidden(name: &str) -> String {
    format!("{HIDDEN}{name}")
}

/// Whether expressions can select a field.
pub(super) fn is_visible(name: &str) -> bool {
    !name.starts_with(HIDDEN)
}

/// Equality. Numbers of different types compare by value; other values of different types are not equal.
pub(super) fn equal(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Null, Value::Null) => true,
        (Value::Bool(a), Value::Bool(b)) => a == b,
        (Value::String(a), Value::String(b)) => a == b,
        (Value::Bytes(a), Value::Bytes(b)) => a == b,
        (Value::Timestamp(a), Value::Timestamp(b)) => a == b,
        (Value::Duration(a), Value::Duration(b)) => a == b,
        (Value::List(a), Value::List(b)) => equal_lists(a, b),
        (Value::Map(a), Value::Map(b)) => {
            a.len() == b.len() && a.iter().all(|(k, v)| b.get(k).is_some_and(|w| equal(v, w)))
        }
        // A null field counts in the size but is not found; a hidden field matters only where both have it. Source:
        // `unstructuredMap.Equal` of apiserver's pkg/cel/common.
        (Value::Object(a), Value::Object(b)) => {
            let is_set = |value: &&Value| !matches!(value, Value::Null);
            a.len() == b.len()
                && a.iter().all(|(k, v)| match (Some(v).filter(is_set), b.get(k).filter(is_set)) {
                    (Some(v), Some(w)) => equal(v, w),
                    (v, w) => !is_visible(k) || v.is_none() && w.is_none(),
                })
        }
        (Value::Message(a), Value::Message(b)) => a.equals(b),
        (Value::Optional(a), Value::Optional(b)) => match (a, b) {
            (Some(a), Some(b)) => equal(a, b),
            (None, None) => true,
            _ => false,
        },
        (Value::Type(a), Value::Type(b)) => a == b,
        (Value::Quantity(a), Value::Quantity(b)) => a == b,
        (Value::Url(a), Value::Url(b)) => a.text() == b.text(),
        (Value::Ip(a), Value::Ip(b)) => a == b,
        (Value::Cidr(a, x), Value::Cidr(b, y)) => a == b && x == y,
        (Value::Semver(a), Value::Semver(b)) => a.compare(b).is_eq(),
        (Value::Format(a), Value::Format(b)) => a == b,
        _ => compare_numbers(a, b).is_some_and(std::cmp::Ordering::is_eq),
    }
}

/// Reports whether lists are equal by the list type of the left one: a set or a list map searches for each item of the
/// right one.
fn equal_lists(a: &List, b: &List) -> bool {
    if a.items.len() != b.items.len() {
        return false;
    }
    match &a.kind {
        ListKind::Set => b.items.iter().all(|item| a.items.iter().any(|other| equal(other, item))),
        ListKind::Map(keys) => b
            .items
            .iter()
            .all(|item| a.items.iter().any(|other| same_key(keys, other, item) && equal(other, item))),
        ListKind::Atomic(_) => a.items.iter().zip(&b.items).all(|(a, b)| equal(a, b)),
    }
}

/// Reports whether two items of a list map have the same key.
pub(super) fn same_key(keys: &[String], a: &Value, b: &Value) -> bool {
    let (Value::Object(a), Value::Object(b)) = (a, b) else { return false };
    keys.iter().all(|key| match (a.get(key), b.get(key)) {
        (Some(a), Some(b)) => equal(a, b),
        (None, None) => true,
        _ => false,
    })
}

/// The order of two numbers of any types; `None` if one is not a number.
pub(super) fn compare_numbers(a: &Value, b: &Value) -> Option<std::cmp::Ordering> {
    let whole = |v: &Value| match v {
        Value::Int(i) => Some(i128::from(*i)),
        Value::Uint(u) => Some(i128::from(*u)),
        _ => None,
    };
    #[expect(clippy::cast_precision_loss, reason = "only mixed kinds are compared as floats")]
    let float = |v: &Value| match v {
        Value::Double(f) => Some(*f),
        other => whole(other).map(|i| i as f64),
    };
    match (whole(a), whole(b)) {
        (Some(a), Some(b)) => Some(a.cmp(&b)),
        _ => float(a)?.partial_cmp(&float(b)?),
    }
}

/// The order of two values of one type; `None` if the type has no order.
pub(super) fn compare(a: &Value, b: &Value) -> Option<std::cmp::Ordering> {
    match (a, b) {
        (Value::Bool(a), Value::Bool(b)) => Some(a.cmp(b)),
        (Value::String(a), Value::String(b)) => Some(a.cmp(b)),
        (Value::Bytes(a), Value::Bytes(b)) => Some(a.cmp(b)),
        (Value::Timestamp(a), Value::Timestamp(b)) => Some(a.cmp(b)),
        (Value::Duration(a), Value::Duration(b)) => Some(a.cmp(b)),
        _ => compare_numbers(a, b),
    }
}

/// A duration as `string()` shows it: seconds, with the precision of a double.
pub(super) fn duration_text(nanos: i64) -> String {
    #[expect(clippy::cast_precision_loss, reason = "cel-go shows a double")]
    let seconds = (nanos / 1_000_000_000) as f64 + (nanos % 1_000_000_000) as f64 / 1e9;
    format!("{seconds}s")
}

/// A double as `string()` shows it.
pub(super) fn double_text(value: f64) -> String {
    golang::float(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn object(fields: &[(&str, i64)]) -> Value {
        let field = |(name, value): &(&str, i64)| ((*name).to_owned(), Value::Int(*value));
        Value::Object(Arc::new(fields.iter().map(field).collect()))
    }

    #[test]
    fn hidden_fields_differ_only_where_both_objects_have_them() {
        let [x, y] = ["x", "y"].map(hidden);
        let one = object(&[("a", 1), (&x, 1)]);
        assert!(equal(&one, &object(&[("a", 1), (&y, 2)])));
        assert!(!equal(&one, &object(&[("a", 1), (&x, 2)])));
        assert!(!equal(&one, &object(&[("a", 1)])), "the sizes differ");
        assert!(!equal(&one, &object(&[("a", 2), (&y, 2)])));
    }
}
