//! Objects and watch frames from bytes.
//!
//! An object is decoded in one pass over its bytes; `metadata.managedFields` is skipped on the way unless it is
//! wanted. What does not decode is looked at once more for its key, so that it can be reported.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use kube::core::Status;
use serde::Deserialize;
use serde::de::{self, DeserializeOwned, DeserializeSeed, Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;

use crate::cache::{ObjectKey, Undecodable};
use crate::json::{self, Fast};

/// What objects are made of bytes by; part of [`Cached`](super::Cached) and not to be implemented elsewhere.
pub trait Decode: Sized {
    /// What is kept from one object to the next.
    type Context: Default + Send;

    /// An object, without its managedFields if it is to be lean.
    ///
    /// # Errors
    /// The deserializer's, for what does not fit.
    #[doc(hidden)]
    fn decode<'de, D: Deserializer<'de>>(
        deserializer: D,
        lean: bool,
        context: &mut Self::Context,
    ) -> Result<Self, D::Error>;
}

impl<K: kube::Resource + DeserializeOwned> Decode for K {
    type Context = ();

    fn decode<'de, D: Deserializer<'de>>(deserializer: D, lean: bool, (): &mut ()) -> Result<K, D::Error> {
        if lean { Lean::deserialize(deserializer).map(|lean| lean.0) } else { K::deserialize(deserializer) }
    }
}

/// Decodes objects one after the other.
pub(crate) struct Decoder<K: Decode> {
    lean: bool,
    context: K::Context,
}

impl<K: Decode> Decoder<K> {
    pub(crate) fn new(lean: bool) -> Self {
        Self { lean, context: K::Context::default() }
    }
}

impl<'de, K: Decode> DeserializeSeed<'de> for &mut Decoder<K> {
    type Value = K;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<K, D::Error> {
        K::decode(deserializer, self.lean, &mut self.context)
    }
}

/// An object without its managedFields.
pub(crate) struct Lean<K>(pub(crate) K);

impl<'de, K: kube::Resource + DeserializeOwned> Deserialize<'de> for Lean<K> {
    /// [`Fast`] passes the fields over; what other deserializers read of them is dropped. A deserializer that skips the fields around
    /// any other would be a type of its own, and everything that the object holds would be compiled once more for it.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct LeanVisitor<K>(PhantomData<K>);
        impl<'de, K: kube::Resource + DeserializeOwned> Visitor<'de> for LeanVisitor<K> {
            type Value = Lean<K>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_newtype_struct<D: Deserializer<'de>>(self, object: D) -> Result<Lean<K>, D::Error> {
                let mut object = K::deserialize(object)?;
                object.meta_mut().managed_fields = None;
                Ok(Lean(object))
            }
        }
        deserializer.deserialize_newtype_struct(json::LEAN, LeanVisitor(PhantomData))
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

/// What happened to an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verb {
    Applied,
    Deleted,
}

/// One line of a watch.
#[derive(Debug)]
pub(crate) enum Frame<K> {
    Object { verb: Verb, object: K },
    Bookmark { version: String, initial_events_end: bool },
    Error(Box<Status>),
    Undecodable { verb: Verb, object: Broken },
}

/// An object that does not decode: what could be read of it.
#[derive(Debug)]
pub(crate) struct Broken {
    pub(crate) key: Option<ObjectKey>,
    pub(crate) why: Undecodable,
}

/// The line is no watch event at all.
#[derive(Debug, thiserror::Error)]
#[error("no watch event: {0}")]
pub(crate) struct MalformedFrame(#[from] serde_json::Error);

/// Decodes one line of a watch.
pub(crate) fn frame<K: Decode>(line: &[u8], decoder: &mut Decoder<K>) -> Result<Frame<K>, MalformedFrame> {
    // Checked once here, a text needs no more checks string by string.
    let Ok(text) = std::str::from_utf8(line) else { return slow_frame(line, decoder, None) };
    let mut fast = Fast::new(text);
    if let Ok(Some(frame)) = fast.deserialize_map(FrameVisitor { decoder: &mut *decoder })
        && fast.is_at_end()
    {
        return Ok(frame);
    }
    let mut deserializer = serde_json::Deserializer::from_str(text);
    match deserializer.deserialize_map(FrameVisitor { decoder: &mut *decoder }) {
        Ok(Some(frame)) if deserializer.end().is_ok() => Ok(frame),
        // Rare: an object that does not decode, or a field order no server uses.
        Ok(_) => slow_frame(line, decoder, None),
        Err(error) => slow_frame(line, decoder, Some(&error)),
    }
}

struct FrameVisitor<'d, K: Decode> {
    decoder: &'d mut Decoder<K>,
}

