//! Decodes single values as Go does: numbers, bytes, quantities and times.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use kubesmith_apiextensions::structural::times;
use kubesmith_apimachinery::golang;
use kubesmith_apimachinery::quantity::Quantity;
use serde_json::Value;

use super::{At, cannot, element_type, mismatch, own_fault};
use crate::types::{Field, Type};

/// Checks a value of one of JSON's types.
pub(super) fn scalar(value: &mut Value, field: &Field, at: &At<'_>, of: &'static Type) -> Result<(), String> {
    if at.converted {
        convert(value, field.of);
    }
    let fits = match (field.of, &mut *value) {
        ("string", Value::String(_)) | ("bool", Value::Bool(_)) | ("double", Value::Number(_)) => true,
        ("int32" | "int64", Value::Number(number)) => {
            let range = if field.of == "int32" {
                i64::from(i32::MIN)..=i64::from(i32::MAX)
            } else {
                i64::MIN..=i64::MAX
            };
            if number.as_i64().is_none_or(|n| !range.contains(&n)) {
                let text = format!("number {number}");
                return Err(cannot(&text, field.of, at, of));
            }
            true
        }
        ("strings", Value::Array(list)) => {
            // A null leaves the zero value of its place.
            list.iter_mut().filter(|item| item.is_null()).for_each(|item| *item = "".into());
            list.iter().all(Value::is_string)
        }
        _ => false,
    };
    if !fits {
        return Err(mismatch(value, &element_type(field), at, of));
    }
    if field.of == "double" {
        whole(value);
    }
    Ok(())
}

/// Converts a number to an integer type as Go does: a float needs to have no fraction, and what does not fit wraps.
#[expect(clippy::cast_possible_truncation, reason = "Go drops the upper bits")]
fn convert(value: &mut Value, to: &str) {
    let number = match (&*value, value.as_i64(), value.as_f64()) {
        (Value::Number(_), Some(number), _) => number,
        (Value::Number(_), None, Some(float)) if float.fract() == 0.0 => {
            // Beyond the range, processors give the least number.
            format!("{float:.0}").parse().unwrap_or(i64::MIN)
        }
        _ => return,
    };
    match to {
        "int32" => *value = (number as i32).into(),
        "int64" => *value = number.into(),
        _ => {}
    }
}

/// Formats a number without a fraction as Go does.
fn whole(value: &mut Value) {
    let Some(number) = value.as_f64().filter(|_| value.is_f64()) else { return };
    let text = format!("{number:.0}");
    if number.fract() == 0.0
        && let Ok(number) = text.parse::<i64>()
    {
        *value = number.into();
    }
}

/// Brings bytes into their canonical text.
pub(super) fn bytes(value: &mut Value, at: &At<'_>, of: &Type) -> Result<(), String> {
    if let Value::Array(items) = &*value {
        // Go takes the bytes one by one, too.
        let byte = |item: &Value| item.as_u64().and_then(|number| u8::try_from(number).ok());
        let wrong = |item: &Value| match item {
            Value::Number(number) => cannot(&format!("number {number}"), "uint8", at, of),
            other => mismatch(other, "uint8", at, of),
        };
        let bytes: Result<Vec<u8>, String> =
            items.iter().map(|item| byte(item).ok_or_else(|| wrong(item))).collect();
        *value = BASE64.encode(bytes?).into();
    }
    let Value::String(text) = value else {
        return Err(mismatch(value, "[]uint8", at, of));
    };
    text.retain(|c| c != '\n' && c != '\r');
    match BASE64.decode(text.as_bytes()) {
        Ok(_) => Ok(()),
        Err(base64::DecodeError::InvalidByte(at, _) | base64::DecodeError::InvalidLastSymbol(at, _)) => {
            Err(format!("illegal base64 data at input byte {at}"))
        }
        Err(_) => Err(format!("illegal base64 data at input byte {}", text.len() / 4 * 4)),
    }
}

/// Quantities of resources, whose precision is a thousandth (`SetDefaults_ResourceList`).
pub(super) const RESOURCES: &str = "v1.ResourceList";

/// Brings a quantity into its canonical text.
pub(super) fn amount(value: &mut Value, is_resource: bool) -> Result<(), String> {
    let text = match &*value {
        Value::String(text) => text.clone(),
        Value::Number(number) => number.to_string(),
        other => other.to_string(),
    };
    let mut quantity = Quantity::parse(text.trim()).map_err(|error| error.to_string())?;
    if is_resource {
        quantity = quantity.rounded_up_to_milli();
    }
    *value = quantity.to_string().into();
    Ok(())
}

/// Checks a number that may be a name.
pub(super) fn int_or_string(value: &mut Value, at: &At<'_>, of: &Type) -> Result<(), String> {
    if at.converted {
        whole(value);
    }
    match &*value {
        Value::String(_) => Ok(()),
        Value::Number(number) if number.as_i64().is_some_and(|n| i32::try_from(n).is_ok()) => Ok(()),
        Value::Number(number) => Err(own_fault(&format!("number {number}"), "int32", at, of)),
        other => Err(own_fault(golang::json_type(other), "int32", at, of)),
    }
}

/// Brings a time into its canonical text. The zero time becomes null.
pub(super) fn time(value: &mut Value, layout: &str) -> Result<(), String> {
    *value = times::canonical(value.as_str().unwrap_or_default(), layout)?;
    Ok(())
}
