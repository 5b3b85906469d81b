//! The whole state at one version, taken quickly and written later.

use std::sync::Arc;

use bytes::Bytes;

use super::objects::Objects;
use super::state::{Event, State, undo};

/// A collection before the events of its history, and these events.
#[derive(Debug)]
pub(super) struct Part {
    pub(super) name: Arc<str>,
    pub(super) floor: u64,
    pub(super) objects: Objects,
    pub(super) events: Vec<Arc<Event>>,
}

/// All durable data. It shares its objects with the state.
#[derive(Debug)]
pub(super) struct Snapshot {
    pub(super) rv: u64,
    pub(super) settings: Vec<(Arc<str>, Bytes)>,
    pub(super) parts: Vec<Part>,
}

impl Snapshot {
    pub(super) fn of(state: &State) -> Self {
        let settings = state.settings.iter().map(|(name, value)| (name.clone(), value.clone())).collect();
        let open = state.collections.values().filter(|collection| !collection.closed);
        let parts = open.map(|collection| {
            let mut objects = (*collection.objects).clone();
            undo(&mut objects, collection.history.iter());
            let events = collection.history.iter().cloned().collect();
            Part { name: collection.name.clone(), floor: collection.floor, objects, events }
        });
        Self { rv: state.rv, settings, parts: parts.collect() }
    }
}
