//! Reads a value and tells of names that an object has twice, of which parsers take the last in silence.

use std::collections::BTreeSet;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

/// What was read.
#[derive(Debug, Default)]
pub(super) struct Read {
    pub(super) value: Value,
    /// The paths of the members that are there more than once.
    pub(super) repeated: BTreeSet<Vec<String>>,
}

/// Reads a value; of members with the same name the last one holds.
pub(super) fn read<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Read, D::Error> {
    let (mut path, mut repeated) = (Vec::new(), BTreeSet::new());
    let value = Walk { path: &mut path, repeated: &mut repeated }.deserialize(deserializer)?;
    Ok(Read { value, repeated })
}

struct Walk<'a> {
    path: &'a mut Vec<String>,
    repeated: &'a mut BTreeSet<Vec<String>>,
}

impl Walk<'_> {
    fn again(&mut self) -> Walk<'_> {
        Walk { path: self.path, repeated: self.repeated }
    }
}

impl<'de> DeserializeSeed<'de> for Walk<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Walk<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any valid JSON value")
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Value, E> {
        Ok(Number::from_f64(value).map_or(Value::Null, Value::Number))
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_string<E: Error>(self, value: String) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_unit<E: Error>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_none<E: Error>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        self.deserialize(deserializer)
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut access: A) -> Result<Value, A::Error> {
        let mut out = Vec::new();
        loop {
            self.path.push(out.len().to_string());
            let item = access.next_element_seed(self.again())?;
            self.path.pop();
            match item {
                Some(item) => out.push(item),
                None => return Ok(out.into()),
            }
        }
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut access: A) -> Result<Value, A::Error> {
        let mut out = Map::new();
        while let Some(name) = access.next_key::<String>()? {
            self.path.push(name);
            let value = access.next_value_seed(self.again())?;
            let name = self.path.last().cloned().unwrap_or_default();
            if out.insert(name, value).is_some() {
                self.repeated.insert(self.path.clone());
            }
            self.path.pop();
        }
        Ok(out.into())
    }
}
