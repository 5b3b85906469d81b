//! A deserializer for the objects that API servers send.
//!
//! It differs from serde_json in three ways: the whole text is checked to be UTF-8 once instead of string by
//! string; skipped values are only scanned for their end; sequences announce their length, so that vectors are no
//! larger than their contents (a growing vector has room for four elements, and a container takes 2 KB).
//!
//! All typed objects are read with it, so that their code is compiled for one deserializer. It accepts a subset
//! of what serde_json accepts, with the same result and the same messages. Two differences remain: a struct is
//! never read from an array (as in Go), and skipped values are only checked for matching brackets and quotes.

mod access;
mod error;
mod key;
pub(crate) mod path;
mod scan;

use std::fmt;

use serde::Deserialize;
use serde::de::value::{BorrowedStrDeserializer, MapDeserializer, StringDeserializer};
use serde::de::{self, DeserializeOwned, Deserializer, Expected, Unexpected, Visitor};
use serde_json::value::RawValue;

use access::{Elements, Members, Variant};
pub(crate) use error::Error;
use scan::{Number, Str, Text};

/// The deepest nesting (serde_json's limit).
const DEEPEST: u32 = 127;

/// The name by which serde_json's `RawValue` asks its deserializer for raw JSON. The name is private to serde_json, but types
/// with `RawValue` fields would not decode without it; the tests fail if it changes.
///
/// The deserializer pays for this: 30,000 pods are cached in 0.44 of the time and 0.58 of the memory of kube-runtime, which
/// decodes with serde_json (`bench/runtime`, row `sync-pod`).
const RAW_VALUE: &str = "$serde_json::private::RawValue";

/// The name by which [`Raw`] asks for raw JSON.
const RAW: &str = "$kubesmith::Raw";

/// A value as it stands in the text, checked to be JSON.
pub(crate) struct Raw<'de>(pub(crate) &'de str);

impl<'de> Deserialize<'de> for Raw<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct RawVisitor;
        impl<'de> Visitor<'de> for RawVisitor {
            type Value = Raw<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("any value")
            }

            fn visit_borrowed_str<E: de::Error>(self, text: &'de str) -> Result<Raw<'de>, E> {
                Ok(Raw(text))
            }
        }
        deserializer.deserialize_newtype_struct(RAW, RawVisitor)
    }
}

/// Decodes a value.
///
/// # Errors
/// A serde_json error with line and column.
pub(crate) fn from_str<T: DeserializeOwned>(text: &str) -> Result<T, serde_json::Error> {
    let mut json = JsonReader::new(text);
    match T::deserialize(&mut json) {
        Ok(value) if json.is_at_end() => Ok(value),
        Ok(_) => Err(json.explain(&Error::new("trailing characters".to_owned()))),
        Err(error) => Err(json.explain(&error)),
    }
}

/// Reads values from a text, one after another.
#[doc(hidden)]
#[derive(Debug)]
pub struct JsonReader<'de> {
    text: Text<'de>,
    depth: u32,
    /// The depth of the members of an object whose `metadata.managedFields` is skipped, and whether its metadata is
    /// being read.
    lean: Option<(u32, bool)>,
}

impl<'de> JsonReader<'de> {
    pub(crate) fn new(text: &'de str) -> Self {
        Self { text: Text::new(text), depth: 0, lean: None }
    }

    /// Reads an object and skips its `metadata.managedFields`.
    pub(crate) fn without_managed_fields<T>(&mut self, read: impl FnOnce(&mut Self) -> T) -> T {
        self.lean = Some((self.depth + 1, false));
        let object = read(self);
        self.lean = None;
        object
    }

    /// Reads an object member by member. `member` gets the name and must read or [`skip`](Self::skip) the value.
    pub(crate) fn members(
        &mut self,
        member: &mut dyn FnMut(&mut Self, &str) -> Result<(), Error>,
    ) -> Result<(), Error> {
        if self.text.peek() != Some(b'{') {
            return Err(self.mismatch(&"an object"));
        }
        self.text.expect(b'{')?;
        self.enter()?;
        let mut first = true;
        loop {
            let mut members = Members { reader: &mut *self, first, bare: false };
            let Some(name) = members.next_key()? else { break };
            first = false;
            member(self, name.as_str())?;
        }
        self.leave(b'}')
    }

