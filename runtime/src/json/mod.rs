//! A deserializer for what servers send nearly always.
//!
//! It is made for many objects of known types: the text is checked to be UTF-8 once instead of string by string, what
//! nobody wants is passed over without being looked into, and sequences tell their length, so that vectors are not larger
//! than what they hold (a vector that grows has room for four elements, and a container takes 2 KB).
//!
//! It has no messages. Whatever it does not take, it calls [`Unclear`], and the caller has serde_json say what is wrong
//! or take it after all. What it takes, serde_json takes too and understands alike; only the inside of ignored values is
//! not checked for more than matching brackets and quotes.

mod access;
mod scan;

use std::fmt;

use serde::Deserialize;
use serde::de::value::BorrowedStrDeserializer;
use serde::de::{self, DeserializeOwned, Deserializer, Visitor};
use serde_json::value::RawValue;

use access::{Elements, Members, Variant};
use scan::Text;

/// Deeper nesting is left to serde_json, which has a limit of its own.
const DEEPEST: u32 = 100;

/// What [`Raw`] asks a deserializer for.
const RAW: &str = "$kubesmith::Raw";

/// What asks a deserializer for an object without `metadata.managedFields`; [`Fast`] alone leaves them out.
pub(crate) const LEAN: &str = "$kubesmith::Lean";

/// A value as it stands in the text; all of it is JSON.
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

            /// serde_json does not know the name and has one of its own.
            fn visit_newtype_struct<D: Deserializer<'de>>(self, inner: D) -> Result<Raw<'de>, D::Error> {
                <&RawValue>::deserialize(inner).map(|value| Raw(value.get()))
            }
        }
        deserializer.deserialize_newtype_struct(RAW, RawVisitor)
    }
}

/// It takes serde_json to say.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Unclear;

impl fmt::Display for Unclear {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("unclear")
    }
}

impl std::error::Error for Unclear {}

impl de::Error for Unclear {
    fn custom<T: fmt::Display>(_: T) -> Self {
        Unclear
    }

    // The messages of the others are not even made.
    fn invalid_type(_: de::Unexpected<'_>, _: &dyn de::Expected) -> Self {
        Unclear
    }

    fn missing_field(_: &'static str) -> Self {
        Unclear
    }
}

/// The value that the text is.
///
/// # Errors
/// serde_json's.
pub(crate) fn from_str<T: DeserializeOwned>(text: &str) -> Result<T, serde_json::Error> {
    let mut fast = Fast::new(text);
    match T::deserialize(&mut fast) {
        Ok(value) if fast.is_at_end() => Ok(value),
        _ => serde_json::from_str(text),
    }
}

/// Reads one value after the other from a text.
#[derive(Debug)]
pub(crate) struct Fast<'de> {
    text: Text<'de>,
    depth: u32,
    /// How deep the members are of an object whose `metadata.managedFields` nobody wants, and whether its metadata is being read.
    lean: Option<(u32, bool)>,
}

impl<'de> Fast<'de> {
    pub(crate) fn new(text: &'de str) -> Self {
        Self { text: Text::new(text), depth: 0, lean: None }
    }

    /// The members of an object whose braces are not in the text, up to the end of the text.
    pub(crate) fn bare_members<V: Visitor<'de>>(&mut self, visitor: V) -> Result<V::Value, Unclear> {
        visitor.visit_map(Members { fast: self, first: true, bare: true })
    }

    /// Whether the member of this name, of the object that is being read, is `managedFields` that nobody wants.
    fn is_unwanted(&mut self, name: &str) -> bool {
        let Some((depth, in_metadata)) = &mut self.lean else { return false };
        if self.depth == *depth {
            *in_metadata = name == "metadata";
        }
        *in_metadata && self.depth == *depth + 1 && name == "managedFields"
    }

    /// How many bytes have been read.
    pub(crate) fn position(&self) -> usize {
        self.text.position()
    }

    /// Whether nothing but blanks is left.
    pub(crate) fn is_at_end(&mut self) -> bool {
        self.text.peek().is_none()
    }

    fn deeper<T>(&mut self, read: impl FnOnce(&mut Self) -> Result<T, Unclear>) -> Result<T, Unclear> {
        if self.depth == DEEPEST {
            return Err(Unclear);
        }
        self.depth += 1;
        let result = read(self);
        self.depth -= 1;
        result
    }

    fn string<V: Visitor<'de>>(&mut self, visitor: V) -> Result<V::Value, Unclear> {
        match self.text.string()? {
            scan::Str::Plain(text) => visitor.visit_borrowed_str(text),
            scan::Str::Escaped(text) => visitor.visit_string(text),
        }
    }

    fn number<V: Visitor<'de>>(&mut self, visitor: V) -> Result<V::Value, Unclear> {
        match self.text.number()? {
            scan::Number::Positive(number) => visitor.visit_u64(number),
            scan::Number::Negative(number) => visitor.visit_i64(number),
            scan::Number::Float(number) => visitor.visit_f64(number),
        }
    }

    fn sequence<V: Visitor<'de>>(&mut self, visitor: V) -> Result<V::Value, Unclear> {
        self.text.expect(b'[')?;
        let left = self.text.count()?;
        self.deeper(|fast| {
            let value = visitor.visit_seq(Elements { fast: &mut *fast, left, first: true })?;
            fast.text.expect(b']')?;
            Ok(value)
        })
    }

    fn map<V: Visitor<'de>>(&mut self, visitor: V) -> Result<V::Value, Unclear> {
        self.text.expect(b'{')?;
        self.deeper(|fast| {
            let value = visitor.visit_map(Members { fast: &mut *fast, first: true, bare: false })?;
            fast.text.expect(b'}')?;
            Ok(value)
        })
    }
}