impl<'de, K: Decode> Visitor<'de> for FrameVisitor<'_, K> {
    /// `None` if the object came before the type.
    type Value = Option<Frame<K>>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a watch event")
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut kind = None;
        let mut frame = None;
        while let Some(Key(key)) = map.next_key::<Key<'de>>()? {
            match (&*key, kind) {
                ("type", _) => kind = Some(map.next_value::<Kind>()?),
                ("object", Some(kind)) => {
                    frame = Some(match kind {
                        Kind::Added | Kind::Modified => self.object(Verb::Applied, &mut map)?,
                        Kind::Deleted => self.object(Verb::Deleted, &mut map)?,
                        Kind::Bookmark => map.next_value::<Bookmark>()?.into(),
                        Kind::Error => Frame::Error(Box::new(map.next_value::<Status>()?)),
                    });
                }
                _ => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(frame)
    }
}

impl<K: Decode> FrameVisitor<'_, K> {
    fn object<'de, A: MapAccess<'de>>(&mut self, verb: Verb, map: &mut A) -> Result<Frame<K>, A::Error> {
        Ok(Frame::Object { verb, object: map.next_value_seed(&mut *self.decoder)? })
    }
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
enum Kind {
    Added,
    Modified,
    Deleted,
    Bookmark,
    Error,
}

#[derive(Deserialize)]
struct Bookmark {
    metadata: BookmarkMeta,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct BookmarkMeta {
    #[serde(default)]
    resource_version: String,
    #[serde(default)]
    annotations: Option<std::collections::BTreeMap<String, String>>,
}

impl<K> From<Bookmark> for Frame<K> {
    fn from(bookmark: Bookmark) -> Self {
        let annotations = bookmark.metadata.annotations.unwrap_or_default();
        let ends = annotations.get("k8s.io/initial-events-end").is_some_and(|value| value == "true");
        Frame::Bookmark { version: bookmark.metadata.resource_version, initial_events_end: ends }
    }
}

/// Any field order, and objects that do not decode.
fn slow_frame<K: Decode>(
    line: &[u8],
    decoder: &mut Decoder<K>,
    first_error: Option<&serde_json::Error>,
) -> Result<Frame<K>, MalformedFrame> {
    #[derive(Deserialize)]
    struct Loose<'a> {
        r#type: Kind,
        #[serde(borrow)]
        object: &'a RawValue,
    }
    let loose: Loose<'_> = serde_json::from_slice(line)?;
    let raw = loose.object.get();
    let verb = match loose.r#type {
        Kind::Added | Kind::Modified => Verb::Applied,
        Kind::Deleted => Verb::Deleted,
        Kind::Bookmark => return Ok(serde_json::from_str::<Bookmark>(raw)?.into()),
        Kind::Error => return Ok(Frame::Error(Box::new(serde_json::from_str(raw)?))),
    };
    Ok(match (first(raw, &mut *decoder).map(|(object, _)| object), first_error) {
        (Ok(object), _) => Frame::Object { verb, object },
        (Err(_), Some(error)) => Frame::Undecodable { verb, object: broken(raw, error) },
        (Err(error), None) => Frame::Undecodable { verb, object: broken(raw, &error) },
    })
}

/// The object at the beginning of `text`, and its length.
pub(crate) fn object<K: Decode>(
    text: &str,
    decoder: &mut Decoder<K>,
) -> Result<(K, usize), serde_json::Error> {
    let mut fast = Fast::new(text);
    if let Ok(object) = (&mut *decoder).deserialize(&mut fast) {
        return Ok((object, fast.position()));
    }
    first(text, decoder)
}

/// The first value of `text` and its length.
pub(crate) fn first<'a, S: DeserializeSeed<'a>>(
    text: &'a str,
    seed: S,
) -> Result<(S::Value, usize), serde_json::Error> {
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let value = seed.deserialize(&mut deserializer)?;
    Ok((value, deserializer.into_iter::<IgnoredAny>().byte_offset()))
}

/// What can be said of an object that does not decode.
pub(crate) fn broken(text: &str, error: &serde_json::Error) -> Broken {
    #[derive(Deserialize)]
    struct Partial {
        metadata: Names,
    }
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Names {
        name: String,
        namespace: Option<String>,
        resource_version: Option<String>,
    }
    let partial = serde_json::from_str::<Partial>(text).ok();
    let key = partial.as_ref().map(|Partial { metadata }| {
        ObjectKey::namespaced(metadata.namespace.as_deref().unwrap_or_default(), &metadata.name)
    });
    let resource_version = partial.and_then(|partial| partial.metadata.resource_version);
    Broken { key, why: Undecodable { message: error.to_string(), resource_version } }
}

#[cfg(test)]
mod tests;
