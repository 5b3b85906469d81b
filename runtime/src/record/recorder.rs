//! The handles for controllers.

use std::fmt;
use std::sync::{Arc, Mutex};

use k8s_openapi::api::core::v1::{Event, EventSource, ObjectReference};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use kube::Resource;
use tokio::sync::mpsc;

use crate::recording::shared::{Shared, reference_to};
use crate::recording::{EventType, FakeRecorder, lock};

/// Records the events of one component. Clones are cheap and record to the same broadcaster.
#[derive(Clone, Debug)]
pub struct EventRecorder(Target);

#[derive(Clone, Debug)]
enum Target {
    Queue(QueueRecorder),
    Fake(Arc<Mutex<Vec<String>>>),
}

impl EventRecorder {
    pub(super) fn to_queue(queue: QueueRecorder) -> Self {
        EventRecorder(Target::Queue(queue))
    }

    /// Records an event about `object`.
    ///
    /// `reason` is a short UpperCamelCase word for programs, `message` is for people. Returns at once; the
    /// broadcaster counts events that do not reach the server.
    pub fn event<K>(&self, object: &K, event_type: EventType, reason: &str, message: impl Into<String>)
    where
        K: Resource<DynamicType = ()>,
    {
        self.event_for(&reference_to(object), event_type, reason, message);
    }

    /// As [`event`](Self::event), for an object given by reference.
    pub fn event_for(
        &self,
        object: &ObjectReference,
        event_type: EventType,
        reason: &str,
        message: impl Into<String>,
    ) {
        let message = message.into();
        match &self.0 {
            Target::Queue(queue) => queue.send(object, event_type, reason, message),
            Target::Fake(events) => lock(events).push(format!("{event_type} {reason} {message}")),
        }
    }
}

/// Puts events into the queue of a broadcaster.
#[derive(Clone)]
pub(super) struct QueueRecorder {
    pub(super) component: Arc<str>,
    pub(super) host: Option<Arc<str>>,
    pub(super) queue: mpsc::WeakSender<Event>,
    pub(super) shared: Arc<Shared>,
}

impl QueueRecorder {
    fn send(&self, object: &ObjectReference, event_type: EventType, reason: &str, message: String) {
        tracing::debug!(
            component = &*self.component,
            kind = object.kind,
            namespace = object.namespace,
            name = object.name,
            %event_type,
            reason,
            message,
            "event"
        );
        let Some(queue) = self.queue.upgrade() else {
            tracing::debug!(reason, "event recorded after the broadcaster's shutdown: dropped");
            return;
        };
        self.shared.put(&queue, reason, self.make(object, event_type, reason, message));
    }

    fn make(&self, object: &ObjectReference, event_type: EventType, reason: &str, message: String) -> Event {
        let (now, metadata) = self.shared.metadata(object);
        Event {
            metadata,
            involved_object: object.clone(),
            type_: Some(event_type.as_str().to_owned()),
            reason: Some(reason.to_owned()),
            message: Some(message),
            count: Some(1),
            first_timestamp: Some(Time(now)),
            last_timestamp: Some(Time(now)),
            source: Some(EventSource {
                component: Some(self.component.to_string()),
                host: self.host.as_deref().map(str::to_owned),
            }),
            reporting_component: Some(self.component.to_string()),
            reporting_instance: self.host.as_deref().map(str::to_owned),
            ..Event::default()
        }
    }
}

impl fmt::Debug for QueueRecorder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("QueueRecorder").field("component", &self.component).field("host", &self.host).finish()
    }
}

impl FakeRecorder {
    /// Returns a recorder for the code under test.
    pub fn recorder(&self) -> EventRecorder {
        EventRecorder(Target::Fake(self.events()))
    }
}
