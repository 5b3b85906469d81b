//! OpenAPI documents as protobuf: the messages of gnostic's `ParseDocument` for a document in JSON.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use kubesmith_apimachinery::yaml::to_yaml;
use serde_json::{Map, Value};

use crate::http::protobuf::wire;

/// The depth limit of messages; the schemas that definitions may have are far below it.
const DEPTH: usize = 512;

static MESSAGES: LazyLock<BTreeMap<&'static str, Message>> =
    LazyLock::new(|| include_str!("gnostic.txt").lines().filter_map(Message::parse).collect());

enum Message {
    /// The members in the order of their numbers.
    Members(Vec<Field>),
    /// The cases; the first one that fits is written.
    Union(Vec<Field>),
}

/// A member of a message or a case of a union.
struct Field {
    name: &'static str,
    number: u64,
    /// Whether it is a list of its type.
    list: bool,
    of: &'static str,
}

impl Message {
    fn parse(line: &'static str) -> Option<(&'static str, Self)> {
        let mut words = line.split(' ');
        let name = words.next().filter(|name| *name != "#")?;
        let mut fields: Vec<Field> = words.filter_map(Field::parse).collect();
        if let Some(name) = name.strip_suffix('|') {
            return Some((name, Self::Union(fields)));
        }
        fields.sort_by_key(|field| field.number);
        Some((name, Self::Members(fields)))
    }
}

impl Field {
    fn parse(word: &'static str) -> Option<Self> {
        let (name, rest) = word.split_once('=')?;
        let (number, of) = rest.split_once(':')?;
        let (list, of) = of.strip_prefix("list:").map_or((false, of), |of| (true, of));
        Some(Self { name, number: number.parse().ok()?, list, of })
    }

    /// Reports whether a value is this case of a union.
    fn fits(&self, value: &Value) -> bool {
        match (self.name, self.name.split_once(':')) {
            (_, Some((key, text))) => value[key] == text,
            ("$ref", _) => value.get("$ref").is_some(),
            ("bool", _) => value.is_boolean(),
            ("number", _) => value.is_number(),
            ("string", _) => value.is_string(),
            ("each" | "else", _) => true,
            _ => false,
        }
    }
}

/// Encodes a document of version 2 or 3, such as `v2.Document`.
///
/// # Errors
/// Returns a member that the document's version does not have, which gnostic refuses as well.
pub(super) fn encode(of: &str, document: &Value) -> Result<Vec<u8>, String> {
    let mut out = Vec::new();
    message(&mut out, of, document, 0)?;
    Ok(out)
}

fn message(out: &mut Vec<u8>, of: &str, value: &Value, depth: usize) -> Result<(), String> {
    if depth > DEPTH {
        return Err(format!("{of} nests too deeply"));
    }
    match (MESSAGES.get(of), value) {
        (Some(Message::Union(cases)), _) => {
            match cases.iter().find(|case| case.fits(value)) {
                Some(case) if case.name == "each" => each(out, case, value, depth),
                Some(case) => element(out, case, value, depth),
                // gnostic drops defaults other than numbers, booleans and text.
                None => Ok(()),
            }
        }
        (Some(Message::Members(fields)), Value::Object(object)) => members(out, of, fields, object, depth),
        _ => Err(format!("{of} has unexpected value: {value}")),
    }
}

/// Encodes the elements of a list, or a single value in place of a list.
fn each(out: &mut Vec<u8>, field: &Field, value: &Value, depth: usize) -> Result<(), String> {
    match value {
        Value::Array(items) => items.iter().try_for_each(|item| element(out, field, item, depth)),
        one => element(out, field, one, depth),
    }
}

fn members(
    out: &mut Vec<u8>,
    of: &str,
    fields: &[Field],
    object: &Map<String, Value>,
    depth: usize,
) -> Result<(), String> {
    let known = |name: &str| fields.iter().any(|field| field.name == name);
    let class = |name: &str| match name {
        name if known(name) => None,
        name if name.starts_with("x-") && known("x-") => Some("x-"),
        _ => Some("*"),
    };
    if let Some(name) = object.keys().find(|name| class(name) == Some("*") && !known("*")) {
        return Err(format!("{of} has invalid property: {name}"));
    }
    for field in fields {
        if matches!(field.name, "x-" | "*") {
            for (name, value) in object.iter().filter(|(name, _)| class(name) == Some(field.name)) {
                let mut pair = Vec::new();
                wire::bytes(&mut pair, 1, name.as_bytes());
                element(&mut pair, &Field { number: 2, ..*field }, value, depth)?;
                wire::bytes(out, field.number, &pair);
            }
        } else if let Some(value) = object.get(field.name) {
            match field.list {
                true => each(out, field, value, depth)?,
                false if is_zero(field.of, value) => {}
                false => element(out, field, value, depth)?,
            }
        }
    }
    Ok(())
}

