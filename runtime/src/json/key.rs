//! Names of members as keys of maps.

use serde::de::value::BorrowedStrDeserializer;
use serde::de::{Deserializer, IntoDeserializer as _, Visitor};
use serde::forward_to_deserialize_any;

use super::Error;
use super::scan::{Number, Str, Text};

/// A member's name. Numbers and booleans as keys are text in JSON.
pub(super) struct MapKey<'de>(pub(super) Str<'de>);

impl MapKey<'_> {
    fn number(&self) -> Result<Number, Error> {
        let key = self.0.as_str();
        let mut text = Text::new(key);
        match text.number() {
            // Spaces around the number are an error here.
            Ok(number) if text.position() == key.len() && !key.starts_with([' ', '\n', '\r', '\t']) => {
                Ok(number)
            }
            _ => Err(Error::new("invalid value: expected key to be a number in quotes".to_owned())),
        }
    }
}

macro_rules! as_number {
    ($($method:ident)*) => {$(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
            match self.number()? {
                Number::Positive(number) => visitor.visit_u64(number),
                Number::Negative(number) => visitor.visit_i64(number),
                Number::Float(number) => visitor.visit_f64(number),
            }
        }
    )*};
}

impl<'de> Deserializer<'de> for MapKey<'de> {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.0 {
            Str::Plain(text) => visitor.visit_borrowed_str(text),
            Str::Escaped(text) => visitor.visit_string(text),
        }
    }

    as_number! {
        deserialize_i8 deserialize_i16 deserialize_i32 deserialize_i64 deserialize_i128 deserialize_u8 deserialize_u16
        deserialize_u32 deserialize_u64 deserialize_u128 deserialize_f32 deserialize_f64
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.0.as_str() {
            "true" => visitor.visit_bool(true),
            "false" => visitor.visit_bool(false),
            _ => self.deserialize_any(visitor),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Error> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        match self.0 {
            Str::Plain(text) => visitor.visit_enum(BorrowedStrDeserializer::new(text)),
            Str::Escaped(text) => visitor.visit_enum(text.into_deserializer()),
        }
    }

    forward_to_deserialize_any! {
        char str string bytes byte_buf unit unit_struct seq tuple tuple_struct map struct identifier ignored_any
    }
}
