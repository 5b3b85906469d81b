//! Encodes responses with their members in Go's order.

use kubesmith_apimachinery::golang::JsonFormatter;
use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::{Map, Value};

use crate::groups;
use crate::types::{self, Shape, Type};

/// The members of `metav1.TypeMeta`, with which Go's types begin.
pub(crate) const TYPE_META: [&str; 2] = ["kind", "apiVersion"];

/// Encodes an object or list as a line of JSON, as Go's `Encoder` does.
pub(crate) fn line(value: &Value) -> Vec<u8> {
    let mut out = to_vec(value);
    out.push(b'\n');
    out
}

/// Encodes an object or list as JSON. The members of Go types have the order of the fields; custom resources are maps,
/// whose keys Go sorts.
pub(crate) fn to_vec(value: &Value) -> Vec<u8> {
    match value {
        Value::Object(map) if has_go_type(map) => {
            let text = |key: &str| map.get(key).and_then(Value::as_str).unwrap_or_default();
            let (version, kind) = (text("apiVersion"), text("kind"));
            let discovered = || types::message_of_kind(version, kind).filter(|_| version.len() < 3);
            json(&Message { map, of: types::of_kind(version, kind).or_else(discovered) })
        }
        _ => json(value),
    }
}

/// The JSON of members, in the order of a message's fields if they have one.
pub(crate) fn members(map: &Map<String, Value>, of: Option<&'static Type>) -> String {
    text(&Message { map, of })
}

/// The JSON of a message.
pub(crate) fn message(value: &Value, of: &'static Type) -> String {
    text(&Content { value, shape: Shape::One, of: of.name })
}

/// The JSON of a value.
pub(crate) fn text(value: &impl Serialize) -> String {
    String::from_utf8(json(value)).unwrap_or_default()
}

fn json(value: &impl Serialize) -> Vec<u8> {
    let mut out = Vec::with_capacity(512);
    let mut serializer = serde_json::Serializer::with_formatter(&mut out, JsonFormatter);
    // Writing JSON values to a buffer cannot fail.
    let _ = value.serialize(&mut serializer);
    out
}

fn has_go_type(object: &Map<String, Value>) -> bool {
    let version = object.get("apiVersion").and_then(Value::as_str).unwrap_or_default();
    let group = version.rsplit_once('/').map_or("", |(group, _)| group);
    matches!(group, "meta.k8s.io" | "apidiscovery.k8s.io") || groups::is_built_in(group)
}

/// A message, written in the order of its fields. Kind and version come first, unknown members last.
struct Message<'a> {
    map: &'a Map<String, Value>,
    of: Option<&'static Type>,
}

impl Message<'_> {
    fn position(&self, key: &str) -> usize {
        match self.of.and_then(|of| of.members.get(key)) {
            Some(field) => TYPE_META.len() + field.position,
            None => TYPE_META.iter().position(|first| *first == key).unwrap_or(usize::MAX),
        }
    }
}

impl Serialize for Message<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut members: Vec<(usize, &String, &Value)> =
            self.map.iter().map(|(key, value)| (self.position(key), key, value)).collect();
        members.sort_by_key(|(position, ..)| *position);
        let mut out = serializer.serialize_map(Some(members.len()))?;
        for (_, key, value) in members {
            match self.of.and_then(|of| of.members.get(key.as_str())) {
                Some(field) => {
                    out.serialize_entry(key, &Content { value, shape: field.shape, of: field.of })?;
                }
                None => out.serialize_entry(key, value)?,
            }
        }
        out.end()
    }
}

/// The value of a field with its type.
struct Content<'a> {
    value: &'a Value,
    shape: Shape,
    of: &'static str,
}

impl Serialize for Content<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let one = |value| Content { value, shape: Shape::One, of: self.of };
        match (self.shape, self.value) {
            (Shape::One, Value::Object(map)) => {
                Message { map, of: types::message(self.of) }.serialize(serializer)
            }
            (Shape::List, Value::Array(items)) => serializer.collect_seq(items.iter().map(one)),
            (Shape::Map, Value::Object(map)) => {
                serializer.collect_map(map.iter().map(|(key, value)| (key, one(value))))
            }
            (_, value) => value.serialize(serializer),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn text_of(value: &Value) -> String {
        String::from_utf8(to_vec(value)).unwrap()
    }

    #[test]
    fn members_of_go_types_are_in_the_order_of_the_fields() {
        let pod = json!({
            "apiVersion": "v1", "kind": "Pod", "status": {}, "zzz": 1, "aaa": 1,
            "metadata": {"uid": "u", "name": "a", "labels": {"b": "<&>", "a": ""}},
            "spec": {"nodeName": "n", "containers": [{"image": "i", "name": "c"}]},
        });
        let metadata = r#"{"name":"a","uid":"u","labels":{"a":"","b":"\u003c\u0026\u003e"}}"#;
        let spec = r#"{"containers":[{"name":"c","image":"i"}],"nodeName":"n"}"#;
        assert_eq!(
            text_of(&pod),
            format!(
                r#"{{"kind":"Pod","apiVersion":"v1","metadata":{metadata},"spec":{spec},"status":{{}},"aaa":1,"zzz":1}}"#
            )
        );
        let status = json!({"kind": "Status", "apiVersion": "v1", "code": 409, "details": {"kind": "pods", "name": "a"},
            "message": "m", "metadata": {}, "reason": "Conflict", "status": "Failure"});
        let details = r#"{"name":"a","kind":"pods"}"#;
        assert_eq!(
            text_of(&status),
            format!(
                r#"{{"kind":"Status","apiVersion":"v1","metadata":{{}},"status":"Failure","message":"m","reason":"Conflict","details":{details},"code":409}}"#
            )
        );
    }

    #[test]
    fn members_of_inline_messages_join_those_of_the_outer_message() {
        let volume = json!({"emptyDir": {}, "name": "v"});
        assert_eq!(message(&volume, types::find("core.Volume").unwrap()), r#"{"name":"v","emptyDir":{}}"#);
        let source = json!({"path": "/", "server": "s"});
        let of = types::find("core.NFSVolumeSource").unwrap();
        assert_eq!(message(&source, of), r#"{"server":"s","path":"/"}"#);
    }

    #[test]
    fn kind_is_first_without_a_message_and_sorted_in_custom_resources() {
        let versions = json!({"versions": ["v1"], "kind": "APIVersions"});
        assert_eq!(text_of(&versions), r#"{"kind":"APIVersions","versions":["v1"]}"#);
        let custom = json!({"kind": "Widget", "apiVersion": "a.example/v1", "size": 1e21});
        assert_eq!(text_of(&custom), r#"{"apiVersion":"a.example/v1","kind":"Widget","size":1e+21}"#);
    }
}
