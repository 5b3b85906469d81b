//! How answers are written: with their members in the order that Go gives them.

use bytes::{BufMut, Bytes, BytesMut};
use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::{Map, Value};

use crate::builtin;
use crate::conversion::Served;
use crate::registry::ResourceDef;

/// The members of `metav1.TypeMeta`, with which Go's types begin.
const TYPE_META: [&str; 2] = ["kind", "apiVersion"];

/// The JSON of an object or list. Objects of Go types begin with kind and version; custom resources are maps, whose keys Go sorts.
pub(crate) fn to_vec(value: &Value) -> Vec<u8> {
    let json = match value {
        Value::Object(object) if has_go_type(object) => serde_json::to_vec(&Typed(object)),
        _ => serde_json::to_vec(value),
    };
    json.unwrap_or_default()
}

fn has_go_type(object: &Map<String, Value>) -> bool {
    let version = object.get("apiVersion").and_then(Value::as_str).unwrap_or_default();
    let group = version.rsplit_once('/').map_or("", |(group, _)| group);
    matches!(group, "meta.k8s.io" | "apidiscovery.k8s.io") || builtin::has_group(group)
}

/// A map that is written with kind and version first.
struct Typed<'a>(&'a Map<String, Value>);

impl Serialize for Typed<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut out = serializer.serialize_map(Some(self.0.len()))?;
        for (key, value) in TYPE_META.iter().filter_map(|key| self.0.get_key_value(*key)) {
            out.serialize_entry(key, value)?;
        }
        for (key, value) in self.0.iter().filter(|(key, _)| !TYPE_META.contains(&key.as_str())) {
            out.serialize_entry(key, value)?;
        }
        out.end()
    }
}

/// The JSON of a list, put together from the objects' own. Items of Go types carry neither kind nor version.
pub(crate) fn list(def: &ResourceDef, page: &[Served], metadata: &Map<String, Value>) -> Bytes {
    let text = |text: &str| Value::from(text).to_string();
    let (kind, version) = (text(&def.list_kind), text(&def.api_version()));
    let metadata = serde_json::to_string(metadata).unwrap_or_default();
    let items: Vec<Bytes> = page.iter().map(Served::json).collect();
    let (head, tail) = if def.is_custom() {
        (
            format!("{{\"apiVersion\":{version},\"items\":["),
            format!("],\"kind\":{kind},\"metadata\":{metadata}}}"),
        )
    } else {
        let head = format!("{{\"kind\":{kind},\"apiVersion\":{version},\"metadata\":{metadata},\"items\":[");
        (head, "]}".to_owned())
    };
    let type_meta = format!("{{\"kind\":{},\"apiVersion\":{version}", text(&def.kind));
    let size = head.len() + tail.len() + items.iter().map(|item| item.len() + 1).sum::<usize>();
    let mut out = BytesMut::with_capacity(size);
    out.put_slice(head.as_bytes());
    for (i, item) in items.iter().enumerate() {
        if i > 0 {
            out.put_u8(b',');
        }
        match item.strip_prefix(type_meta.as_bytes()).filter(|_| !def.is_custom()) {
            Some(rest) => {
                out.put_u8(b'{');
                out.put_slice(rest.strip_prefix(b",").unwrap_or(rest));
            }
            None => out.put_slice(item),
        }
    }
    out.put_slice(tail.as_bytes());
    out.freeze()
}

/// An object as an item of a list.
pub(crate) fn item(def: &ResourceDef, object: &Value) -> Value {
    let mut item = object.clone();
    if let Some(members) = item.as_object_mut().filter(|_| !def.is_custom()) {
        TYPE_META.iter().for_each(|key| {
            members.remove(*key);
        });
    }
    item
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn objects_of_go_types_begin_with_kind_and_version() {
        let text = |value: &Value| String::from_utf8(to_vec(value)).unwrap();
        let event = json!({"action": "a", "apiVersion": "events.k8s.io/v1", "kind": "Event", "metadata": {}});
        let expected = r#"{"kind":"Event","apiVersion":"events.k8s.io/v1","action":"a","metadata":{}}"#;
        assert_eq!(text(&event), expected);
        let custom = json!({"kind": "Widget", "apiVersion": "a.example/v1"});
        assert_eq!(text(&custom), r#"{"apiVersion":"a.example/v1","kind":"Widget"}"#);
        assert_eq!(
            text(&json!({"versions": ["v1"], "kind": "APIVersions"})),
            r#"{"kind":"APIVersions","versions":["v1"]}"#
        );
    }
}
