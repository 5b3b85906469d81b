//! List and watch: keeps a cache equal to the server's state.
//!
//! A state machine decides (`on(now, input) -> Action`), without I/O, clock or randomness of its own. The
//! reflector is the thin shell around it: it sends the requests over `kube::Client` and decodes objects one by one
//! as bytes arrive, in the task that polls it. It does not know handlers.
//!
//! An object that does not decode is reported with its key and recorded as undecodable; other objects are not
//! affected.

mod backoff;
mod decode;
mod error;
mod form;
mod lines;
mod machine;
mod object;
mod options;
mod page;
mod protocol;
mod request;
mod shell;
mod staged;
mod traffic;

use std::sync::Arc;

pub use error::WatchError;
pub(crate) use form::{Form, FormOf};
pub(crate) use machine::goes_back;
pub(crate) use object::{Object, is_same_state, typed};
pub(crate) use options::{ErrorHook, ReflectorOptions, Settings, Transform};
pub(crate) use shell::Reflector;
pub(crate) use staged::Listed;
pub(crate) use traffic::Traffic;

use crate::cache::Undecodable;
use crate::object::ObjectKey;

/// A change that arrived.
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

/// Changes that arrived together.
#[derive(Debug)]
pub(crate) struct Batch {
    pub(crate) events: Vec<Event>,
    /// The version that the cache has reached with these changes.
    pub(crate) resource_version: Option<String>,
    /// Objects were applied or deleted after `resource_version` was set.
    pub(crate) applied: bool,
    /// Whether a request got a response, so that an earlier failure is over.
    pub(crate) opened: bool,
}

impl Batch {
    pub(crate) fn new() -> Self {
        Self { events: Vec::new(), resource_version: None, applied: false, opened: false }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.events.is_empty() && self.resource_version.is_none() && !self.opened
    }
}