macro_rules! as_number {
    ($($method:ident)*) => {$(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unclear> {
            self.number(visitor)
        }
    )*};
}

macro_rules! as_string {
    ($($method:ident)*) => {$(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unclear> {
            self.string(visitor)
        }
    )*};
}

impl<'de> Deserializer<'de> for &mut Fast<'de> {
    type Error = Unclear;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unclear> {
        match self.text.peek().ok_or(Unclear)? {
            b'"' => self.string(visitor),
            b'{' => self.map(visitor),
            b'[' => self.sequence(visitor),
            b't' | b'f' => self.deserialize_bool(visitor),
            b'n' => self.deserialize_unit(visitor),
            _ => self.number(visitor),
        }
    }

    as_number! {
        deserialize_i8 deserialize_i16 deserialize_i32 deserialize_i64 deserialize_u8 deserialize_u16 deserialize_u32
        deserialize_u64 deserialize_f64
    }

    as_string! { deserialize_char deserialize_str deserialize_string deserialize_identifier }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unclear> {
        if self.text.word("true") {
            return visitor.visit_bool(true);
        }
        if self.text.word("false") { visitor.visit_bool(false) } else { Err(Unclear) }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unclear> {
        if self.text.word("null") { visitor.visit_none() } else { visitor.visit_some(self) }
    }

    fn deserialize_unit<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unclear> {
        if self.text.word("null") { visitor.visit_unit() } else { Err(Unclear) }
    }

    fn deserialize_unit_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Unclear> {
        self.deserialize_unit(visitor)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Unclear> {
        if name == RAW {
            return visitor.visit_borrowed_str(self.text.raw()?);
        }
        if name == LEAN {
            self.lean = Some((self.depth + 1, false));
            let object = visitor.visit_newtype_struct(&mut *self);
            self.lean = None;
            return object;
        }
        // serde_json talks to itself by such names.
        if name.starts_with('$') {
            return Err(Unclear);
        }
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unclear> {
        self.sequence(visitor)
    }

    fn deserialize_tuple<V: Visitor<'de>>(self, _: usize, visitor: V) -> Result<V::Value, Unclear> {
        self.sequence(visitor)
    }

    fn deserialize_tuple_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: usize,
        visitor: V,
    ) -> Result<V::Value, Unclear> {
        self.sequence(visitor)
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unclear> {
        self.map(visitor)
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Unclear> {
        self.map(visitor)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Unclear> {
        match self.text.peek() {
            Some(b'"') => match self.text.string()? {
                scan::Str::Plain(text) => visitor.visit_enum(BorrowedStrDeserializer::new(text)),
                scan::Str::Escaped(_) => Err(Unclear),
            },
            Some(b'{') => {
                self.text.expect(b'{')?;
                self.deeper(|fast| {
                    let value = visitor.visit_enum(Variant { fast: &mut *fast })?;
                    fast.text.expect(b'}')?;
                    Ok(value)
                })
            }
            _ => Err(Unclear),
        }
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unclear> {
        self.text.skip()?;
        visitor.visit_unit()
    }

    // Rounding to 32 bits, bytes and wide integers have rules of serde_json's own.

    fn deserialize_f32<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Unclear> {
        Err(Unclear)
    }

    fn deserialize_bytes<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Unclear> {
        Err(Unclear)
    }

    fn deserialize_byte_buf<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Unclear> {
        Err(Unclear)
    }
}

#[cfg(test)]
mod tests;
