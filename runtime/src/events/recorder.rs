//! The handles for controllers.

use std::fmt;
use std::sync::{Arc, Mutex};

use k8s_openapi::api::core::v1::ObjectReference;
use k8s_openapi::api::events::v1::Event;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::MicroTime;
use kube::Resource;
use tokio::sync::mpsc;

use crate::recording::shared::{Shared, reference_to};
use crate::recording::{EventType, FakeRecorder, lock};

/// The longest note that servers accept, in bytes.
const MAX_NOTE: usize = 1024;

/// Records the events of one controller. Clones are cheap and record to the same broadcaster.
#[derive(Clone, Debug)]
pub struct EventRecorder(Target);

#[derive(Clone, Debug)]
enum Target {
    Queue(QueueRecorder),
    Fake(Arc<Mutex<Vec<String>>>),
}

impl EventRecorder {
    pub(super) fn to_queue(queue: QueueRecorder) -> Self {
        Self(Target::Queue(queue))
    }

    /// Records that the controller did `action` about `regarding`.
    ///
    /// `reason` says why and `action` what, both as short UpperCamelCase words for programs; servers refuse events
    /// without them. `note` is for people and cut at 1 KiB. Returns at once; the broadcaster counts events that do
    /// not reach the server.
    pub fn event<K>(
        &self,
        regarding: &K,
        event_type: EventType,
        reason: &str,
        action: &str,
        note: impl Into<String>,
    ) where
        K: Resource<DynamicType = ()>,
    {
        self.event_for(&reference_to(regarding), None, event_type, reason, action, note);
    }

    /// As [`event`](Self::event), for an object given by reference, with a related object.
    pub fn event_for(
        &self,
        regarding: &ObjectReference,
        related: Option<&ObjectReference>,
        event_type: EventType,
        reason: &str,
        action: &str,
        note: impl Into<String>,
    ) {
        let note = cut(note.into());
        match &self.0 {
            Target::Queue(queue) => queue.send(regarding, related, event_type, reason, action, note),
            Target::Fake(events) => lock(events).push(format!("{event_type} {reason} {note}")),
        }
    }
}

/// Cuts a note to the length that servers accept.
fn cut(mut note: String) -> String {
    const MARK: &str = "...";
    if note.len() > MAX_NOTE {
        let mut end = MAX_NOTE - MARK.len();
        while !note.is_char_boundary(end) {
            end -= 1;
        }
        note.truncate(end);
        note.push_str(MARK);
    }
    note
}

impl FakeRecorder {
    /// Returns a recorder of `events.k8s.io` for the code under test.
    pub fn events_recorder(&self) -> EventRecorder {
        EventRecorder(Target::Fake(self.events()))
    }
}

/// Puts events into the queue of a broadcaster.
#[derive(Clone)]
pub(super) struct QueueRecorder {
    pub(super) controller: Arc<str>,
    pub(super) instance: Arc<str>,
    pub(super) queue: mpsc::WeakSender<Event>,
    pub(super) shared: Arc<Shared>,
}

impl QueueRecorder {
    fn send(
        &self,
        regarding: &ObjectReference,
        related: Option<&ObjectReference>,
        event_type: EventType,
        reason: &str,
        action: &str,
        note: String,
    ) {
        tracing::debug!(
            controller = &*self.controller,
            kind = regarding.kind,
            namespace = regarding.namespace,
            name = regarding.name,
            %event_type,
            reason,
            action,
            note,
            "event"
        );
        let Some(queue) = self.queue.upgrade() else {
            tracing::debug!(reason, "event recorded after the broadcaster's shutdown: dropped");
            return;
        };
        let (now, metadata) = self.shared.metadata(regarding);
        let event = Event {
            metadata,
            event_time: Some(MicroTime(now)),
            regarding: Some(regarding.clone()),
            related: related.cloned(),
            type_: Some(event_type.as_str().to_owned()),
            reason: Some(reason.to_owned()),
            action: Some(action.to_owned()),
            note: Some(note),
            reporting_controller: Some(self.controller.to_string()),
            reporting_instance: Some(self.instance.to_string()),
            ..Event::default()
        };
        self.shared.put(&queue, reason, event);
    }
}

impl fmt::Debug for QueueRecorder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("QueueRecorder")
            .field("controller", &self.controller)
            .field("instance", &self.instance)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::cut;

    #[test]
    fn notes_are_cut_to_the_servers_limit() {
        assert_eq!(cut("a".repeat(1024)), "a".repeat(1024));
        let long = cut("\u{e4}".repeat(600));
        assert!(long.len() <= 1024 && long.ends_with("\u{e4}..."), "{}", long.len());
    }
}
