//! List and watch: keeps a cache equal to the server.
//!
//! The machine decides (`on(now, input) -> Action`): it does no I/O, has no clock and no randomness of its own.
//! The reflector is the thin shell that carries its decisions out over `kube::Client` and decodes objects one
//! by one from the arriving bytes, in the task that polls it. It knows nothing of handlers.
//!
//! An object that does not decode is reported with its key, remembered as undecodable, and the rest goes on.

mod backoff;
mod cached;
pub(crate) mod decode;
mod error;
mod form;
pub(crate) mod kind;
mod lines;
mod machine;
mod object;
mod options;
mod page;
mod protocol;
mod request;
mod shell;
mod spent;
mod staged;

use std::sync::Arc;

pub use cached::Cached;
pub use error::WatchError;
pub(crate) use form::{Form, FormOf};
pub use kind::{DynamicKind, DynamicType};
pub(crate) use kind::{KindFacts, KindOf};
pub(crate) use machine::goes_back;
pub(crate) use object::{Object, is_same_state, typed};
pub use options::ReflectorOptions;
pub(crate) use options::{ErrorHook, Settings, Transform};
pub(crate) use shell::Reflector;
pub(crate) use staged::Listed;

use crate::cache::{ObjectKey, Undecodable};
pub(crate) use spent::Spent;

/// What arrived.
#[derive(Debug)]
pub(crate) enum Event {
    Applied {
        key: ObjectKey,
        object: Arc<dyn Object>,
    },
    /// Without the object, its last state is unknown.
    Deleted {
        key: ObjectKey,
        object: Option<Arc<dyn Object>>,
    },
    Replaced {
        objects: Listed,
        undecodable: Vec<ObjectKey>,
    },
    Undecodable {
        key: Option<ObjectKey>,
        why: Undecodable,
    },
    Failed(WatchError),
}

/// What arrived together.
#[derive(Debug)]
pub(crate) struct Batch {
    pub(crate) events: Vec<Event>,
    /// The version the cache has reached with these events.
    pub(crate) resource_version: Option<String>,
    /// Objects were applied or deleted since `resource_version` was set.
    pub(crate) applied: bool,
    /// A request was answered: what failed before is over.
    pub(crate) opened: bool,
    /// What earlier batches have replaced.
    pub(crate) spent: Spent<dyn Object>,
}

impl Batch {
    pub(crate) fn new() -> Self {
        Self {
            events: Vec::new(),
            resource_version: None,
            applied: false,
            opened: false,
            spent: Spent::new(),
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.events.is_empty() && self.resource_version.is_none() && !self.opened
    }
}
