//! Kubernetes' protobuf encoding of built-in kinds: bodies of requests, as from `kubectl create`, and responses.
//!
//! The decoder finds the messages in a table of field numbers and returns the JSON that the same client would have
//! sent. Zero values are left out, as in JSON, unless zero has a meaning.

mod either;
mod encode;
pub(crate) mod wire;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use jiff::Timestamp;
use kubesmith_apimachinery::golang;
use serde_json::{Map, Value, json};

pub(crate) use self::encode::{encode, frame};
use crate::types::{self, Shape, Type};

/// The beginning of every encoded object.
pub(crate) const MAGIC: &[u8] = b"k8s\0";
/// The depth limit of messages; the API's own types are far below it.
const DEPTH: usize = 64;

/// Decodes an object.
///
/// # Errors
/// Returns an error if the body is malformed or its kind has no table.
pub(crate) fn decode(body: &[u8]) -> Result<Value, String> {
    let body = body.strip_prefix(MAGIC).ok_or("the body does not begin with the protobuf prefix")?;
    let (mut version, mut kind, mut raw) = (String::new(), String::new(), &[][..]);
    for part in fields(body) {
        match part? {
            (1, Wire::Bytes(meta)) => {
                for part in fields(meta) {
                    match part? {
                        (1, Wire::Bytes(text)) => version = utf8(text)?,
                        (2, Wire::Bytes(text)) => kind = utf8(text)?,
                        _ => {}
                    }
                }
            }
            (2, Wire::Bytes(bytes)) => raw = bytes,
            _ => {}
        }
    }
    let table = types::message_of_kind(&version, &kind).ok_or_else(|| {
        let (kind, version) = (golang::quote(&kind), golang::quote(&version));
        format!("no kind {kind} is registered for version {version}")
    })?;
    let mut object = read(raw, table, 0)?;
    object.insert("apiVersion".to_owned(), version.into());
    object.insert("kind".to_owned(), kind.into());
    Ok(Value::Object(object))
}

/// A field's value in the wire format.
enum Wire<'a> {
    Number(u64),
    Bytes(&'a [u8]),
}

/// Returns the fields of a message in their order.
fn fields(mut rest: &[u8]) -> impl Iterator<Item = Result<(u64, Wire<'_>), String>> {
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let field = field(&mut rest);
        if field.is_none() {
            rest = &[];
        }
        Some(field.ok_or_else(|| "proto: illegal wire format".to_owned()))
    })
}

fn field<'a>(rest: &mut &'a [u8]) -> Option<(u64, Wire<'a>)> {
    let key = varint(rest)?;
    let value = match key & 7 {
        0 => Wire::Number(varint(rest)?),
        1 => Wire::Number(u64::from_le_bytes(take(rest, 8)?.try_into().ok()?)),
        2 => {
            let length = usize::try_from(varint(rest)?).ok()?;
            Wire::Bytes(take(rest, length)?)
        }
        5 => Wire::Number(u64::from(u32::from_le_bytes(take(rest, 4)?.try_into().ok()?))),
        _ => return None,
    };
    Some((key >> 3, value))
}

fn varint(rest: &mut &[u8]) -> Option<u64> {
    let mut value = 0;
    for shift in (0..64).step_by(7) {
        let (byte, after) = rest.split_first()?;
        *rest = after;
        value |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Some(value);
        }
    }
    None
}

fn take<'a>(rest: &mut &'a [u8], length: usize) -> Option<&'a [u8]> {
    let (taken, after) = rest.split_at_checked(length)?;
    *rest = after;
    Some(taken)
}

fn utf8(bytes: &[u8]) -> Result<String, String> {
    String::from_utf8(bytes.to_vec()).map_err(|_| "proto: a string is not UTF-8".to_owned())
}

/// Decodes a message by its table.
fn read(bytes: &[u8], table: &Type, depth: usize) -> Result<Map<String, Value>, String> {
    if depth > DEPTH {
        return Err("proto: messages nest too deeply".to_owned());
    }
    let mut out = Map::new();
    for part in fields(bytes) {
        let (number, wire) = part?;
        let Some(field) = table.numbered.get(&number) else { continue };
        match field.shape {
            Shape::One => {
                let value = value(&wire, field.of, depth)?;
                let zero = value == "" || value == 0 || value == false;
                if !value.is_null() && (field.optional || !zero) {
                    out.insert(field.name.to_owned(), value);
                }
            }
            Shape::List => {
                let value = value(&wire, field.of, depth)?;
                if let Value::Array(list) = out.entry(field.name).or_insert_with(|| json!([])) {
                    list.push(value);
                }
            }
            Shape::Map => {
                let (key, value) = entry(&wire, field.of, depth)?;
                if let Value::Object(map) = out.entry(field.name).or_insert_with(|| json!({})) {
                    map.insert(key, value);
                }
            }
            Shape::Inline => {
                if let Value::Object(inner) = value(&wire, field.of, depth)? {
                    out.extend(inner);
                }
            }
        }
    }
    Ok(out)
}

