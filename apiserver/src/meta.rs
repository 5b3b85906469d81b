//! Reading and changing `metadata` of objects held as JSON.

use kubesmith_apimachinery::golang;
use kubesmith_apimachinery::yaml::json_number;
use serde_json::{Map, Number, Value};

/// Returns the string at `metadata.<field>`, empty when absent.
pub(crate) fn text<'a>(object: &'a Value, field: &str) -> &'a str {
    member(&object["metadata"], field)
}

/// Returns a string in any JSON object, empty when absent.
pub(crate) fn member<'a>(object: &'a Value, name: &str) -> &'a str {
    object[name].as_str().unwrap_or_default()
}

/// Returns the length of a value's JSON, in bytes.
pub(crate) fn json_len(value: &Value) -> usize {
    struct Counter(usize);
    impl std::io::Write for Counter {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0 += bytes.len();
            Ok(bytes.len())
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let mut counter = Counter(0);
    // Neither a value nor the counter can fail.
    let _ = serde_json::to_writer(&mut counter, value);
    counter.0
}

/// Returns the items of a list; none for another value.
pub(crate) fn items(list: &Value) -> impl Iterator<Item = &Value> {
    list.as_array().into_iter().flatten()
}

pub(crate) fn name(object: &Value) -> &str {
    text(object, "name")
}

pub(crate) fn namespace(object: &Value) -> &str {
    text(object, "namespace")
}

/// Returns the metadata map; creates it when absent or no map.
pub(crate) fn metadata_mut(object: &mut Value) -> &mut Map<String, Value> {
    map_at(object, "metadata")
}

/// Returns the value as a map; any other value is replaced by an empty one.
pub(crate) fn object_mut(value: &mut Value) -> &mut Map<String, Value> {
    if !value.is_object() {
        *value = Value::Object(Map::new());
    }
    match value {
        Value::Object(map) => map,
        _ => unreachable!("the value has just been made a map"),
    }
}

/// Returns the map under `field`; creates it when absent or no map.
pub(crate) fn map_at<'a>(object: &'a mut Value, field: &str) -> &'a mut Map<String, Value> {
    object_mut(object_mut(object).entry(field).or_insert(Value::Null))
}

pub(crate) fn set(object: &mut Value, field: &str, value: impl Into<Value>) {
    metadata_mut(object).insert(field.to_owned(), value.into());
}

pub(crate) fn remove(object: &mut Value, field: &str) {
    take(object, field);
}

/// Removes a field and returns it.
pub(crate) fn take(object: &mut Value, field: &str) -> Option<Value> {
    object.get_mut("metadata").and_then(Value::as_object_mut)?.remove(field)
}

/// Writes every number as Go's `encoding/json` does after decoding: `1.0` and `1e3` become integers, integers beyond 63 bits
/// floats.
pub(crate) fn go_numbers(value: &mut Value) {
    match value {
        Value::Number(number) if !number.is_i64() => {
            let Some(float) = number.as_f64() else { return };
            let whole = golang::json_float(float).parse::<u64>().ok().map(Number::from);
            if let Some(settled) = whole.or_else(|| json_number(float)) {
                *number = settled;
            }
        }
        Value::Array(list) => list.iter_mut().for_each(go_numbers),
        Value::Object(map) => map.values_mut().for_each(go_numbers),
        _ => {}
    }
}

/// Copies `metadata.<field>` from another object, or its absence.
pub(crate) fn copy(from: &Value, to: &mut Value, field: &str) {
    match from["metadata"].get(field) {
        Some(value) => set(to, field, value.clone()),
        None => remove(to, field),
    }
}

/// Copies a member of a map from another one, or its absence.
pub(crate) fn copy_member(from: &Value, to: &mut Value, member: &str) {
    let to = object_mut(to);
    match from.get(member) {
        Some(value) => to.insert(member.to_owned(), value.clone()),
        None => to.remove(member),
    };
}

pub(crate) fn finalizers(object: &Value) -> Vec<&str> {
    strings(&object["metadata"]["finalizers"])
}

/// Returns the strings of a list and skips other values.
pub(crate) fn strings(list: &Value) -> Vec<&str> {
    list.as_array().into_iter().flatten().filter_map(Value::as_str).collect()
}

pub(crate) fn set_finalizers(object: &mut Value, finalizers: &[&str]) {
    if finalizers.is_empty() {
        remove(object, "finalizers");
    } else {
        set(object, "finalizers", finalizers.iter().map(|f| Value::from(*f)).collect::<Vec<_>>());
    }
}

pub(crate) fn is_terminating(object: &Value) -> bool {
    object["metadata"].get("deletionTimestamp").is_some_and(|v| !v.is_null())
}

/// Removes members that are null or empty if Go's `omitempty` omits them.
pub(crate) fn tidy(object: &mut Value) {
    let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) else { return };
    metadata.retain(|_, value| match value {
        Value::Null => false,
        Value::String(s) => !s.is_empty(),
        Value::Array(a) => !a.is_empty(),
        Value::Object(o) => !o.is_empty(),
        _ => true,
    });
    for field in ["labels", "annotations"] {
        if let Some(map) = metadata.get_mut(field).and_then(Value::as_object_mut) {
            for value in map.values_mut().filter(|v| v.is_null()) {
                *value = Value::String(String::new());
            }
        }
    }
}

// Lists, watch events and managed fields nest objects some levels deeper, and parsers take 127 levels.
pub(crate) use kubesmith_apimachinery::patch::{MAX_DEPTH, is_deeper};
