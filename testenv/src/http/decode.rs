//! Bodies: JSON and YAML, with the paths of fields that occur twice.

use std::cell::RefCell;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

/// A decoded body.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Decoded {
    pub(crate) value: Value,
    /// Paths of members that were given more than once; the last one counts.
    pub(crate) duplicates: Vec<String>,
}

/// Reads JSON; nesting is limited by the parser.
///
/// # Errors
/// What is wrong with the text.
pub(crate) fn json(body: &[u8]) -> Result<Decoded, String> {
    if body.is_empty() {
        return Err("unexpected end of JSON input (<empty>)".to_owned());
    }
    let duplicates = RefCell::new(Vec::new());
    let seed = Seed { path: String::new(), duplicates: &duplicates };
    let mut deserializer = serde_json::Deserializer::from_slice(body);
    let value = seed.deserialize(&mut deserializer).map_err(|e| e.to_string())?;
    deserializer.end().map_err(|e| e.to_string())?;
    Ok(Decoded { value, duplicates: duplicates.into_inner() })
}

/// Reads one YAML document.
///
/// # Errors
/// What is wrong with the text.
pub(crate) fn yaml(body: &[u8]) -> Result<Decoded, String> {
    let text = std::str::from_utf8(body).map_err(|e| format!("yaml: invalid UTF-8: {e}"))?;
    if open_brackets(body) > YAML_OPEN_BRACKETS {
        return Err("error converting YAML to JSON: yaml: exceeded max depth of 10000".to_owned());
    }
    let duplicates = RefCell::new(Vec::new());
    let seed = Seed { path: String::new(), duplicates: &duplicates };
    let value = seed
        .deserialize(serde_yaml::Deserializer::from_str(text))
        .map_err(|e| format!("error converting YAML to JSON: {e}"))?;
    Ok(Decoded { value, duplicates: duplicates.into_inner() })
}

/// The YAML parser's time grows with the square of brackets that are open at once.
const YAML_OPEN_BRACKETS: usize = 2_000;

/// The largest number of brackets open at once, wherever they stand.
fn open_brackets(text: &[u8]) -> usize {
    let (mut open, mut most) = (0_usize, 0);
    for byte in text {
        match byte {
            b'[' | b'{' => open += 1,
            b']' | b'}' => open = open.saturating_sub(1),
            _ => {}
        }
        most = most.max(open);
    }
    most
}

#[derive(Clone)]
struct Seed<'a> {
    path: String,
    duplicates: &'a RefCell<Vec<String>>,
}

impl Seed<'_> {
    fn member(&self, key: &str) -> Self {
        let path = if self.path.is_empty() { key.to_owned() } else { format!("{}.{key}", self.path) };
        Self { path, duplicates: self.duplicates }
    }

    fn element(&self, index: usize) -> Self {
        Self { path: format!("{}[{index}]", self.path), duplicates: self.duplicates }
    }
}

impl<'de> DeserializeSeed<'de> for Seed<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Seed<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any JSON value")
    }

    fn visit_bool<E>(self, v: bool) -> Result<Value, E> {
        Ok(Value::Bool(v))
    }

    fn visit_i64<E>(self, v: i64) -> Result<Value, E> {
        Ok(v.into())
    }

    fn visit_u64<E>(self, v: u64) -> Result<Value, E> {
        Ok(v.into())
    }

    fn visit_f64<E: serde::de::Error>(self, v: f64) -> Result<Value, E> {
        Number::from_f64(v).map(Value::Number).ok_or_else(|| E::custom("a number must be finite"))
    }

    fn visit_str<E>(self, v: &str) -> Result<Value, E> {
        Ok(v.into())
    }

    fn visit_string<E>(self, v: String) -> Result<Value, E> {
        Ok(v.into())
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_none<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Value, A::Error> {
        let mut out = Vec::new();
        while let Some(value) = list.next_element_seed(self.element(out.len()))? {
            out.push(value);
        }
        Ok(Value::Array(out))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value, A::Error> {
        let mut out = Map::new();
        while let Some(key) = map.next_key_seed(Key)? {
            let inner = self.member(&key);
            let path = inner.path.clone();
            let value = map.next_value_seed(inner)?;
            if out.insert(key, value).is_some() {
                self.duplicates.borrow_mut().push(path);
            }
        }
        Ok(Value::Object(out))
    }
}

/// A member's name; YAML allows scalars that are no strings.
struct Key;

impl<'de> DeserializeSeed<'de> for Key {
    type Value = String;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<String, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl Visitor<'_> for Key {
    type Value = String;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a scalar key")
    }

    fn visit_bool<E>(self, v: bool) -> Result<String, E> {
        Ok(v.to_string())
    }

    fn visit_i64<E>(self, v: i64) -> Result<String, E> {
        Ok(v.to_string())
    }

    fn visit_u64<E>(self, v: u64) -> Result<String, E> {
        Ok(v.to_string())
    }

    fn visit_f64<E>(self, v: f64) -> Result<String, E> {
        Ok(v.to_string())
    }

    fn visit_str<E>(self, v: &str) -> Result<String, E> {
        Ok(v.to_owned())
    }

    fn visit_unit<E: serde::de::Error>(self) -> Result<String, E> {
        Err(E::custom("a key must not be null"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn repeated_members_are_reported_by_path() {
        let decoded = json(br#"{"a":1,"b":[{"c":1,"c":2}],"a":3}"#).unwrap();
        assert_eq!(decoded.value, json!({"a": 3, "b": [{"c": 2}]}));
        assert_eq!(decoded.duplicates, ["b[0].c", "a"]);
    }

    #[test]
    fn yaml_becomes_json() {
        let decoded = yaml(b"a: 1\nb: [x, 2.5, true, null]\n1: one\n").unwrap();
        assert_eq!(decoded.value, json!({"a": 1, "b": ["x", 2.5, true, null], "1": "one"}));
    }

    #[test]
    fn hostile_text_is_an_error() {
        assert!(json(b"").is_err());
        assert!(json(b"{} {}").is_err());
        assert!(json(&b"[".repeat(100_000)).is_err());
        assert!(json(b"\"\xff\"").is_err());
        assert!(yaml(b"\xff").is_err());
        assert!(yaml(&b"[".repeat(1_000_000)).is_err());
        assert!(yaml(&b"[".repeat(1_500)).is_err());
        assert!(yaml(b"a: .inf").is_err());
        let bomb = "a: &a [x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b]\n\
                    d: &d [*c,*c,*c,*c,*c,*c,*c,*c]\ne: &e [*d,*d,*d,*d,*d,*d,*d,*d]\nf: &f [*e,*e,*e,*e,*e,*e,*e,*e]\n\
                    g: &g [*f,*f,*f,*f,*f,*f,*f,*f]\nh: [*g,*g,*g,*g,*g,*g,*g,*g]\n";
        assert!(yaml(bomb.as_bytes()).is_err());
    }
}
