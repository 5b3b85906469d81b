//! Members, elements and variants of what is being read.

use serde::de::value::{BorrowedStrDeserializer, StringDeserializer};
use serde::de::{
    DeserializeSeed, Deserializer as _, EnumAccess, MapAccess, SeqAccess, VariantAccess, Visitor,
};

use super::scan::Str;
use super::{Fast, Unclear};

/// The elements of a sequence whose bracket was read.
pub(super) struct Elements<'f, 'de> {
    pub(super) fast: &'f mut Fast<'de>,
    pub(super) left: usize,
    pub(super) first: bool,
}

impl<'de> SeqAccess<'de> for Elements<'_, 'de> {
    type Error = Unclear;

    fn next_element_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<Option<S::Value>, Unclear> {
        if self.left == 0 {
            return Ok(None);
        }
        if !std::mem::replace(&mut self.first, false) {
            self.fast.text.expect(b',')?;
        }
        self.left -= 1;
        seed.deserialize(&mut *self.fast).map(Some)
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.left)
    }
}

/// The members of an object whose brace was read.
pub(super) struct Members<'f, 'de> {
    pub(super) fast: &'f mut Fast<'de>,
    pub(super) first: bool,
    /// There are no braces; the text ends with the members.
    pub(super) bare: bool,
}

impl<'de> Members<'_, 'de> {
    /// The next name, with its colon, of a member that somebody wants.
    fn next_key(&mut self) -> Result<Option<Str<'de>>, Unclear> {
        loop {
            match self.fast.text.peek() {
                Some(b'}') if !self.bare => return Ok(None),
                None if self.bare => return Ok(None),
                Some(b',') if !self.first => self.fast.text.expect(b',')?,
                Some(_) if self.first => self.first = false,
                _ => return Err(Unclear),
            }
            let key = self.fast.text.string()?;
            self.fast.text.expect(b':')?;
            let name = match &key {
                Str::Plain(text) => text,
                Str::Escaped(text) => text.as_str(),
            };
            if !self.fast.is_unwanted(name) {
                return Ok(Some(key));
            }
            self.fast.text.skip()?;
        }
    }
}

impl<'de> MapAccess<'de> for Members<'_, 'de> {
    type Error = Unclear;

    fn next_key_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<Option<S::Value>, Unclear> {
        let Some(key) = self.next_key()? else { return Ok(None) };
        let key = match key {
            Str::Plain(text) => seed.deserialize(BorrowedStrDeserializer::new(text)),
            Str::Escaped(text) => seed.deserialize(StringDeserializer::new(text)),
        };
        key.map(Some)
    }

    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, Unclear> {
        seed.deserialize(&mut *self.fast)
    }
}

/// The one member of an object that is an enum with content.
pub(super) struct Variant<'f, 'de> {
    pub(super) fast: &'f mut Fast<'de>,
}

impl<'de> EnumAccess<'de> for Variant<'_, 'de> {
    type Error = Unclear;
    type Variant = Self;

    fn variant_seed<S: DeserializeSeed<'de>>(self, seed: S) -> Result<(S::Value, Self), Unclear> {
        let Str::Plain(name) = self.fast.text.string()? else { return Err(Unclear) };
        let variant = seed.deserialize(BorrowedStrDeserializer::new(name))?;
        self.fast.text.expect(b':')?;
        Ok((variant, self))
    }
}

impl<'de> VariantAccess<'de> for Variant<'_, 'de> {
    type Error = Unclear;

    fn unit_variant(self) -> Result<(), Unclear> {
        if self.fast.text.word("null") { Ok(()) } else { Err(Unclear) }
    }

    fn newtype_variant_seed<S: DeserializeSeed<'de>>(self, seed: S) -> Result<S::Value, Unclear> {
        seed.deserialize(self.fast)
    }

    fn tuple_variant<V: Visitor<'de>>(self, _: usize, visitor: V) -> Result<V::Value, Unclear> {
        self.fast.deserialize_seq(visitor)
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Unclear> {
        self.fast.deserialize_map(visitor)
    }
}