/// Decodes a map's entry: a message of key and value.
fn entry(wire: &Wire<'_>, of: &str, depth: usize) -> Result<(String, Value), String> {
    let Wire::Bytes(bytes) = wire else { return Err("proto: wrong wireType".to_owned()) };
    let (mut key, mut found) = (String::new(), value(&Wire::Bytes(&[]), of, depth)?);
    for part in fields(bytes) {
        match part? {
            (1, Wire::Bytes(text)) => key = utf8(text)?,
            (2, wire) => found = value(&wire, of, depth)?,
            _ => {}
        }
    }
    Ok((key, found))
}

fn value(wire: &Wire<'_>, of: &str, depth: usize) -> Result<Value, String> {
    let bytes = match (wire, of) {
        (Wire::Number(number), "bool") => return Ok(Value::Bool(*number != 0)),
        // Negative numbers are encoded in two's complement.
        (Wire::Number(number), "int32" | "int64") => return Ok(Value::from(number.cast_signed())),
        (Wire::Number(number), "double") => return Ok(Value::from(f64::from_bits(*number))),
        (Wire::Number(_), _) => return Err("proto: wrong wireType".to_owned()),
        (Wire::Bytes(bytes), _) => *bytes,
    };
    match of {
        "string" => utf8(bytes).map(Value::String),
        "bytes" => Ok(Value::from(BASE64.encode(bytes))),
        "Quantity" => first_text(bytes),
        "IntOrString" => int_or_string(bytes),
        "meta.Time" => time(bytes, false),
        "meta.MicroTime" => time(bytes, true),
        // Malformed ones own nothing, as in JSON.
        "meta.FieldsV1" => Ok(raw_json(bytes).unwrap_or_default()),
        "RawExtension" => raw_json(bytes),
        "strings" => strings(bytes),
        message => match types::message(message) {
            Some(table) => {
                let members = read(bytes, table, depth + 1)?;
                Ok(either::from_message(message, &members).unwrap_or(Value::Object(members)))
            }
            None => Ok(Value::Null),
        },
    }
}

/// Returns the text in field 1.
fn first_text(bytes: &[u8]) -> Result<Value, String> {
    for part in fields(bytes) {
        if let (1, Wire::Bytes(text)) = part? {
            return utf8(text).map(Value::String);
        }
    }
    Ok(Value::Null)
}

/// Returns the JSON in field 1, as in `RawExtension`.
fn raw_json(bytes: &[u8]) -> Result<Value, String> {
    match first_text(bytes)? {
        Value::String(text) => serde_json::from_str(&text).map_err(|e| format!("json: {e}")),
        _ => Ok(Value::Null),
    }
}

/// Decodes a message that is a list of strings.
fn strings(bytes: &[u8]) -> Result<Value, String> {
    let mut list = Vec::new();
    for part in fields(bytes) {
        if let (1, Wire::Bytes(text)) = part? {
            list.push(Value::from(utf8(text)?));
        }
    }
    Ok(Value::Array(list))
}

fn int_or_string(bytes: &[u8]) -> Result<Value, String> {
    let (mut is_text, mut number, mut text) = (false, 0, String::new());
    for part in fields(bytes) {
        match part? {
            (1, Wire::Number(kind)) => is_text = kind == 1,
            (2, Wire::Number(value)) => number = value.cast_signed(),
            (3, Wire::Bytes(value)) => text = utf8(value)?,
            _ => {}
        }
    }
    Ok(if is_text { text.into() } else { number.into() })
}