    /// Reads the members of an object whose braces are not in the text, up to the end of the text.
    pub(crate) fn bare_members<V: Visitor<'de>>(&mut self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_map(Members { reader: self, first: true, bare: true })
    }

    /// Skips a value that is checked to be JSON. `scalar` gets what comes before each string or number since the last
    /// one, and the string or number without quotes; the rest is returned.
    pub(crate) fn scalars(&mut self, scalar: &mut dyn FnMut(&str, &str)) -> Result<&'de str, Error> {
        self.text.scalars(scalar)
    }

    /// Skips a value.
    pub(crate) fn skip(&mut self) -> Result<(), Error> {
        self.text.skip()
    }

    /// Reports whether this member is the `managedFields` to skip.
    fn is_unwanted(&mut self, name: &str) -> bool {
        let Some((depth, in_metadata)) = &mut self.lean else { return false };
        if self.depth == *depth {
            *in_metadata = name == "metadata";
        }
        *in_metadata && self.depth == *depth + 1 && name == "managedFields"
    }

    /// Returns the number of bytes read.
    pub(crate) fn position(&self) -> usize {
        self.text.position()
    }

    /// Reports whether the rest is only white space.
    pub(crate) fn is_at_end(&mut self) -> bool {
        self.text.peek().is_none()
    }

    /// Adds the position to an error.
    pub(crate) fn explain(&self, error: &Error) -> serde_json::Error {
        let message = match error.message() {
            Some(message) => message,
            None => match serde_json::from_str::<&RawValue>(self.text.text()) {
                Err(error) => return error,
                Ok(_) => "unexpected value",
            },
        };
        let (line, column) = self.text.place();
        de::Error::custom(format_args!("{message} at line {line} column {column}"))
    }

    /// Returns the error for a value of another type than expected.
    #[cold]
    fn mismatch(&mut self, expected: &dyn Expected) -> Error {
        let found = match self.text.peek() {
            Some(b'"') => self
                .text
                .string()
                .map(|text| de::Error::invalid_type(Unexpected::Str(text.as_str()), expected)),
            Some(b'{') => Ok(de::Error::invalid_type(Unexpected::Map, expected)),
            Some(b'[') => Ok(de::Error::invalid_type(Unexpected::Seq, expected)),
            Some(b't') if self.text.word("true") => {
                Ok(de::Error::invalid_type(Unexpected::Bool(true), expected))
            }
            Some(b'f') if self.text.word("false") => {
                Ok(de::Error::invalid_type(Unexpected::Bool(false), expected))
            }
            Some(b'n') if self.text.word("null") => Ok(de::Error::invalid_type(Unexpected::Unit, expected)),
            _ => self.text.number().map(|number| de::Error::invalid_type(number.unexpected(), expected)),
        };
        found.unwrap_or(Error::SYNTAX)
    }

    fn string<V: Visitor<'de>>(&mut self, visitor: V) -> Result<V::Value, Error> {
        if self.text.peek() != Some(b'"') {
            return Err(self.mismatch(&visitor));
        }
        match self.text.string()? {
            Str::Plain(text) => visitor.visit_borrowed_str(text),
            Str::Escaped(text) => visitor.visit_string(text),
        }
    }

    fn number<V: Visitor<'de>>(&mut self, visitor: V) -> Result<V::Value, Error> {
        if !matches!(self.text.peek(), Some(b'-' | b'0'..=b'9')) {
            return Err(self.mismatch(&visitor));
        }
        match self.text.number()? {
            Number::Positive(number) => visitor.visit_u64(number),
            Number::Negative(number) => visitor.visit_i64(number),
            Number::Float(number) => visitor.visit_f64(number),
        }
    }

    fn sequence<V: Visitor<'de>>(&mut self, visitor: V) -> Result<V::Value, Error> {
        let left = match self.text.peek() {
            Some(b'[') => self.text.open_sequence()?,
            _ => return Err(self.mismatch(&visitor)),
        };
        self.enter()?;
        let value = visitor.visit_seq(Elements { reader: &mut *self, left, first: true })?;
        self.leave(b']')?;
        Ok(value)
    }

    fn map<V: Visitor<'de>>(&mut self, visitor: V) -> Result<V::Value, Error> {
        if self.text.peek() != Some(b'{') {
            return Err(self.mismatch(&visitor));
        }
        self.text.expect(b'{')?;
        self.enter()?;
        let value = visitor.visit_map(Members { reader: &mut *self, first: true, bare: false })?;
        self.leave(b'}')?;
        Ok(value)
    }

    fn enter(&mut self) -> Result<(), Error> {
        if self.depth == DEEPEST {
            return Err(Error::new("recursion limit exceeded".to_owned()));
        }
        self.depth += 1;
        Ok(())
    }

    /// Reads the closing bracket after the last element or member.
    fn leave(&mut self, bracket: u8) -> Result<(), Error> {
        self.depth -= 1;
        match self.text.peek() {
            Some(b',') => Err(Error::new("trailing characters".to_owned())),
            _ => self.text.expect(bracket),
        }
    }
}

