//! The queue of the garbage collector.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::time::Instant;

use crate::registry::ResourceDef;
use crate::store::Object;

/// A step of garbage collection.
#[derive(Debug)]
pub(crate) enum Work {
    /// The object is marked as being deleted.
    Marked(Arc<Object>),
    Removed(Arc<Object>),
    /// The object is new, or has other owners than before.
    Owned(Arc<ResourceDef>, String),
    /// The namespace is terminating.
    Namespace(String),
    /// An object of the terminating namespace was removed.
    Emptied(String),
}

/// Deletions to propagate to dependents.
#[derive(Debug, Default)]
pub(crate) struct Queue(Mutex<State>);

#[derive(Debug, Default)]
pub(crate) struct State {
    pub(crate) waiting: VecDeque<Work>,
    /// The namespaces with a waiting [`Work::Emptied`].
    pub(crate) emptied: BTreeSet<String>,
    /// The times before which terminating namespaces keep their content.
    pub(crate) kept: BTreeMap<String, Instant>,
    pub(crate) busy: bool,
    pub(crate) paused: bool,
}

impl Queue {
    pub(crate) fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
