//! State shared by all recorders of a broadcaster.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use k8s_openapi::api::core::v1::ObjectReference;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use k8s_openapi::jiff::Timestamp;
use kube::Resource;
use tokio::sync::mpsc;
use tracing::Span;

use crate::trace::{TRACE_ID_ANNOTATION, trace_id};

/// The longest name of an object (RFC 1123 subdomain).
const MAX_NAME: usize = 253;
/// The limit of waiting events (client-go's `maxQueuedEvents`).
pub(crate) const QUEUE_LENGTH: usize = 1000;

/// The clock, the last name, and the number of dropped events.
pub(crate) struct Shared {
    clock: Box<dyn Fn() -> Timestamp + Send + Sync>,
    /// Nanoseconds since 1970 in the latest event's name, so that no two events of a process share a name.
    last_name: Mutex<i128>,
    /// Events that found the queue full.
    dropped: AtomicU64,
}

impl Shared {
    pub(crate) fn new(clock: Box<dyn Fn() -> Timestamp + Send + Sync>) -> Self {
        Self { clock, last_name: Mutex::new(0), dropped: AtomicU64::new(0) }
    }

    pub(crate) fn now(&self) -> Timestamp {
        (self.clock)()
    }

    pub(crate) fn dropped(&self) -> u64 {
        self.dropped.load(Ordering::Relaxed)
    }

    /// Returns the time, and name, namespace and trace of an event about `object`.
    pub(crate) fn metadata(&self, object: &ObjectReference) -> (Timestamp, ObjectMeta) {
        let now = self.now();
        let nanoseconds = {
            let mut last = self.last_name.lock().unwrap_or_else(PoisonError::into_inner);
            *last = now.as_nanosecond().max(*last + 1);
            *last
        };
        // Events about cluster-scoped objects are in the namespace where kubectl searches for them.
        let namespace = object.namespace.clone().filter(|namespace| !namespace.is_empty());
        let metadata = ObjectMeta {
            name: Some(event_name(object.name.as_deref().unwrap_or_default(), nanoseconds)),
            namespace: Some(namespace.unwrap_or_else(|| "default".to_owned())),
            annotations: trace_id(&Span::current()).map(|id| [(TRACE_ID_ANNOTATION.to_owned(), id)].into()),
            ..ObjectMeta::default()
        };
        (now, metadata)
    }

    /// Puts an event into the queue, or drops it if the queue is full.
    pub(crate) fn put<E>(&self, queue: &mpsc::Sender<E>, reason: &str, event: E) {
        if let Err(mpsc::error::TrySendError::Full(_)) = queue.try_send(event) {
            self.dropped.fetch_add(1, Ordering::Relaxed);
            tracing::warn!(reason, "too many events wait to be written: event dropped");
        }
    }
}

/// Returns a reference to the present state of the object.
pub(crate) fn reference_to<K: Resource<DynamicType = ()>>(object: &K) -> ObjectReference {
    let mut reference = object.object_ref(&());
    reference.resource_version.clone_from(&object.meta().resource_version);
    reference
}

/// Returns `OBJECT.TIME`, as client-go names events. The object's name is cut so that the result is a valid name.
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

#[cfg(test)]
mod tests {
    use super::event_name;

    #[test]
    fn event_names_are_valid() {
        assert_eq!(event_name("web", 0x12ab), "web.12ab");
        assert_eq!(event_name("", 1), "event.1");
        let long = event_name(&"a-".repeat(150), 0x1122_3344_5566_7788);
        assert!(long.len() <= 253 && long.ends_with("a.1122334455667788"), "{long}");
        assert_eq!(event_name("\u{e4}", 1), "event.1");
    }
}
