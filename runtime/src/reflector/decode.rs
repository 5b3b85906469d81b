//! Decodes objects and watch events.
//!
//! An object is decoded in one pass over its bytes, which skips `metadata.managedFields` unless they are asked
//! for. If it does not decode, a second pass reads its key, so that it can be reported.

use kube::core::Status;
use serde::Deserialize;
use serde::de::{DeserializeSeed, IgnoredAny};
use serde_json::value::RawValue;

use super::form::Form;
use super::object::Decoded;
use crate::cache::Undecodable;
use crate::json::{self, JsonReader};
use crate::object::ObjectKey;

/// The change of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verb {
    Applied,
    Deleted,
}

/// A line of a watch.
#[derive(Debug)]
pub(crate) enum Frame {
    Object { verb: Verb, object: Decoded },
    Bookmark { version: String, initial_events_end: bool },
    Error(Box<Status>),
    Undecodable { verb: Verb, object: Broken },
}

/// The readable parts of an object that does not decode.
#[derive(Debug)]
pub(crate) struct Broken {
    pub(crate) key: Option<ObjectKey>,
    pub(crate) uid: Option<String>,
    pub(crate) why: Undecodable,
}

/// The line is not a watch event.
#[derive(Debug, thiserror::Error)]
#[error("not a watch event: {0}")]
pub(crate) struct MalformedFrame(#[from] serde_json::Error);

/// Decodes one line of a watch.
pub(crate) fn frame(line: &[u8], form: &mut dyn Form) -> Result<Frame, MalformedFrame> {
    // The text is checked once here, so strings need no further checks.
    let Ok(text) = std::str::from_utf8(line) else { return slow_frame(line, form, None) };
    let mut json = JsonReader::new(text);
    match ordered_frame(&mut json, form) {
        Ok(Some(frame)) if json.is_at_end() => Ok(frame),
        // Rare: a field order that no server uses, or an object that does not decode.
        Ok(_) => slow_frame(line, form, None),
        Err(error) => slow_frame(line, form, Some(&json.explain(&error))),
    }
}

/// Decodes an event whose type comes before its object, as servers write it; `None` for other orders.
fn ordered_frame(json: &mut JsonReader<'_>, form: &mut dyn Form) -> Result<Option<Frame>, json::Error> {
    let (mut kind, mut frame) = (None, None);
    json.members(&mut |json, name| {
        match (name, kind) {
            ("type", _) => kind = Some(Kind::deserialize(json)?),
            ("object", Some(kind)) => {
                frame = Some(match kind {
                    Kind::Added | Kind::Modified => {
                        Frame::Object { verb: Verb::Applied, object: form.decode(json)? }
                    }
                    Kind::Deleted => Frame::Object { verb: Verb::Deleted, object: form.decode(json)? },
                    Kind::Bookmark => Bookmark::deserialize(json)?.into(),
                    Kind::Error => Frame::Error(Box::new(Status::deserialize(json)?)),
                });
            }
            _ => json.skip()?,
        }
        Ok(())
    })?;
    Ok(frame)
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

impl From<Bookmark> for Frame {
    fn from(bookmark: Bookmark) -> Self {
        let annotations = bookmark.metadata.annotations.unwrap_or_default();
        let ends = annotations.get("k8s.io/initial-events-end").is_some_and(|value| value == "true");
        Frame::Bookmark { version: bookmark.metadata.resource_version, initial_events_end: ends }
    }
}

/// Decodes an event with any field order, or with an object that does not decode.
fn slow_frame(
    line: &[u8],
    form: &mut dyn Form,
    first_error: Option<&serde_json::Error>,
) -> Result<Frame, MalformedFrame> {
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
    let mut json = JsonReader::new(raw);
    Ok(match (form.decode(&mut json), first_error) {
        (Ok(object), _) => Frame::Object { verb, object },
        (Err(_), Some(error)) => Frame::Undecodable { verb, object: broken(raw, error) },
        (Err(error), None) => Frame::Undecodable { verb, object: broken(raw, &json.explain(&error)) },
    })
}

/// Returns the first value of `text` and its length.
pub(crate) fn first<'a, S: DeserializeSeed<'a>>(
    text: &'a str,
    seed: S,
) -> Result<(S::Value, usize), serde_json::Error> {
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let value = seed.deserialize(&mut deserializer)?;
    Ok((value, deserializer.into_iter::<IgnoredAny>().byte_offset()))
}

/// Reads the key, UID and version of an object that does not decode.
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
        uid: Option<String>,
        resource_version: Option<String>,
    }
    let partial = serde_json::from_str::<Partial>(text).ok();
    let key = partial.as_ref().map(|Partial { metadata }| {
        ObjectKey::namespaced(metadata.namespace.as_deref().unwrap_or_default(), &metadata.name)
    });
    let (uid, resource_version) =
        partial.map(|Partial { metadata }| (metadata.uid, metadata.resource_version)).unwrap_or_default();
    Broken { key, uid, why: Undecodable { message: error.to_string(), resource_version } }
}

#[cfg(test)]
mod tests;
