//! The only reader of JSON and YAML. Both become JSON values; YAML is read like goyaml reads it for kubectl and API
//! servers, where `yes` is true, `0777` is octal and `<<` merges.

use std::collections::BTreeSet;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

use crate::yaml::{Member, MemberName, Scalar, is_plain, json_number, merge};

/// A step from a value to a value in it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Step {
    /// A member of an object.
    Member(String),
    /// An item of a list, from 0.
    Item(usize),
}

impl Step {
    /// The value after the step.
    #[must_use]
    pub fn in_value<'v>(&self, value: &'v Value) -> Option<&'v Value> {
        match self {
            Self::Member(name) => value.get(name),
            Self::Item(index) => value.get(index),
        }
    }
}

/// Observes what is read. Each function may end reading with an error; the default is to do nothing.
pub trait Observer {
    /// Called before a value or the name of a member of about this many bytes is kept.
    ///
    /// # Errors
    /// A message ends reading.
    fn value(&mut self, bytes: usize) -> Result<(), &'static str> {
        let _ = bytes;
        Ok(())
    }

    /// Called before the member at the path is read.
    fn member(&mut self, path: &[Step]) {
        let _ = path;
    }

    /// Called when the member at the path occurs again; the last one counts. In YAML, its name begins at the offset, in
    /// bytes, which is unknown for a quoted name with escapes.
    ///
    /// # Errors
    /// A message ends reading.
    fn duplicate(&mut self, path: &[Step], offset: Option<usize>) -> Result<(), &'static str> {
        let _ = (path, offset);
        Ok(())
    }

    /// Called when the member at the path replaces one that `<<` merged, which goyaml reports as a duplicate in strict
    /// mode.
    ///
    /// # Errors
    /// A message ends reading.
    fn replaces_merged(&mut self, path: &[Step], offset: Option<usize>) -> Result<(), &'static str> {
        self.duplicate(path, offset)
    }
}

impl Observer for () {}

/// Reads a value of JSON or, if `yaml` has its source, of YAML.
///
/// # Errors
/// Returns the deserializer's error, an error for a number that JSON lacks, or the observer's.
pub fn read<'de, D, O>(deserializer: D, yaml: Option<&str>, observer: &mut O) -> Result<Value, D::Error>
where
    D: Deserializer<'de>,
    O: Observer,
{
    Reader { path: &mut Vec::new(), yaml, observer }.deserialize(deserializer)
}

const NOT_FINITE: &str = "a number must be finite";

struct Reader<'r, O> {
    path: &'r mut Vec<Step>,
    yaml: Option<&'r str>,
    observer: &'r mut O,
}

impl<O: Observer> Reader<'_, O> {
    fn again(&mut self) -> Reader<'_, O> {
        Reader { path: self.path, yaml: self.yaml, observer: self.observer }
    }

    fn keep<E: Error>(self, value: Value) -> Result<Value, E> {
        let bytes = value.as_str().map_or(1, str::len);
        self.observer.value(bytes).map(|()| value).map_err(E::custom)
    }
}

