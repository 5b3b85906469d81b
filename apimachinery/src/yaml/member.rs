//! Keys of maps, and merge keys, as goyaml reads them.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, Visitor};
use serde_json::{Map, Value};

use super::scalar::float_key;
use super::scalar::offset_of;
use super::{Scalar, is_plain};

/// Merges the value of a `<<` key, a map or a list of maps, into `out`. It replaces the entries before it, and the first map of a
/// list wins, as in goyaml.
///
/// # Errors
/// A value to merge is not a map.
pub fn merge(out: &mut Map<String, Value>, merged: Value) -> Result<(), &'static str> {
    const WRONG: &str = "yaml: map merge requires map or sequence of maps as the value";
    let all = match merged {
        Value::Array(all) => all,
        one => vec![one],
    };
    for one in all.into_iter().rev() {
        let Value::Object(members) = one else { return Err(WRONG) };
        out.extend(members);
    }
    Ok(())
}

/// A key of a mapping.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member {
    /// The key as a string.
    pub name: String,
    /// Whether it is the merge key `<<`.
    pub merges: bool,
    /// The start of the key in YAML, in bytes, if the parser reports it.
    pub offset: Option<usize>,
}

impl Member {
    fn new(name: String) -> Self {
        Self { name, merges: false, offset: None }
    }
}

/// Reads a key, and detects the merge key `<<`. Keys of YAML may be other scalars than strings; they become strings as
/// in goyaml.
#[derive(Clone, Copy, Debug)]
pub struct MemberName<'a> {
    yaml: Option<&'a str>,
}

impl<'a> MemberName<'a> {
    /// Reads keys of YAML from this source, or of JSON without a source.
    #[must_use]
    pub fn of(yaml: Option<&'a str>) -> Self {
        Self { yaml }
    }
}

impl<'de> DeserializeSeed<'de> for MemberName<'_> {
    type Value = Member;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Member, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for MemberName<'_> {
    type Value = Member;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a scalar key")
    }

    fn visit_bool<E>(self, v: bool) -> Result<Member, E> {
        Ok(Member::new(v.to_string()))
    }

    fn visit_i64<E>(self, v: i64) -> Result<Member, E> {
        Ok(Member::new(v.to_string()))
    }

    fn visit_u64<E>(self, v: u64) -> Result<Member, E> {
        Ok(Member::new(v.to_string()))
    }

    #[expect(clippy::cast_precision_loss, reason = "that is what a float is")]
    fn visit_u128<E>(self, v: u128) -> Result<Member, E> {
        Ok(Member::new(float_key(v as f64)))
    }

    #[expect(clippy::cast_precision_loss, reason = "that is what a float is")]
    fn visit_i128<E>(self, v: i128) -> Result<Member, E> {
        Ok(Member::new(float_key(v as f64)))
    }

    fn visit_f64<E>(self, v: f64) -> Result<Member, E> {
        Ok(Member::new(float_key(v)))
    }

    fn visit_str<E>(self, v: &str) -> Result<Member, E> {
        Ok(Member::new(v.to_owned()))
    }

    fn visit_borrowed_str<E: Error>(self, v: &'de str) -> Result<Member, E> {
        let offset = self.yaml.and_then(|source| offset_of(source, v));
        if !self.yaml.is_some_and(|source| is_plain(source, v)) {
            return Ok(Member { offset, ..Member::new(v.to_owned()) });
        }
        let member = match Scalar::of(v) {
            Scalar::Null => self.visit_unit(),
            Scalar::Bool(value) => self.visit_bool(value),
            Scalar::Integer(value) => self.visit_i64(value),
            Scalar::Unsigned(value) => self.visit_u64(value),
            Scalar::Float(value) => self.visit_f64(value),
            Scalar::Time | Scalar::Text => Ok(Member { merges: v == "<<", ..Member::new(v.to_owned()) }),
        }?;
        Ok(Member { offset, ..member })
    }

    fn visit_unit<E: Error>(self) -> Result<Member, E> {
        Err(E::custom("a key must not be null"))
    }
}
