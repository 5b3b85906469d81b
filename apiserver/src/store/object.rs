//! A stored object: its value, its JSON, or both.

use std::fmt;
use std::ops::Deref;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use bytes::Bytes;
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value;

use crate::meta;

/// Makes the value of an object, without its version.
pub(crate) type Make = Box<dyn Fn() -> Value + Send + Sync>;

/// The number of packed objects whose value was read.
pub(super) type Unpacked = Arc<AtomicUsize>;

/// An object's value, which may be made when it is first read.
pub(crate) struct Content {
    value: OnceLock<Value>,
    source: Source,
}

/// The source of a value.
enum Source {
    Given,
    /// Makes an object which every server starts with, and its version. Most of these objects are never read.
    Initial(Make, u64),
    Packed(Packed),
}

/// The remains of an object's value.
struct Packed {
    line: Bytes,
    owners: Value,
    is_terminating: bool,
    unpacked: Unpacked,
}

impl Content {
    /// Whether nobody has read the value so far.
    fn is_unread(&self) -> bool {
        self.value.get().is_none()
    }

    fn make(&self) -> Value {
        match &self.source {
            Source::Given => Value::Null,
            Source::Initial(make, rv) => with_version(make(), *rv),
            Source::Packed(Packed { line, unpacked, .. }) => {
                unpacked.fetch_add(1, Ordering::Relaxed);
                // The server wrote the line.
                serde_json::from_slice(line).unwrap_or_default()
            }
        }
    }
}

impl Deref for Content {
    type Target = Value;

    fn deref(&self) -> &Value {
        self.value.get_or_init(|| self.make())
    }
}

impl From<Value> for Content {
    fn from(value: Value) -> Self {
        Self { value: OnceLock::from(value), source: Source::Given }
    }
}

impl fmt::Debug for Content {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&**self, f)
    }
}

fn with_version(mut value: Value, rv: u64) -> Value {
    value["metadata"]["resourceVersion"] = Value::String(rv.to_string());
    value
}

/// A stored object: its value and, after the first use, its JSON with a newline.
///
/// A packed object has its JSON alone until its value is read.
#[derive(Debug)]
pub(crate) struct Object {
    pub(crate) value: Content,
    pub(crate) rv: u64,
    line: OnceLock<Bytes>,
    /// A reader's mark, whose meaning never changes; 0 is none.
    mark: AtomicU64,
    /// The same object, packed: all that have this object get the same one.
    packed: OnceLock<Arc<Object>>,
}

impl Object {
    pub(crate) fn new(value: Value, rv: u64) -> Self {
        Self::with(with_version(value, rv).into(), rv)
    }

    /// An object whose value is made when it is read. It has no owners.
    pub(super) fn unread(make: Make, rv: u64) -> Self {
        Self::with(Content { value: OnceLock::new(), source: Source::Initial(make, rv) }, rv)
    }

    /// Creates an object that was not stored: its version is the one that the client gave, if any.
    pub(crate) fn unstored(value: Value) -> Self {
        Self::with(value.into(), 0)
    }

    /// Creates an object from its JSON, which has its version already.
    ///
    /// # Errors
    /// Returns an error if it is no JSON of an object.
    pub(super) fn restored(json: &[u8], rv: u64, unpacked: &Unpacked) -> Result<Self, serde_json::Error> {
        let Owned { metadata } = serde_json::from_slice(json)?;
        Ok(Self::of_packed(
            Packed {
                line: Bytes::from([json, b"\n"].concat()),
                owners: metadata.owner_references,
                is_terminating: metadata.deletion_timestamp.is_some(),
                unpacked: unpacked.clone(),
            },
            rv,
        ))
    }

    fn of_packed(packed: Packed, rv: u64) -> Self {
        let line = OnceLock::from(packed.line.clone());
        let content = Content { value: OnceLock::new(), source: Source::Packed(packed) };
        Self { line, ..Self::with(content, rv) }
    }

    fn with(value: Content, rv: u64) -> Self {
        Self { value, rv, line: OnceLock::new(), mark: AtomicU64::new(0), packed: OnceLock::new() }
    }

    /// Returns the object without its value, which takes several times the memory of its JSON.
    pub(super) fn packed(self: &Arc<Self>, unpacked: &Unpacked) -> Arc<Self> {
        if self.value.is_unread() {
            return self.clone();
        }
        let pack = || {
            let packed = Packed {
                line: self.line(),
                owners: self.owners().clone(),
                is_terminating: self.is_terminating(),
                unpacked: unpacked.clone(),
            };
            let packed = Self::of_packed(packed, self.rv);
            packed.set_mark(self.mark());
            Arc::new(packed)
        };
        self.packed.get_or_init(pack).clone()
    }

    /// Whether the object keeps its value.
    #[cfg(test)]
    pub(super) fn has_value(&self) -> bool {
        !self.value.is_unread()
    }

    /// Whether the object is being deleted.
    pub(crate) fn is_terminating(&self) -> bool {
        match &self.value.source {
            Source::Packed(packed) => packed.is_terminating,
            _ => meta::is_terminating(&self.value),
        }
    }

    /// The owner references.
    pub(crate) fn owners(&self) -> &Value {
        match &self.value.source {
            Source::Packed(packed) => &packed.owners,
            Source::Initial(..) if self.value.is_unread() => &Value::Null,
            _ => &self.value["metadata"]["ownerReferences"],
        }
    }

    /// Returns the object as a line of JSON, rendered once.
    pub(crate) fn line(&self) -> Bytes {
        self.line.get_or_init(|| self.render()).clone()
    }

    /// Returns the object as JSON, rendered once.
    pub(crate) fn json(&self) -> Bytes {
        without_newline(&self.line())
    }

    /// Returns the last mark, which spares readers from repeating work.
    pub(crate) fn mark(&self) -> u64 {
        self.mark.load(Ordering::Relaxed)
    }

    /// Sets a mark for later readers.
    pub(crate) fn set_mark(&self, mark: u64) {
        self.mark.store(mark, Ordering::Relaxed);
    }

    /// Returns the object as JSON, without caching it.
    pub(super) fn peek_json(&self) -> Bytes {
        without_newline(&self.line.get().cloned().unwrap_or_else(|| self.render()))
    }

    fn render(&self) -> Bytes {
        crate::encode::line(&self.value).into()
    }
}

fn without_newline(line: &Bytes) -> Bytes {
    line.slice(..line.len().saturating_sub(1))
}

/// The part of an object that the store reads.
#[derive(Deserialize)]
struct Owned {
    metadata: OwnedMetadata,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct OwnedMetadata {
    #[serde(default)]
    owner_references: Value,
    deletion_timestamp: Option<IgnoredAny>,
}
