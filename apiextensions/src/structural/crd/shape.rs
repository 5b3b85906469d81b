//! Small readers of a definition's JSON: absent values and those of another type read as absent.

use serde_json::Value;

pub(super) fn text<'v>(value: &'v Value, pointer: &str) -> &'v str {
    value.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
}

pub(super) fn flag(value: &Value, pointer: &str) -> bool {
    value.pointer(pointer).and_then(Value::as_bool).unwrap_or(false)
}

pub(super) fn present<'v>(value: &'v Value, pointer: &str) -> Option<&'v Value> {
    value.pointer(pointer).filter(|v| !v.is_null())
}

pub(super) fn list<'v>(value: &'v Value, pointer: &str) -> &'v [Value] {
    value.pointer(pointer).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}

pub(super) fn texts<'v>(value: &'v Value, pointer: &str) -> Vec<&'v str> {
    list(value, pointer).iter().filter_map(Value::as_str).collect()
}
