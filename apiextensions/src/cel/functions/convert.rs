//! Conversions between types.

use std::sync::Arc;

use super::{Called, no_overload};
use crate::cel::moment::Moment;
use crate::cel::value::{Value, double_text, duration_text};
use crate::formats::parse_go_duration;

/// A value as text in messages and in `string()`.
pub(in crate::cel) fn text_of(value: &Value) -> String {
    match call("string", std::slice::from_ref(value)) {
        Ok(Value::String(text)) => text.to_string(),
        _ => value.type_name().to_owned(),
    }
}

fn type_error(from: &Value, to: &str) -> String {
    format!("type conversion error from '{}' to '{to}'", from.type_name())
}

pub(super) fn call(function: &str, args: &[Value]) -> Called {
    let [value] = args else { return no_overload() };
    match function {
        "dyn" => Ok(value.clone()),
        "type" => Ok(Value::Type(Arc::from(value.type_name()))),
        "bool" => to_bool(value),
        "bytes" => match value {
            Value::Bytes(_) => Ok(value.clone()),
            Value::String(text) => Ok(Value::Bytes(Arc::from(text.as_bytes()))),
            _ => no_overload(),
        },
        "double" => to_double(value),
        "int" => to_int(value),
        "uint" => to_uint(value),
        "string" => to_string(value),
        "duration" => match value {
            Value::Duration(_) => Ok(value.clone()),
            Value::String(text) => parse_go_duration(text)
                .ok()
                .map(Value::Duration)
                .ok_or_else(|| type_error(value, "google.protobuf.Duration")),
            // Declared, but cel-go has no conversion for it.
            Value::Int(_) => Err(type_error(value, "google.protobuf.Duration")),
            _ => no_overload(),
        },
        _ => match value {
            Value::Timestamp(_) => Ok(value.clone()),
            Value::Int(seconds) => Moment::from_seconds(*seconds)
                .map(Value::Timestamp)
                .ok_or_else(|| "timestamp overflow".to_owned()),
            Value::String(text) => Moment::parse(text)
                .map(Value::Timestamp)
                .ok_or_else(|| type_error(value, "google.protobuf.Timestamp")),
            _ => no_overload(),
        },
    }
}

fn to_bool(value: &Value) -> Called {
    match value {
        Value::Bool(_) => Ok(value.clone()),
        Value::String(text) => match text.as_ref() {
            "1" | "t" | "T" | "true" | "TRUE" | "True" => Ok(Value::Bool(true)),
            "0" | "f" | "F" | "false" | "FALSE" | "False" => Ok(Value::Bool(false)),
            _ => Err(type_error(value, "bool")),
        },
        _ => no_overload(),
    }
}

#[expect(clippy::cast_precision_loss, reason = "the conversion is asked for")]
fn to_double(value: &Value) -> Called {
    match value {
        Value::Double(_) => Ok(value.clone()),
        Value::Int(i) => Ok(Value::Double(*i as f64)),
        Value::Uint(u) => Ok(Value::Double(*u as f64)),
        Value::String(text) => {
            parse_double(text).map(Value::Double).ok_or_else(|| type_error(value, "double"))
        }
        _ => no_overload(),
    }
}

/// Parses a double. Refuses finite numbers beyond the greatest double.
pub(in crate::cel) fn parse_double(text: &str) -> Option<f64> {
    let value: f64 = text.parse().ok()?;
    let named = text.contains(['n', 'N']);
    (value.is_finite() || named).then_some(value)
}

#[expect(clippy::cast_possible_truncation, reason = "the range is checked")]
fn to_int(value: &Value) -> Called {
    let overflow = || "integer overflow".to_owned();
    match value {
        Value::Int(_) => Ok(value.clone()),
        Value::Uint(u) => i64::try_from(*u).map(Value::Int).map_err(|_| overflow()),
        Value::Double(f) if *f > -9.223_372_036_854_776e18 && *f < 9.223_372_036_854_776e18 => {
            Ok(Value::Int(*f as i64))
        }
        Value::Double(_) => Err(overflow()),
        Value::String(text) => text.parse().map(Value::Int).map_err(|_| type_error(value, "int")),
        Value::Timestamp(t) => Ok(Value::Int(t.seconds())),
        Value::Duration(nanos) => Ok(Value::Int(*nanos)),
        _ => no_overload(),
    }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the range is checked")]
fn to_uint(value: &Value) -> Called {
    let overflow = || "unsigned integer overflow".to_owned();
    match value {
        Value::Uint(_) => Ok(value.clone()),
        Value::Int(i) => u64::try_from(*i).map(Value::Uint).map_err(|_| overflow()),
        Value::Double(f) if *f >= 0.0 && *f < 1.844_674_407_370_955_2e19 => Ok(Value::Uint(*f as u64)),
        Value::Double(_) => Err(overflow()),
        // Go's ParseUint accepts no sign.
        Value::String(text) if text.starts_with('+') => Err(type_error(value, "uint")),
        Value::String(text) => text.parse().map(Value::Uint).map_err(|_| type_error(value, "uint")),
        _ => no_overload(),
    }
}

fn to_string(value: &Value) -> Called {
    Ok(match value {
        Value::String(_) => value.clone(),
        Value::Bool(b) => Value::string(b.to_string()),
        Value::Int(i) => Value::string(i.to_string()),
        Value::Uint(u) => Value::string(u.to_string()),
        Value::Double(f) => Value::string(double_text(*f)),
        Value::Bytes(bytes) => match std::str::from_utf8(bytes) {
            Ok(text) => Value::string(text),
            Err(_) => return Err("invalid UTF-8 in bytes, cannot convert to string".to_owned()),
        },
        Value::Timestamp(t) => Value::string(t.to_string()),
        Value::Duration(nanos) => Value::string(duration_text(*nanos)),
        Value::Ip(ip) => Value::string(ip.to_string()),
        Value::Cidr(ip, bits) => Value::string(format!("{ip}/{bits}")),
        _ => return no_overload(),
    })
}
