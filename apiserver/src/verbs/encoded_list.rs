//! Encodes lists, whose items of Go types have neither kind nor version.

use bytes::{BufMut, Bytes, BytesMut};
use serde_json::{Map, Value};

use crate::conversion::Served;
use crate::registry::ResourceDef;
use crate::{encode, types};

/// Encodes a list from the JSON of its objects, with a newline. Items of Go types have neither kind nor version.
pub(super) fn list(def: &ResourceDef, page: &[Served], metadata: &Map<String, Value>) -> Bytes {
    let (kind, version) = (encode::text(&def.list_kind), encode::text(&def.api_version()));
    let of = if def.is_custom() { None } else { types::find("meta.ListMeta") };
    let metadata = encode::members(metadata, of);
    let items: Vec<Bytes> = page.iter().map(Served::json).collect();
    let (head, tail) = if def.is_custom() {
        (
            format!("{{\"apiVersion\":{version},\"items\":["),
            format!("],\"kind\":{kind},\"metadata\":{metadata}}}\n"),
        )
    } else {
        let head = format!("{{\"kind\":{kind},\"apiVersion\":{version},\"metadata\":{metadata},\"items\":[");
        (head, "]}\n".to_owned())
    };
    let type_meta = format!("{{\"kind\":{},\"apiVersion\":{version}", encode::text(&def.kind));
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

/// Returns an object as an item of a list.
pub(super) fn item(def: &ResourceDef, object: &Value) -> Value {
    let mut item = object.clone();
    if let Some(members) = item.as_object_mut().filter(|_| !def.is_custom()) {
        encode::TYPE_META.iter().for_each(|key| {
            members.remove(*key);
        });
    }
    item
}
