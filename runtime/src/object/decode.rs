//! Decoding of one object.

use std::borrow::Cow;
use std::fmt;

use serde::Deserialize;
use serde::de::{self, DeserializeOwned, Deserializer, Visitor};

use crate::json::{self, JsonReader};

/// Decodes an object; part of the sealed trait [`Cached`](super::Cached).
pub trait Decode: Sized {
    /// State kept between objects.
    type Context: Default + Send;

    /// Decodes an object; `lean` skips its managedFields.
    ///
    /// # Errors
    /// If the object does not fit its type.
    #[doc(hidden)]
    fn decode(
        json: &mut JsonReader<'_>,
        lean: bool,
        context: &mut Self::Context,
    ) -> Result<Self, json::Error>;
}

impl<K: kube::Resource + DeserializeOwned> Decode for K {
    type Context = ();

    fn decode(json: &mut JsonReader<'_>, lean: bool, (): &mut ()) -> Result<K, json::Error> {
        if lean { json.without_managed_fields(|json| K::deserialize(json)) } else { K::deserialize(json) }
    }
}

/// A string, borrowed from the input unless it has escapes.
pub(crate) struct Key<'de>(pub(crate) Cow<'de, str>);

impl<'de> Deserialize<'de> for Key<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct KeyVisitor;
        impl<'de> Visitor<'de> for KeyVisitor {
            type Value = Key<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string")
            }
            fn visit_borrowed_str<E: de::Error>(self, key: &'de str) -> Result<Key<'de>, E> {
                Ok(Key(Cow::Borrowed(key)))
            }
            fn visit_str<E: de::Error>(self, key: &str) -> Result<Key<'de>, E> {
                Ok(Key(Cow::Owned(key.to_owned())))
            }
        }
        deserializer.deserialize_str(KeyVisitor)
    }
}