/// Reports whether a member is omitted, as proto3 omits the zero values of scalars.
fn is_zero(of: &str, value: &Value) -> bool {
    match (of, value) {
        ("bool", Value::Bool(value)) => !value,
        ("int64" | "double", Value::Number(value)) => value.as_f64() == Some(0.0),
        ("string", Value::String(value)) => value.is_empty(),
        _ => false,
    }
}

fn element(out: &mut Vec<u8>, field: &Field, value: &Value, depth: usize) -> Result<(), String> {
    let number = field.number;
    match (field.of, value) {
        ("string", Value::String(text)) => wire::bytes(out, number, text.as_bytes()),
        ("bool", Value::Bool(value)) => wire::varint(out, number, u64::from(*value)),
        ("int64", Value::Number(value)) => {
            // A limit may be a number with a fraction of zero.
            let value = value.as_i64().unwrap_or_else(|| value.as_f64().unwrap_or_default() as i64);
            wire::varint(out, number, value.cast_unsigned());
        }
        ("double", Value::Number(value)) => wire::double(out, number, value.as_f64().unwrap_or_default()),
        ("any", value) => {
            wire::nested(out, number, |any| wire::bytes(any, 2, to_yaml(value).as_bytes()));
        }
        (of, value) => {
            let mut inner = Vec::new();
            message(&mut inner, of, value, depth + 1)?;
            wire::bytes(out, number, &inner);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn types_of_the_table_are_known() {
        for message in MESSAGES.values() {
            let (Message::Members(fields) | Message::Union(fields)) = message;
            for of in fields.iter().map(|field| field.of) {
                let leaf = matches!(of, "string" | "bool" | "int64" | "double" | "any");
                assert!(leaf || MESSAGES.contains_key(of), "{of}");
            }
        }
    }

    /// The bytes of gnostic's `NewDocument` and `proto.Marshal` for the documents below.
    const V2: &str = "\
        0a03322e3012060a017412017642004a92010a8f010a03612e571287019a010173b201080a066f626a656374ca01750a\
        4d0a016c1248b201070a056172726179ba01150a130a11232f646566696e6974696f6e732f612e57fa01230a16782d6b\
        756265726e657465732d6c6973742d747970651209120761746f6d69630a0a0a0a016d1205aa010210010a180a017312\
        132a041202780a5803b201080a06737472696e67";
    const V3: &str = "\
        0a05332e302e3012060a017432017622002a760a740a720a03612e57126b0a69ca01066f626a656374fa015d0a250a01\
        6e12200a1e69000000000000f83fca01066e756d6265728a02090900000000000000000a110a016f120c0a0ad2010712\
        050a03232f720a210a0172121c121a0a18232f636f6d706f6e656e74732f736368656d61732f612e57";

    #[test]
    fn documents_are_encoded_as_gnostic_does() {
        let info = json!({"title": "t", "version": "v"});
        let v2 = json!({"swagger": "2.0", "info": info, "paths": {}, "definitions": {"a.W": {
            "type": "object", "required": ["s"], "properties": {
                "s": {"type": "string", "maxLength": 3, "default": "x"},
                "l": {"type": "array", "items": {"$ref": "#/definitions/a.W"}, "x-kubernetes-list-type": "atomic"},
                "m": {"additionalProperties": true}}}}});
        let v3 = json!({"openapi": "3.0.0", "info": info, "paths": {}, "components": {"schemas": {"a.W": {
            "type": "object", "properties": {
                "n": {"type": "number", "default": 0, "minimum": 1.5},
                "r": {"$ref": "#/components/schemas/a.W"}, "o": {"allOf": [{"$ref": "#/r"}]}}}}}});
        let hex = |of, document| -> String {
            let bytes = encode(of, &document).unwrap();
            bytes.iter().map(|byte| format!("{byte:02x}")).collect()
        };
        assert_eq!(hex("v2.Document", v2), V2);
        assert_eq!(hex("v3.Document", v3), V3);
    }

    #[test]
    fn unknown_member_is_refused() {
        let document = json!({"swagger": "2.0", "pathes": {}});
        assert_eq!(encode("v2.Document", &document).unwrap_err(), "v2.Document has invalid property: pathes");
    }
}
