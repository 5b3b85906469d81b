//! The kinds and keys of objects, and the forms in which caches hold them. Clients, caches and reflectors use them.

mod cached;
mod decode;
mod key;
mod kind;

pub use cached::Cached;
pub(crate) use decode::{Decode, Key};
pub use key::{ObjectKey, ParseKeyError};
pub use kind::{DynamicKind, DynamicType};
pub(crate) use kind::{KindFacts, KindOf, resource_name};
