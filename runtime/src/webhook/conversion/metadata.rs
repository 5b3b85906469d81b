//! The API's rule about metadata: a conversion may change only labels and annotations.

use serde_json::{Map, Value};

use super::ConversionError;
use crate::webhook::RawObject;

/// The identity of an object. A conversion that loses it has lost all metadata.
const IDENTITY: [&str; 3] = ["name", "namespace", "uid"];
const FREE: [&str; 2] = ["labels", "annotations"];

/// Returns the converted object with the metadata of the original, except for its own labels and annotations.
pub(super) fn kept(original: &RawObject, mut converted: Value) -> Result<Value, ConversionError> {
    let mut original = original.to_value()?;
    let original = original.get_mut("metadata").map(Value::take);
    let mut metadata = match original {
        Some(Value::Object(metadata)) => metadata,
        // Server-side apply also converts parts of objects.
        None => Map::new(),
        Some(_) => return Err(ConversionError::new("the object's metadata is not an object")),
    };
    let Some(members) = converted.as_object_mut() else {
        return Err(ConversionError::new("the conversion made no object"));
    };
    let own = match members.remove("metadata") {
        Some(Value::Object(own)) => own,
        _ => Map::new(),
    };
    for field in IDENTITY {
        let (before, after) = (text(&metadata, field), text(&own, field));
        if before != after {
            let text =
                format!("the conversion must keep metadata.{field}: it was {before:?} and became {after:?}");
            return Err(ConversionError::new(text));
        }
    }
    for field in FREE {
        metadata.remove(field);
    }
    metadata.extend(own.into_iter().filter(|(key, value)| FREE.contains(&key.as_str()) && !value.is_null()));
    members.insert("metadata".to_owned(), Value::Object(metadata));
    Ok(converted)
}

fn text<'a>(metadata: &'a Map<String, Value>, field: &str) -> &'a str {
    metadata.get(field).and_then(Value::as_str).unwrap_or_default()
}

/// Returns ` namespace/name`, or what exists of it.
pub(super) fn name_of(object: &RawObject) -> String {
    let value = object.to_value().unwrap_or_default();
    let text = |field: &str| value["metadata"][field].as_str().unwrap_or_default().to_owned();
    match (text("namespace"), text("name")) {
        (namespace, name) if !namespace.is_empty() => format!(" {namespace}/{name}"),
        (_, name) if !name.is_empty() => format!(" {name}"),
        _ => String::new(),
    }
}
