//! Reads a value and tells of names that an object has twice, of which parsers take the last in silence.

use std::collections::BTreeSet;
use std::fmt;

use kubesmith_apimachinery::yaml::{Member, MemberName, Scalar, is_plain, json_number, merge};
use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

/// What was read.
#[derive(Debug, Default)]
pub(super) struct Read {
    pub(super) value: Value,
    /// The paths of the members that are there more than once.
    pub(super) repeated: BTreeSet<Vec<String>>,
}

/// Reads a value; of members with the same name the last one holds. YAML, whose source is given, is read as goyaml does, by which
/// definitions get to API servers: `yes` is true, `0777` is octal and `<<` merges.
pub(super) fn read<'de, D: Deserializer<'de>>(deserializer: D, yaml: Option<&str>) -> Result<Read, D::Error> {
    let (mut path, mut repeated) = (Vec::new(), BTreeSet::new());
    let value = Walk { path: &mut path, repeated: &mut repeated, yaml }.deserialize(deserializer)?;
    Ok(Read { value, repeated })
}

struct Walk<'a> {
    path: &'a mut Vec<String>,
    repeated: &'a mut BTreeSet<Vec<String>>,
    yaml: Option<&'a str>,
}

impl Walk<'_> {
    fn again(&mut self) -> Walk<'_> {
        Walk { path: self.path, repeated: self.repeated, yaml: self.yaml }
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

    // What is beyond 64 bits is a float.
    fn visit_u128<E: Error>(self, value: u128) -> Result<Value, E> {
        self.visit_f64(value as f64)
    }

    fn visit_i128<E: Error>(self, value: i128) -> Result<Value, E> {
        self.visit_f64(value as f64)
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Value, E> {
        // YAML gets to API servers by way of JSON.
        let number = self.yaml.map_or_else(|| Number::from_f64(value), |_| json_number(value));
        Ok(number.map_or(Value::Null, Value::Number))
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_borrowed_str<E: Error>(self, value: &'de str) -> Result<Value, E> {
        match self.yaml.filter(|source| is_plain(source, value)) {
            Some(_) => Ok(Scalar::json(value).unwrap_or_default()),
            None => self.visit_str(value),
        }
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
        while let Some(Member { name, merges, .. }) = access.next_key_seed(MemberName::of(self.yaml))? {
            if merges {
                merge(&mut out, access.next_value_seed(self.again())?).map_err(A::Error::custom)?;
                continue;
            }
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

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn yaml(text: &str) -> Result<Value, serde_yaml::Error> {
        read(serde_yaml::Deserializer::from_str(text), Some(text)).map(|read| read.value)
    }

    #[test]
    fn yaml_is_that_of_goyaml() {
        let text = "enum: [yes, 'no', 0o17, 0777, 1_000, 1e3, 2.0, 18446744073709551616]\nproperties: {y: {}, 'n': {}, 1: {}}\n";
        let expected = json!({
            "enum": [true, "no", 15, 511, 1000, 1000, 2, 18_446_744_073_709_551_616.0],
            "properties": {"true": {}, "n": {}, "1": {}},
        });
        assert_eq!(yaml(text).unwrap(), expected);
        assert!(yaml("~: 1").is_err());
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
}