macro_rules! as_number {
    ($($method:ident)*) => {$(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
            self.number(visitor)
        }
    )*};
}

macro_rules! as_string {
    ($($method:ident)*) => {$(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
            self.string(visitor)
        }
    )*};
}

impl<'de> Deserializer<'de> for &mut JsonReader<'de> {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.text.peek() {
            Some(b'"') => self.string(visitor),
            Some(b'{') => self.map(visitor),
            Some(b'[') => self.sequence(visitor),
            Some(b't' | b'f') => self.deserialize_bool(visitor),
            Some(b'n') => self.deserialize_unit(visitor),
            _ => self.number(visitor),
        }
    }

    as_number! {
        deserialize_i8 deserialize_i16 deserialize_i32 deserialize_i64 deserialize_u8 deserialize_u16 deserialize_u32
        deserialize_u64 deserialize_f32 deserialize_f64
    }

    as_string! { deserialize_char deserialize_str deserialize_string deserialize_identifier }

    fn deserialize_i128<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        if !matches!(self.text.peek(), Some(b'-' | b'0'..=b'9')) {
            return Err(self.mismatch(&visitor));
        }
        visitor.visit_i128(self.text.integer()?.parse().map_err(|_| out_of_range())?)
    }

    fn deserialize_u128<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        if !matches!(self.text.peek(), Some(b'-' | b'0'..=b'9')) {
            return Err(self.mismatch(&visitor));
        }
        visitor.visit_u128(self.text.integer()?.parse().map_err(|_| out_of_range())?)
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        if self.text.word("true") {
            return visitor.visit_bool(true);
        }
        if self.text.word("false") { visitor.visit_bool(false) } else { Err(self.mismatch(&visitor)) }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        if self.text.word("null") { visitor.visit_none() } else { visitor.visit_some(self) }
    }

    fn deserialize_unit<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        if self.text.word("null") { visitor.visit_unit() } else { Err(self.mismatch(&visitor)) }
    }

    fn deserialize_unit_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Error> {
        self.deserialize_unit(visitor)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Error> {
        match name {
            RAW => visitor.visit_borrowed_str(self.text.raw()?),
            RAW_VALUE => {
                let raw = BorrowedStrDeserializer::new(self.text.raw()?);
                visitor.visit_map(MapDeserializer::new(std::iter::once((RAW_VALUE, raw))))
            }
            _ => visitor.visit_newtype_struct(self),
        }
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        self.sequence(visitor)
    }

    fn deserialize_tuple<V: Visitor<'de>>(self, _: usize, visitor: V) -> Result<V::Value, Error> {
        self.sequence(visitor)
    }

    fn deserialize_tuple_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: usize,
        visitor: V,
    ) -> Result<V::Value, Error> {
        self.sequence(visitor)
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        self.map(visitor)
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        self.map(visitor)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        match self.text.peek() {
            Some(b'"') => match self.text.string()? {
                Str::Plain(text) => visitor.visit_enum(BorrowedStrDeserializer::new(text)),
                Str::Escaped(text) => visitor.visit_enum(StringDeserializer::new(text)),
            },
            Some(b'{') => {
                self.text.expect(b'{')?;
                self.enter()?;
                let value = visitor.visit_enum(Variant { reader: &mut *self })?;
                self.leave(b'}')?;
                Ok(value)
            }
            _ => Err(self.mismatch(&visitor)),
        }
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        self.text.skip()?;
        visitor.visit_unit()
    }

    fn deserialize_bytes<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.text.peek() {
            Some(b'"') => match self.text.string()? {
                Str::Plain(text) => visitor.visit_borrowed_bytes(text.as_bytes()),
                Str::Escaped(text) => visitor.visit_byte_buf(text.into_bytes()),
            },
            Some(b'[') => self.sequence(visitor),
            _ => Err(self.mismatch(&visitor)),
        }
    }

    fn deserialize_byte_buf<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        self.deserialize_bytes(visitor)
    }
}

fn out_of_range() -> Error {
    Error::new("number out of range".to_owned())
}

#[cfg(test)]
mod tests;
