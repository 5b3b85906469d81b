//! Encodes responses in Kubernetes' protobuf, as the marshallers of gogo-protobuf do: members without a pointer are
//! written even if they are zero.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use jiff::Timestamp;
use serde_json::{Map, Value};

use super::wire::{bytes, double, nested, varint};
use super::{MAGIC, either};
use crate::types::{self, Field, Shape, Type};

/// Encodes an object or a list in its envelope, `runtime.Unknown`; `None` if its kind has no message.
pub(crate) fn encode(object: &Value) -> Option<Vec<u8>> {
    let text = |key: &str| object[key].as_str().unwrap_or_default();
    let (version, kind) = (text("apiVersion"), text("kind"));
    let members = object.as_object()?;
    let raw = match (Message::of_kind(version, kind), kind.strip_suffix("List")) {
        (Some(message), _) => {
            let mut raw = Vec::new();
            message.write(&mut raw, members);
            raw
        }
        (None, item) => list(members, Message::of_kind(version, item?)?),
    };
    let mut out = MAGIC.to_vec();
    nested(&mut out, 1, |meta| {
        bytes(meta, 1, version.as_bytes());
        bytes(meta, 2, kind.as_bytes());
    });
    bytes(&mut out, 2, &raw);
    // Encoding and type of the content are empty.
    bytes(&mut out, 3, b"");
    bytes(&mut out, 4, b"");
    Some(out)
}

/// Encodes an event of a watch: its length in four bytes, then `metav1.WatchEvent` (`LengthDelimitedFramer` of
/// apimachinery's pkg/util/framer).
pub(crate) fn frame(kind: &str, object: &[u8]) -> Vec<u8> {
    let mut event = Vec::with_capacity(object.len() + 32);
    bytes(&mut event, 1, kind.as_bytes());
    nested(&mut event, 2, |raw| bytes(raw, 1, object));
    let length = u32::try_from(event.len()).unwrap_or(u32::MAX);
    [&length.to_be_bytes()[..], &event].concat()
}

fn list(members: &Map<String, Value>, item: Message) -> Vec<u8> {
    let mut out = Vec::new();
    element(&mut out, 1, "meta.ListMeta", members.get("metadata").unwrap_or(&Value::Null));
    for object in members.get("items").and_then(Value::as_array).into_iter().flatten() {
        nested(&mut out, 2, |out| object.as_object().into_iter().for_each(|object| item.write(out, object)));
    }
    out
}

/// The message of a kind.
#[derive(Clone, Copy)]
enum Message {
    Of(&'static Type),
    /// `PartialObjectMetadata`, which is in no table, as clients cannot write it.
    Metadata,
}

impl Message {
    fn of_kind(version: &str, kind: &str) -> Option<Self> {
        match (version.split_once('/'), kind) {
            (Some(("meta.k8s.io", _)), "PartialObjectMetadata") => Some(Self::Metadata),
            _ => types::message_of_kind(version, kind).map(Self::Of),
        }
    }

    fn write(self, out: &mut Vec<u8>, members: &Map<String, Value>) {
        match self {
            Self::Of(table) => message(out, table, members),
            Self::Metadata => {
                element(out, 1, "meta.ObjectMeta", members.get("metadata").unwrap_or(&Value::Null));
            }
        }
    }
}

fn message(out: &mut Vec<u8>, table: &Type, members: &Map<String, Value>) {
    for (number, field) in &table.numbered {
        let value = members.get(field.name).filter(|value| !value.is_null());
        match field.shape {
            Shape::One => one(out, *number, field, value),
            Shape::List => {
                for item in value.and_then(Value::as_array).into_iter().flatten() {
                    element(out, *number, field.of, item);
                }
            }
            Shape::Map => {
                for (key, value) in value.and_then(Value::as_object).into_iter().flatten() {
                    nested(out, *number, |entry| {
                        bytes(entry, 1, key.as_bytes());
                        element(entry, 2, field.of, value);
                    });
                }
            }
            Shape::Inline => nested(out, *number, |inner| {
                if let Some(table) = types::message(field.of) {
                    message(inner, table, members);
                }
            }),
        }
    }
}

/// Encodes a single member. An absent one is only written if Go has no pointer there; a slice of bytes is one.
fn one(out: &mut Vec<u8>, number: u64, field: &Field, value: Option<&Value>) {
    match value {
        Some(value) => element(out, number, field.of, value),
        None if field.optional || field.of == "bytes" => {}
        None => element(out, number, field.of, &Value::Null),
    }
}

/// Encodes a value under its number; null is the zero value.
fn element(out: &mut Vec<u8>, number: u64, of: &str, value: &Value) {
    let text = || value.as_str().unwrap_or_default();
    match of {
        "bool" => varint(out, number, u64::from(value == true)),
        "int32" | "int64" => varint(out, number, integer(value)),
        "string" => bytes(out, number, text().as_bytes()),
        "bytes" => bytes(out, number, &BASE64.decode(text()).unwrap_or_default()),
        "Quantity" => {
            let text = if value.is_null() { "0".to_owned() } else { scalar(value) };
            nested(out, number, |out| bytes(out, 1, text.as_bytes()));
        }
        "IntOrString" => nested(out, number, |out| int_or_string(out, value)),
        "meta.Time" | "meta.MicroTime" => nested(out, number, |out| time(out, text())),
        "meta.FieldsV1" | "RawExtension" => nested(out, number, |out| {
            if !value.is_null() {
                bytes(out, 1, value.to_string().as_bytes());
            }
        }),
        "strings" => nested(out, number, |out| {
            for item in value.as_array().into_iter().flatten() {
                bytes(out, 1, item.as_str().unwrap_or_default().as_bytes());
            }
        }),
        "double" => double(out, number, value.as_f64().unwrap_or_default()),
        of => nested(out, number, |out| {
            let wrapped = either::to_message(of, value);
            let value = wrapped.as_ref().unwrap_or(value);
            if let Some(table) = types::message(of) {
                message(out, table, value.as_object().unwrap_or(&Map::new()));
            }
        }),
    }
}

/// Negative numbers are encoded in two's complement.
fn integer(value: &Value) -> u64 {
    value.as_i64().map_or_else(|| value.as_u64().unwrap_or_default(), i64::cast_unsigned)
}

/// A quantity may be a number in JSON.
fn scalar(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), ToOwned::to_owned)
}

fn int_or_string(out: &mut Vec<u8>, value: &Value) {
    varint(out, 1, u64::from(value.is_string()));
    varint(out, 2, integer(value));
    bytes(out, 3, value.as_str().unwrap_or_default().as_bytes());
}

/// Encodes a time; an absent one is an empty message.
fn time(out: &mut Vec<u8>, text: &str) {
    if let Ok(time) = text.parse::<Timestamp>() {
        varint(out, 1, time.as_second().cast_unsigned());
        // For negative times with a fraction Go rounds seconds down; the API has no such times.
        varint(out, 2, i64::from(time.subsec_nanosecond()).cast_unsigned());
    }
}
