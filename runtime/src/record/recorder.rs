//! The handles that controllers call.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use k8s_openapi::api::core::v1::{Event, EventSource, ObjectReference};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{ObjectMeta, Time};
use k8s_openapi::jiff::Timestamp;
use kube::Resource;
use tokio::sync::mpsc;

/// Longest name of an object (RFC 1123 subdomain).
const MAX_NAME: usize = 253;

/// Whether an event is good or bad news.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EventType {
    /// Something went as it should.
    Normal,
    /// Something needs attention.
    Warning,
}

impl EventType {
    /// As it is written in an Event.
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

/// Records events for one component. Clones are cheap and record to the same place.
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

    /// Records that something happened to `object`.
    ///
    /// `reason` is a short word in upper camel case that programs can look for, `message` is for people. Returns at
    /// once; whether the event reaches the server shows in the broadcaster's counts.
    pub fn event<K>(&self, object: &K, event_type: EventType, reason: &str, message: impl Into<String>)
    where
        K: Resource<DynamicType = ()>,
    {
        let mut reference = object.object_ref(&());
        reference.resource_version.clone_from(&object.meta().resource_version);
        self.event_for(&reference, event_type, reason, message);
    }

    /// As [`event`](Self::event), for an object known by reference.
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

/// What all recorders of a broadcaster share.
pub(super) struct Shared {
    pub(super) clock: Box<dyn Fn() -> Timestamp + Send + Sync>,
    /// Nanoseconds since 1970 in the latest event's name: no two events of a process share a name.
    pub(super) last_name: Mutex<i128>,
    /// Events that found the queue full.
    pub(super) dropped: AtomicU64,
}

/// Makes events and puts them in a broadcaster's queue.
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
        let event = self.make(object, event_type, reason, message);
        if let Err(mpsc::error::TrySendError::Full(event)) = queue.try_send(event) {
            self.shared.dropped.fetch_add(1, Ordering::Relaxed);
            tracing::warn!(reason = event.reason, "too many events wait to be written: event dropped");
        }
    }

    fn make(&self, object: &ObjectReference, event_type: EventType, reason: &str, message: String) -> Event {
        let now = (self.shared.clock)();
        let nanoseconds = self.unique(now.as_nanosecond());
        // Events about objects without a namespace live where kubectl looks for them.
        let namespace = object.namespace.clone().filter(|namespace| !namespace.is_empty());
        Event {
            metadata: ObjectMeta {
                name: Some(event_name(object.name.as_deref().unwrap_or_default(), nanoseconds)),
                namespace: Some(namespace.unwrap_or_else(|| "default".to_owned())),
                ..ObjectMeta::default()
            },
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

    fn unique(&self, nanoseconds: i128) -> i128 {
        let mut last = self.shared.last_name.lock().unwrap_or_else(PoisonError::into_inner);
        *last = nanoseconds.max(*last + 1);
        *last
    }
}

impl fmt::Debug for QueueRecorder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("QueueRecorder").field("component", &self.component).field("host", &self.host).finish()
    }
}

/// `OBJECT.TIME` as client-go names events, with the object's name cut so that the whole is a valid name.
fn event_name(object: &str, nanoseconds: i128) -> String {
    let suffix = format!("{nanoseconds:x}");
    let mut end = object.len().min(MAX_NAME - 1 - suffix.len());
    while !object.is_char_boundary(end) {
        end -= 1;
    }
    match object[..end].trim_end_matches(|last: char| !last.is_ascii_alphanumeric()) {
        "" => format!("event.{suffix}"),
        name => format!("{name}.{suffix}"),
    }
}

/// Keeps what is recorded, for tests.
#[derive(Clone, Debug, Default)]
pub struct FakeRecorder {
    events: Arc<Mutex<Vec<String>>>,
}

impl FakeRecorder {
    /// A recorder that has recorded nothing.
    pub fn new() -> Self {
        Self::default()
    }

    /// The handle to give to what is tested.
    pub fn recorder(&self) -> EventRecorder {
        EventRecorder(Target::Fake(self.events.clone()))
    }

    /// Takes what was recorded since the last call, each as `TYPE REASON MESSAGE`.
    pub fn take(&self) -> Vec<String> {
        std::mem::take(&mut lock(&self.events))
    }
}

fn lock(events: &Mutex<Vec<String>>) -> MutexGuard<'_, Vec<String>> {
    events.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::event_name;

    #[test]
    fn names_are_valid() {
        assert_eq!(event_name("web", 0x12ab), "web.12ab");
        assert_eq!(event_name("", 1), "event.1");
        let long = event_name(&"a-".repeat(150), 0x1122_3344_5566_7788);
        assert!(long.len() <= 253 && long.ends_with("a.1122334455667788"), "{long}");
        assert_eq!(event_name("\u{e4}", 1), "event.1");
    }
}