/// Decodes a time of seconds and nanoseconds; null when both are absent.
fn time(bytes: &[u8], micros: bool) -> Result<Value, String> {
    let (mut seconds, mut nanos) = (None, 0);
    for part in fields(bytes) {
        match part? {
            (1, Wire::Number(value)) => seconds = Some(value.cast_signed()),
            (2, Wire::Number(value)) => nanos = i32::try_from(value.cast_signed()).unwrap_or(0),
            _ => {}
        }
    }
    let Some(seconds) = seconds else { return Ok(Value::Null) };
    let time = Timestamp::new(seconds, nanos).map_err(|e| format!("proto: {e}"))?;
    let format = if micros { "%Y-%m-%dT%H:%M:%S.%6fZ" } else { "%Y-%m-%dT%H:%M:%SZ" };
    Ok(Value::from(time.strftime(format).to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A length-delimited field.
    fn bytes(number: u8, content: &[u8]) -> Vec<u8> {
        let mut out = vec![number << 3 | 2, u8::try_from(content.len()).unwrap()];
        out.extend_from_slice(content);
        out
    }

    fn envelope(version: &[u8], kind: &[u8], raw: &[u8]) -> Vec<u8> {
        let meta = [bytes(1, version), bytes(2, kind)].concat();
        [MAGIC.to_vec(), bytes(1, &meta), bytes(2, raw)].concat()
    }

    #[test]
    fn config_map_is_decoded() {
        let metadata = [bytes(1, b"c"), bytes(2, b""), bytes(8, b"")].concat();
        let entry = [bytes(1, b"key"), bytes(2, b"value")].concat();
        let raw =
            [bytes(1, &metadata), bytes(2, &entry), bytes(3, &[bytes(1, b"b"), bytes(2, b"v")].concat())]
                .concat();
        let object = decode(&envelope(b"v1", b"ConfigMap", &raw)).unwrap();
        assert_eq!(
            object,
            json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}, "data": {"key": "value"},
                   "binaryData": {"b": "dg=="}})
        );
    }

    #[test]
    fn inline_members_and_numbers_are_decoded() {
        let secret = bytes(6, &bytes(1, b"s"));
        let volume = [bytes(1, b"vol"), bytes(2, &secret)].concat();
        let container = [bytes(1, b"c"), bytes(6, &[0x18, 80])].concat();
        let spec = [bytes(1, &volume), bytes(2, &container), vec![0x20, 0]].concat();
        let object = decode(&envelope(b"v1", b"Pod", &bytes(2, &spec))).unwrap();
        assert_eq!(
            object["spec"],
            json!({"volumes": [{"name": "vol", "secret": {"secretName": "s"}}],
                   "containers": [{"name": "c", "ports": [{"containerPort": 80}]}], "terminationGracePeriodSeconds": 0})
        );
    }

    #[test]
    fn objects_round_trip() {
        let pod = json!({
            "apiVersion": "v1", "kind": "Pod",
            "metadata": {"name": "p", "labels": {"a": "b", "c": ""}, "creationTimestamp": "2026-01-02T03:04:05Z",
                         "ownerReferences": [{"apiVersion": "v1", "kind": "Node", "name": "n", "uid": "u", "controller": false}]},
            "spec": {
                "containers": [{"name": "c", "image": "i", "command": ["", "x"],
                                "env": [{"name": "E", "valueFrom": {"resourceFieldRef": {"resource": "limits.cpu", "divisor": "0"}}}],
                                "livenessProbe": {"httpGet": {"path": "/", "port": "http"}, "periodSeconds": 10},
                                "resources": {"limits": {"cpu": "100m", "memory": "1Gi"}}}],
                "priority": -7, "terminationGracePeriodSeconds": 0,
                "volumes": [{"name": "v", "secret": {"secretName": "s", "defaultMode": 420}}],
            },
            "status": {"phase": "Running"},
        });
        let secret = json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"}, "data": {"k": "AP8=", "none": ""}});
        let role = json!({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "Role", "metadata": {"name": "r"},
                          "rules": [{"verbs": ["get"], "apiGroups": [""], "resources": ["pods"]}]});
        let lease = json!({"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": {"name": "l"},
                           "spec": {"renewTime": "2026-01-02T03:04:05.000006Z", "leaseTransitions": 3}});
        for object in [pod, secret, role, lease] {
            assert_eq!(decode(&encode(&object).unwrap()).unwrap(), object);
        }
    }

    /// Recorded shapes: Go writes members without a pointer, and the two empty strings at the end of the envelope.
    #[test]
    fn zero_values_are_encoded_when_go_has_no_pointer() {
        let service = json!({"apiVersion": "v1", "kind": "Endpoints", "metadata": {}});
        let metadata = [
            bytes(1, b""),
            bytes(2, b""),
            bytes(3, b""),
            bytes(4, b""),
            bytes(5, b""),
            bytes(6, b""),
            vec![0x38, 0],
            bytes(8, b""),
        ]
        .concat();
        let raw = bytes(1, &metadata);
        let expected = [envelope(b"v1", b"Endpoints", &raw), bytes(3, b""), bytes(4, b"")].concat();
        assert_eq!(encode(&service).unwrap(), expected);
    }

    #[test]
    fn list_is_encoded_with_metadata_and_items() {
        let list = json!({"apiVersion": "v1", "kind": "EndpointsList", "metadata": {"resourceVersion": "7"}, "items": [{}]});
        let metadata = [bytes(1, b""), bytes(2, b"7"), bytes(3, b"")].concat();
        let encoded = encode(&list).unwrap();
        let head = envelope(b"v1", b"EndpointsList", &bytes(1, &metadata));
        // The envelopes differ in their lengths, but not in version and kind.
        assert!(encoded.starts_with(&head[..MAGIC.len() + 2 + 2 + 2 + 2 + 13]));
        let needle = bytes(1, &metadata);
        assert!(encoded.windows(needle.len()).any(|window| window == needle));
        assert_eq!(encode(&json!({"apiVersion": "a.example/v1", "kind": "Widget"})), None);
        assert_eq!(encode(&json!({"apiVersion": "v1", "kind": "WidgetList"})), None);
    }

    #[test]
    fn watch_event_is_prefixed_with_its_length() {
        assert_eq!(frame("ADDED", b"o"), b"\0\0\0\x0c\x0a\x05ADDED\x12\x03\x0a\x01o");
    }

    #[test]
    fn broken_protobuf_body_is_an_error() {
        for body in [
            &b""[..],
            b"k8s",
            b"k8s\0\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff",
            b"k8s\0\x0a\x7f",
            &envelope(b"v1", b"Widget", b""),
            &envelope(b"v1", b"ConfigMap", b"\x0a\x01\xff"),
            &envelope(b"v1", b"ConfigMap", b"\x08\x01"),
        ] {
            assert!(decode(body).is_err(), "{body:?}");
        }
    }
}