impl<'de, O: Observer> DeserializeSeed<'de> for Reader<'_, O> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de, O: Observer> Visitor<'de> for Reader<'_, O> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any JSON value")
    }

    fn visit_unit<E: Error>(self) -> Result<Value, E> {
        self.keep(Value::Null)
    }

    fn visit_none<E: Error>(self) -> Result<Value, E> {
        self.keep(Value::Null)
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        self.deserialize(deserializer)
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Value, E> {
        self.keep(value.into())
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Value, E> {
        self.keep(value.into())
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Value, E> {
        self.keep(value.into())
    }

    // Numbers beyond 64 bits become floats.
    #[expect(clippy::cast_precision_loss, reason = "that is what a float is")]
    fn visit_u128<E: Error>(self, value: u128) -> Result<Value, E> {
        self.visit_f64(value as f64)
    }

    #[expect(clippy::cast_precision_loss, reason = "that is what a float is")]
    fn visit_i128<E: Error>(self, value: i128) -> Result<Value, E> {
        self.visit_f64(value as f64)
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Value, E> {
        // API servers convert YAML to JSON.
        let number = self.yaml.map_or_else(|| Number::from_f64(value), |_| json_number(value));
        self.keep(number.map(Value::Number).ok_or_else(|| E::custom(NOT_FINITE))?)
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<Value, E> {
        self.keep(value.into())
    }

    fn visit_string<E: Error>(self, value: String) -> Result<Value, E> {
        self.keep(value.into())
    }

    fn visit_borrowed_str<E: Error>(self, value: &'de str) -> Result<Value, E> {
        match self.yaml.filter(|source| is_plain(source, value)) {
            Some(_) => self.keep(Scalar::json(value).ok_or_else(|| E::custom(NOT_FINITE))?),
            None => self.visit_str(value),
        }
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut access: A) -> Result<Value, A::Error> {
        self.observer.value(1).map_err(A::Error::custom)?;
        let mut items = Vec::new();
        loop {
            self.path.push(Step::Item(items.len()));
            let item = access.next_element_seed(self.again())?;
            self.path.pop();
            match item {
                Some(item) => items.push(item),
                None => return Ok(Value::Array(items)),
            }
        }
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut access: A) -> Result<Value, A::Error> {
        self.observer.value(1).map_err(A::Error::custom)?;
        let (mut members, mut merged) = (Map::new(), BTreeSet::new());
        while let Some(Member { name, merges, offset }) = access.next_key_seed(MemberName::of(self.yaml))? {
            if merges {
                let others = access.next_value_seed(self.again())?;
                merged.extend(names(&others).cloned());
                merge(&mut members, others).map_err(A::Error::custom)?;
                continue;
            }
            self.observer.value(name.len()).map_err(A::Error::custom)?;
            self.path.push(Step::Member(name.clone()));
            self.observer.member(self.path);
            let value = access.next_value_seed(self.again())?;
            let was_merged = merged.remove(&name);
            if members.insert(name, value).is_some() {
                let observed = match was_merged {
                    true => self.observer.replaces_merged(self.path, offset),
                    false => self.observer.duplicate(self.path, offset),
                };
                observed.map_err(A::Error::custom)?;
            }
            self.path.pop();
        }
        Ok(Value::Object(members))
    }
}

/// The names in a map, or in a list of maps.
fn names(merged: &Value) -> impl Iterator<Item = &String> {
    let maps = merged.as_array().map_or(std::slice::from_ref(merged), Vec::as_slice);
    maps.iter().filter_map(Value::as_object).flat_map(Map::keys)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[derive(Default)]
    struct Heard(Vec<String>);

    impl Observer for Heard {
        fn member(&mut self, path: &[Step]) {
            self.0.push(format!("{path:?}"));
        }

        fn duplicate(&mut self, path: &[Step], offset: Option<usize>) -> Result<(), &'static str> {
            self.0.push(format!("again {path:?} {offset:?}"));
            Ok(())
        }

        fn replaces_merged(&mut self, path: &[Step], _: Option<usize>) -> Result<(), &'static str> {
            self.0.push(format!("merged {path:?}"));
            Ok(())
        }
    }

    fn yaml(text: &str) -> Result<Value, serde_yaml::Error> {
        read(serde_yaml::Deserializer::from_str(text), Some(text), &mut ())
    }

    #[test]
    fn yaml_parses_as_in_goyaml() {
        let text = "enum: [yes, 'no', 0o17, 0777, 1_000, 1e3, 2.0, 18446744073709551616]\nproperties: {y: {}, 'n': {}, 1: {}}\n";
        let expected = json!({
            "enum": [true, "no", 15, 511, 1000, 1000, 2, 18_446_744_073_709_551_616.0],
            "properties": {"true": {}, "n": {}, "1": {}},
        });
        assert_eq!(yaml(text).unwrap(), expected);
        assert!(yaml("~: 1").is_err());
        assert!(yaml("a: .nan").is_err());
    }

    #[test]
    fn anchors_are_merged() {
        let text = "a: &a {type: string, x: 1}\nb: &b {x: 2, z: 2}\nc: {<<: *a, type: integer}\nd: {<<: [*a, *b]}\n'<<': 1\n";
        let expected = json!({
            "a": {"type": "string", "x": 1}, "b": {"x": 2, "z": 2}, "c": {"type": "integer", "x": 1},
            "d": {"type": "string", "x": 1, "z": 2}, "<<": 1,
        });
        assert_eq!(yaml(text).unwrap(), expected);
        assert!(yaml("<<: 1").is_err());
    }

    #[test]
    fn members_and_duplicates_are_observed() {
        let text = "a: [{b: 1}]\na: 2\n";
        let mut heard = Heard::default();
        let value = read(serde_yaml::Deserializer::from_str(text), Some(text), &mut heard).unwrap();
        assert_eq!(value, json!({"a": 2}));
        let a = r#"[Member("a")]"#;
        let b = r#"[Member("a"), Item(0), Member("b")]"#;
        assert_eq!(heard.0, [a, b, a, &format!("again {a} Some(12)")]);
    }

    #[test]
    fn member_that_replaces_a_merged_one_is_observed_as_that_once() {
        let text = "a: &a {x: 1}\nb: {<<: *a, x: 2, x: 3}\n";
        let mut heard = Heard::default();
        let value = read(serde_yaml::Deserializer::from_str(text), Some(text), &mut heard).unwrap();
        assert_eq!(value["b"], json!({"x": 3}));
        let again: Vec<&str> =
            heard.0.iter().filter_map(|it| it.split(' ').next()).filter(|it| !it.starts_with('[')).collect();
        assert_eq!(again, ["merged", "again"]);
    }

    #[test]
    fn decoding_stops_when_the_observer_fails() {
        struct Small(usize);
        impl Observer for Small {
            fn value(&mut self, bytes: usize) -> Result<(), &'static str> {
                self.0 = self.0.checked_sub(bytes).ok_or("too large")?;
                Ok(())
            }
        }
        let read =
            |room| read(&mut serde_json::Deserializer::from_str(r#"{"a": "text"}"#), None, &mut Small(room));
        assert!(read(6).is_ok());
        assert!(read(5).unwrap_err().to_string().starts_with("too large"));
    }
}
