//! The common part of both APIs of events, [`record`](crate::record) and [`events`](crate::events).

pub(crate) mod retry;
pub(crate) mod shared;
pub(crate) mod writing;

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The type of an event.
///
/// ```
/// use kubesmith_runtime::record::EventType;
///
/// assert_eq!(EventType::Warning.as_str(), "Warning");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EventType {
    /// A normal operation.
    Normal,
    /// A problem that needs attention.
    Warning,
}

impl EventType {
    /// Returns the type as it is written in an Event.
    pub fn as_str(self) -> &'static str {
        match self {
            EventType::Normal => "Normal",
            EventType::Warning => "Warning",
        }
    }
}

impl fmt::Display for EventType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Keeps events for tests.
///
/// ```
/// use k8s_openapi::api::core::v1::Pod;
/// use kubesmith_runtime::record::{EventType, FakeRecorder};
///
/// let fake = FakeRecorder::new();
/// fake.recorder().event(&Pod::default(), EventType::Warning, "Failed", "no node");
/// fake.events_recorder().event(&Pod::default(), EventType::Normal, "Started", "Start", "on node-1");
/// assert_eq!(fake.take(), ["Warning Failed no node", "Normal Started on node-1"]);
/// ```
#[derive(Clone, Debug, Default)]
pub struct FakeRecorder {
    events: Arc<Mutex<Vec<String>>>,
}

impl FakeRecorder {
    /// Makes a recorder without events.
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns the kept events, for a recorder that adds to them.
    pub(crate) fn events(&self) -> Arc<Mutex<Vec<String>>> {
        self.events.clone()
    }

    /// Takes the events recorded since the last call, each as `TYPE REASON MESSAGE`.
    pub fn take(&self) -> Vec<String> {
        std::mem::take(&mut lock(&self.events))
    }
}

pub(crate) fn lock(events: &Mutex<Vec<String>>) -> MutexGuard<'_, Vec<String>> {
    events.lock().unwrap_or_else(PoisonError::into_inner)
}
