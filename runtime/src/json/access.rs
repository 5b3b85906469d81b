//! Access to members, elements and variants.

use serde::de::{
    Deserialize, DeserializeSeed, Deserializer as _, EnumAccess, MapAccess, SeqAccess, VariantAccess, Visitor,
};

use super::key::MapKey;
use super::scan::Str;
use super::{Error, JsonReader};

/// The elements of a sequence, after its opening bracket.
pub(super) struct Elements<'f, 'de> {
    pub(super) reader: &'f mut JsonReader<'de>,
    pub(super) left: usize,
    pub(super) first: bool,
}

impl<'de> SeqAccess<'de> for Elements<'_, 'de> {
    type Error = Error;

    fn next_element_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<Option<S::Value>, Error> {
        if self.left == 0 {
            return Ok(None);
        }
        if !std::mem::replace(&mut self.first, false) {
            self.reader.text.expect(b',')?;
        }
        self.left -= 1;
        seed.deserialize(&mut *self.reader).map(Some)
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.left)
    }
}

/// The members of an object, after its opening brace.
pub(super) struct Members<'f, 'de> {
    pub(super) reader: &'f mut JsonReader<'de>,
    pub(super) first: bool,
    /// There are no braces; the members end with the text.
    pub(super) bare: bool,
}

impl<'de> Members<'_, 'de> {
    /// Returns the next name that is not skipped, after its colon.
    pub(super) fn next_key(&mut self) -> Result<Option<Str<'de>>, Error> {
        loop {
            match self.reader.text.peek() {
                Some(b'}') if !self.bare => return Ok(None),
                None if self.bare => return Ok(None),
                Some(b',') if !self.first => self.reader.text.expect(b',')?,
                Some(_) if self.first => self.first = false,
                _ => return Err(Error::SYNTAX),
            }
            let key = self.reader.text.string()?;
            self.reader.text.expect(b':')?;
            if !self.reader.is_unwanted(key.as_str()) {
                return Ok(Some(key));
            }
            self.reader.text.skip()?;
        }
    }
}

impl<'de> MapAccess<'de> for Members<'_, 'de> {
    type Error = Error;

    fn next_key_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<Option<S::Value>, Error> {
        let Some(key) = self.next_key()? else { return Ok(None) };
        seed.deserialize(MapKey(key)).map(Some)
    }

    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, Error> {
        seed.deserialize(&mut *self.reader)
    }
}

/// The only member of an object that encodes an enum with content.
pub(super) struct Variant<'f, 'de> {
    pub(super) reader: &'f mut JsonReader<'de>,
}

impl<'de> EnumAccess<'de> for Variant<'_, 'de> {
    type Error = Error;
    type Variant = Self;

    fn variant_seed<S: DeserializeSeed<'de>>(self, seed: S) -> Result<(S::Value, Self), Error> {
        let variant = seed.deserialize(MapKey(self.reader.text.string()?))?;
        self.reader.text.expect(b':')?;
        Ok((variant, self))
    }
}

impl<'de> VariantAccess<'de> for Variant<'_, 'de> {
    type Error = Error;

    fn unit_variant(self) -> Result<(), Error> {
        Deserialize::deserialize(self.reader)
    }

    fn newtype_variant_seed<S: DeserializeSeed<'de>>(self, seed: S) -> Result<S::Value, Error> {
        seed.deserialize(self.reader)
    }

    fn tuple_variant<V: Visitor<'de>>(self, _: usize, visitor: V) -> Result<V::Value, Error> {
        self.reader.deserialize_seq(visitor)
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        self.reader.deserialize_map(visitor)
    }
}
